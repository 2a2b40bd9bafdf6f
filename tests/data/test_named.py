import hashlib
import http.server
import shutil
import threading
import zipfile
from functools import partial

import numpy as np
import pytest

from bitreplay.data.fetch import ARCHIVES, Archive, fetch
from bitreplay.data.named import load_dataset
from bitreplay.data.npz import ARRAYS, npz
from tests.data.test_cifar import pack, write_cifar10, write_cifar100
from tests.data.test_core50 import png

IMAGES = np.arange(3 * 4 * 4 * 3, dtype=np.uint8).reshape(3, 4, 4, 3)


def write(path, **changes):
    arrays: dict = {
        "train_images": IMAGES,
        "train_labels": list("bab"),
        "test_images": IMAGES[:1],
        "test_labels": ["a"],
    }
    np.savez(path, **(arrays | changes))
    return path


def test_npz_names_its_classes_in_sorted_order(tmp_path):
    data = npz(write(tmp_path / "x.npz"))
    assert (
        data.class_names == ("a", "b") and data.train_labels.tolist() == [1, 0, 1] and data.test_labels.tolist() == [0]
    )
    assert np.array_equal(data.train_images, IMAGES)
    numbers = npz(write(tmp_path / "y.npz", train_labels=[30, 4, 30], test_labels=[4]))
    assert numbers.class_names == ("4", "30") and numbers.train_labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"train_images": IMAGES.astype(float)}, "train_images must be uint8"),
        ({"train_images": IMAGES[..., :1]}, "train_images must be uint8"),
        ({"train_labels": ["a"]}, "train_labels must be 3"),
        ({"test_labels": [0.5]}, "test_labels must be 1"),
        ({"test_labels": [0]}, "must be integers in both parts or text in both"),
        (
            {"test_labels": np.array([None], object)},
            "cannot be read as .npz: in test_labels, it holds Python objects",
        ),
    ],
)
def test_npz_refuses_what_does_not_fit(tmp_path, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        npz(write(tmp_path / "x.npz", **changes))


def test_npz_refuses_other_files(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(ValueError, match="cannot be read as .npz"):
        npz(tmp_path / "x.npz")
    with open(tmp_path / "array.npz", "wb") as file:
        np.save(file, IMAGES)
    with pytest.raises(ValueError, match=r"array.npz cannot be read as .npz: it is a single array, a .npy file"):
        npz(tmp_path / "array.npz")
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        for name in ARRAYS:
            archive.writestr(name, b"text")
    with pytest.raises(ValueError, match="in train_images, its header is not one of a .npy file"):
        npz(tmp_path / "z.npz")
    with pytest.raises(ValueError, match="A .npz file must be a path, got None"):
        npz(None)  # type: ignore[arg-type]
    np.savez(tmp_path / "y.npz", train_images=IMAGES)
    with pytest.raises(ValueError, match="has no train_labels, test_images, test_labels"):
        npz(tmp_path / "y.npz")


def test_sources_by_name(tmp_path):
    source = load_dataset("groceries")
    assert source.nc_sizes == (2,) * 7 and len(source.data.train_images) == 732
    assert load_dataset(str(write(tmp_path / "x.npz"))).nc_sizes == (2,)
    with pytest.raises(ValueError, match="There is no data set 'imagenet': expected groceries, cifar10"):
        load_dataset("imagenet")


@pytest.mark.parametrize("name", [None, 3, b"groceries", ["groceries"]])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match="There is no data set .*: expected groceries, cifar10"):
        load_dataset(name)


def test_a_folder_of_sets_does_not_hide_the_groceries(tmp_path):
    assert len(load_dataset("groceries", tmp_path).data.train_images) == 732
    with pytest.raises(FileNotFoundError, match="none.zip does not exist"):
        load_dataset("groceries", tmp_path / "none.zip")
    with pytest.raises(ValueError, match="The location of groceries must be a path, got 3"):
        load_dataset("groceries", 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("write_set", [write_cifar10, write_cifar100])
def test_an_archive_as_fetch_leaves_it_is_found_in_its_folder(tmp_path, write_set):
    name = write_set.__name__.removeprefix("write_")
    images = np.random.default_rng(0).integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    write_set(tmp_path / "set", images)
    pack(tmp_path / "set").rename(tmp_path / ARCHIVES[name].name)
    shutil.rmtree(tmp_path / "set")
    np.testing.assert_array_equal(load_dataset(name, tmp_path).data.train_images[0], images[0])


def test_the_zips_as_fetch_leaves_them_are_found_in_their_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / ARCHIVES["core50"].name, "w") as archive:
        for session in (1, 3):
            archive.writestr(f"core50_128x128/s{session}/o1/C_{session:02d}_01_000.png", png(session, 8))
    assert load_dataset("core50", tmp_path, 8).data.train_images[0, 0, 0, 0] == 1
    with zipfile.ZipFile(tmp_path / ARCHIVES["tiny-imagenet"].name, "w") as archive:
        archive.writestr("t/wnids.txt", "n1")
        archive.writestr("t/val/val_annotations.txt", "v.JPEG\tn1")
        for name in ("train/n1/images/a.JPEG", "val/images/v.JPEG"):
            archive.writestr(f"t/{name}", png(7, 64))
    assert load_dataset("tiny-imagenet", tmp_path).data.train_images[0, 0, 0, 0] == 7


@pytest.mark.parametrize("name", list(ARCHIVES))
def test_an_empty_folder_says_how_to_fetch_the_set(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f": get it from .* or with `bitreplay data fetch {name}`"):
        load_dataset(name, tmp_path)


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves ranges, and breaks off after `most` bytes."""

    most = 1 << 30

    def do_GET(self):
        content = (self.directory and open(f"{self.directory}{self.path}", "rb").read()) or b""
        first = int(self.headers.get("Range", "bytes=0-")[6:-1])
        if first >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        self.wfile.write(content[first : first + Server.most])

    def log_message(self, *_):
        pass


@pytest.fixture
def served(tmp_path):
    place = tmp_path / "server"
    place.mkdir()
    content = np.random.default_rng(0).bytes(3_000_000)
    (place / "set.tar.gz").write_bytes(content)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Archive(f"http://127.0.0.1:{server.server_port}/set.tar.gz", hashlib.md5(content).hexdigest()), content
    server.shutdown()
    Server.most = 1 << 30


def test_a_broken_download_goes_on_where_it_stopped(served, tmp_path):
    archive, content = served
    Server.most = 1_200_000
    with pytest.raises(OSError, match="could not be downloaded.*the next try resumes there"):
        fetch(archive, tmp_path / "in")
    assert (tmp_path / "in" / "set.tar.gz.part").stat().st_size >= 1 << 20
    Server.most = 1 << 30
    seen: list[tuple[int, int]] = []
    path = fetch(archive, tmp_path / "in", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == content and seen[0][0] > 1 << 20 and seen[-1] == (3_000_000, 3_000_000)
    assert [p.name for p in (tmp_path / "in").iterdir()] == ["set.tar.gz"]
    assert fetch(archive, tmp_path / "in") == path


def test_a_whole_part_only_needs_its_name(served, tmp_path):
    archive, content = served
    (tmp_path / "set.tar.gz.part").write_bytes(content)
    assert fetch(archive, tmp_path).read_bytes() == content


def test_a_wrong_checksum_is_refused_and_nothing_takes_the_name(served, tmp_path):
    archive, _ = served
    with pytest.raises(ValueError, match="the official file 00; it was kept as"):
        fetch(Archive(archive.url, "00"), tmp_path / "in")
    assert [p.name for p in (tmp_path / "in").iterdir()] == ["set.tar.gz.bad"]


def test_a_server_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OSError, match="http://127.0.0.1:9/x.zip could not be downloaded"):
        fetch(Archive("http://127.0.0.1:9/x.zip", "00"), tmp_path)
