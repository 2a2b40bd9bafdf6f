"""Archives that stand for more than they should, and things in folders that are no files: refused, and at once."""

import bz2
import gzip
import io
import os
import struct
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay.data import archives
from bitreplay.data.archives import files
from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.data.cifar_python import parse_batch, parse_pickle
from bitreplay.data.core50 import core50
from bitreplay.data.npz import ARRAYS, npz
from bitreplay.data.tiny_imagenet import tiny_imagenet
from tests.data.pictures.peak import peaks_above_base

GIGABYTES = 20 << 30
LIMIT = 8 << 20  # in place of MAX_BYTES, so that small bombs do
READING = f"""
from pathlib import Path
from bitreplay.data import archives as container
container.MAX_BYTES = {LIMIT}
def work(path, words):
    try:
        list(container.files(Path(path), ".bin"))
    except ValueError as error:
        assert words in str(error), error
    else:
        assert False, path
"""


def zipped(path: Path, *names: str, megabytes: int, way: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", way) as archive:
        for name in names:
            with archive.open(name, "w", force_zip64=True) as file:
                for _ in range(megabytes):
                    file.write(b"\0" * (1 << 20))
    return path


def claiming(path: Path, size: int) -> Path:
    """A zip whose one file says in both places that it has so many bytes."""
    content = bytearray(zipped(path, "a.bin", megabytes=1).read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", size)
    path.write_bytes(content)
    return path


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


def packed(path: Path, *parts: bytes | int) -> Path:
    """A .tar.gz of blocks: bytes as they are, a number for so many megabytes of zeros."""
    zeros = gzip.compress(bytes(1 << 20))
    path.write_bytes(b"".join(zeros * part if isinstance(part, int) else gzip.compress(part) for part in parts))
    return path


def sparse(path: Path) -> Path:
    """20 GB of nothing in a few hundred bytes."""
    member = bytearray(header("a.bin", 0, b"S"))
    member[386:398], member[398:410] = b"%011o\0" % (GIGABYTES & 0o77777777777), b"%011o\0" % 0
    member[483:495] = b"%011o\0" % 0o77777777777
    member[148:156] = b"%06o\0 " % (sum(member[:148]) + sum(member[156:512]) + 8 * 32)
    return packed(path, bytes(member), b"\0" * 1024)


MAKERS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "zip": (lambda path: zipped(path, "a.bin", megabytes=9), "has a.bin of 9437184 bytes; at most 8388608 are read"),
    "zip of many": (lambda path: zipped(path, *(f"{k}.bin" for k in range(40)), megabytes=1), "unpacks to more than"),
    "zip that claims": (lambda path: claiming(path, (1 << 32) - 2), "has a.bin of 4294967294 bytes"),
    "zip by bzip2": (lambda path: zipped(path, "a.bin", megabytes=8, way=zipfile.ZIP_BZIP2), "not read; expected"),
    "zip by lzma": (lambda path: zipped(path, "a.bin", megabytes=8, way=zipfile.ZIP_LZMA), "not read; expected"),
    "tar.gz": (lambda path: packed(path, header("a.bin", 40 << 20), 40), "has a.bin of 41943040 bytes"),
    "passed over": (lambda path: packed(path, header("a.txt", 40 << 20), 40, header("a.bin", 1)), "unpacks to more"),
    "long name": (lambda path: packed(path, header("x", 40 << 20, b"L"), 40), "has a header of"),
    "pax": (lambda path: packed(path, header("x", 40 << 20, b"x"), 40), "has a header of"),
    "many": (lambda path: packed(path, header("a.txt", 0) * 30_000), "unpacks to more than"),
    "sparse": (sparse, "has a.bin as a sparse file, which is not read"),
}  # fmt: skip


def test_a_bomb_takes_little_memory(tmp_path):
    paths = {name: make(tmp_path / name) for name, (make, _) in MAKERS.items()}
    assert max(path.stat().st_size for path in paths.values()) < 200_000
    result = peaks_above_base(READING, [(path, MAKERS[name][1]) for name, path in paths.items()])
    assert {name: size for name, size in zip(MAKERS, result, strict=True) if size > 4 * LIMIT} == {}


def test_what_an_archive_may_unpack_to_follows_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_BYTES", LIMIT)
    path = zipped(tmp_path / "set.zip", *"abcdefgh", megabytes=1)
    assert [len(content) for _, content in files(path, *"abcdefgh")] == [1 << 20] * 8
    path = zipped(tmp_path / "set.zip", *"abcdefghi", megabytes=1)
    most = LIMIT + 100 * path.stat().st_size
    assert most < 9 << 20
    with pytest.raises(ValueError, match=f"set.zip unpacks to more than {most} bytes, over 100 times its size"):
        list(files(path, *"abcdefghi"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("x", bytes(20_000))
    assert len(list(files(path, *"abcdefghi"))) == 9


@pytest.mark.parametrize("way", [gzip, bz2])
def test_whole_archives_are_read_as_before(tmp_path, way):
    stream = io.BytesIO()
    parts = {f"in/{k}.bin": np.random.default_rng(k).bytes(k * 70_000) for k in range(5)}
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
            archive.addfile(tarfile.TarInfo(name + ".txt"))
    (tmp_path / "set").write_bytes(way.compress(stream.getvalue()))
    assert dict(files(tmp_path / "set", ".bin")) == parts
    (tmp_path / "plain").write_bytes(stream.getvalue())
    assert dict(files(tmp_path / "plain", ".bin")) == parts


NO_FILES: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "nothing": lambda path: path.symlink_to("nowhere"),
}
SETS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "cifar10": ("data_batch_1.bin", cifar10),
    "cifar100": ("train.bin", cifar100),
    "core50": ("C_01_01_000.png", core50),
    "tiny-imagenet": ("wnids.txt", tiny_imagenet),
    "arrays": ("train_images.npy", tiny_imagenet),
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", SETS)
def test_what_is_no_file_in_a_folder_holds_nothing_up(tmp_path, kind, name):
    inside, load = SETS[name]
    NO_FILES[kind](tmp_path / inside)
    assert_refused(lambda: load(tmp_path))


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("load", [npz, cifar10, lambda path: list(files(path, ""))])
def test_what_is_no_file_in_place_of_an_archive_holds_nothing_up(tmp_path, kind, load):
    NO_FILES[kind](tmp_path / "set.npz")
    assert_refused(lambda: load(tmp_path / "set.npz"))


def assert_refused(work: Callable[[], object]) -> None:
    """In a thread, so that one that waits for ever fails and does not hold the tests up."""
    messages: list[str] = []

    def run() -> None:
        try:
            work()
        except (ValueError, FileNotFoundError) as error:
            messages.append(str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert messages and "\n" not in messages[0] and messages[0].endswith(".")


def pickled(*parts: bytes) -> bytes:
    return b"\x80\x02" + b"".join(parts) + b"."


TEXT = b"X" + struct.pack("<I", 500_000) + b"a" * 500_000 + b"q\x01"
ENCODE = b"c_codecs\nencode\nq\x02U\x06latin1q\x03"
LISTED = b"](" + b"K\x01" * 200_000 + b"eq\x01cnumpy\nndarray\nq\x02"
PICKLES = {
    "marks": pickled(b"(t" * 120_000),
    "calls": pickled(LISTED, b"h\x02h\x01R" * 80_000),
    "text": pickled(TEXT, ENCODE, b"h\x02h\x01h\x03\x86R" * 60_000),
    "depth": pickled(b"})", b"\x85" * 900_000, b"K\x01s"),
    "length": pickled(b"}" * 2_000_000),
}


UNPICKLING = """
from bitreplay.data.cifar_python import parse_pickle
def work(path):
    try:
        parse_pickle(open(path, "rb").read(), "a")
    except ValueError as error:
        assert str(error).startswith("a is not")
"""


def test_a_pickle_of_a_megabyte_takes_little_memory(tmp_path):
    for name, content in PICKLES.items():
        (tmp_path / name).write_bytes(content)
    result = peaks_above_base(UNPICKLING, [(tmp_path / name,) for name in PICKLES])
    assert {name: size for name, size in zip(PICKLES, result, strict=True) if size > 200 << 20} == {}


def test_marks_are_found_without_looking_through_the_stack():
    """Counted, not timed: 4,000 marks over 40,000 values took 160 million comparisons."""

    class Counting(list):
        seen = 0

        def __iter__(self):
            for value in super().__iter__():
                Counting.seen += 1
                yield value

    from bitreplay.data.cifar_python import Machine

    machine = Machine(0)
    machine.stack = Counting()
    machine.run(pickled(b"K\x01" * 40_000, b"(t" * 4_000))
    assert Counting.seen < 10_000


@pytest.mark.parametrize("label", [b"\x8a\x09" + b"\xff" * 8 + b"\0", b"J\xff\xff\xff\xff", b"M\0\x01"])
def test_a_label_that_is_none_is_refused(label):
    array = b"cnumpy.core.multiarray\n_reconstruct\n)R(K\x01K\x01M\0\x0c\x86cnumpy\ndtype\nU\x02u1\x85R\x89"
    array += b"T" + struct.pack("<i", 3072) + bytes(3072) + b"tb"
    content = pickled(b"}(U\x04data", array, b"U\x06labels](", label, b"eu")
    with pytest.raises(ValueError, match="data_batch_1 does not have 3072 bytes per image and as many labels"):
        parse_batch(content, "data_batch_1", "labels")
    assert parse_batch(content.replace(label, b"K\xff"), "data_batch_1", "labels")[1].tolist() == [255]


def test_names_of_classes_are_texts(tmp_path):
    from tests.data.test_cifar_python import python2, rows

    for name in ("train", "test"):
        (tmp_path / name).write_bytes(python2(rows(np.zeros((1, 32, 32, 3), np.uint8)), "fine_labels", [0]))
    for names in (b"K\x01", b"](K\x01e", b"](" + b")" + b"\x85" * 100_000 + b"e"):
        (tmp_path / "meta").write_bytes(pickled(b"}U\x10fine_label_names", names, b"s"))
        with pytest.raises(ValueError, match="meta in .* has no list of fine_label_names"):
            cifar100(tmp_path)
    assert parse_pickle(pickled(b"}U\x01aK\x01s"), "meta") == {"a": 1}


HEADERS = [
    "{'descr': '<i8', 'fortran_order': False, 'shape': (1099511627776,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (True,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': ((1,),), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': 'x', }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': 'nothing', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '<i8', 'x')], 'fortran_order': False, 'shape': (1,), }",
    "{1: 2, 'a': 3, None: 4}",
    "{'descr': ",
    "((((((((((",
    "(" * 3000 + ")" * 3000,
    "[" * 200,
    "'''",
    "\0" * 40,
    "é" * 20,
    "9" * 8000,
    "{" + "'a': 1, " * 1000 + "}",
    "f" * 20_000,
    "",
]


def npy(text: str, content: bytes = bytes(8), version: int = 1) -> bytes:
    head = text.encode("latin1")
    size = struct.pack("<H" if version == 1 else "<I", len(head) % (1 << 16 if version == 1 else 1 << 32))
    return b"\x93NUMPY" + bytes([version, 0]) + size + head + content


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("version", [1, 2, 3, 9])
@pytest.mark.parametrize("text", HEADERS)
def test_a_header_that_is_wrong_gives_a_sentence(tmp_path, text, version):
    good = np.zeros((1, 64, 64, 3), np.uint8)
    for part in ("train", "val"):
        np.save(tmp_path / f"{part}_images.npy", good)
        (tmp_path / f"{part}_labels.npy").write_bytes(npy(text, version=version))
    (tmp_path / "wnids.txt").write_text("n1")
    with pytest.raises(ValueError, match="^.*train_labels.npy cannot be read: .*[.]$") as error:
        tiny_imagenet(tmp_path)
    assert len(str(error.value)) < 400
    (tmp_path / "train_images.npy").write_bytes(npy(text, version=version))
    with pytest.raises(ValueError, match="^.*train_images.npy cannot be read: .*[.]$"):
        tiny_imagenet(tmp_path)
    with zipfile.ZipFile(tmp_path / "set.npz", "w") as archive:
        for name in ARRAYS:
            archive.writestr(f"{name}.npy", npy(text, version=version))
    with pytest.raises(ValueError, match="^.*set.npz cannot be read as .npz: in train_images, .*[.]$"):
        npz(tmp_path / "set.npz")


def test_an_npz_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("bitreplay.data.npz.MAX_BYTES", LIMIT)
    with zipfile.ZipFile(tmp_path / "set.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("train_images.npy", "w") as file:
            file.write(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (12582912,), }\n", b""))
            for _ in range(12):
                file.write(bytes(1 << 20))
    with pytest.raises(ValueError, match="set.npz cannot be read as .npz: it unpacks to more than"):
        npz(tmp_path / "set.npz")


@pytest.mark.parametrize("labels", [np.zeros(1), np.zeros(1, "U3"), np.zeros(1, complex), np.zeros((1, 1), "i4,i4")])
def test_labels_that_are_no_integers_are_refused(tmp_path, labels):
    for part in ("train", "val"):
        np.save(tmp_path / f"{part}_images.npy", np.zeros((1, 64, 64, 3), np.uint8))
        np.save(tmp_path / f"{part}_labels.npy", labels)
    (tmp_path / "wnids.txt").write_text("n1")
    with pytest.raises(ValueError, match="train_labels.npy must hold integers, got"):
        tiny_imagenet(tmp_path)


def test_a_picture_at_the_root_of_tiny_imagenet_is_passed_over(tmp_path):
    from tests.data.test_core50 import png

    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr("wnids.txt", "n1")
        archive.writestr("val_annotations.txt", b"v.JPEG\tn1\n\xff\xfe\tn1")
        for name in ("root.JPEG", "images/one.JPEG", "train/n1/images/a.JPEG", "val/images/v.JPEG"):
            archive.writestr(name, png(7, 64))
    result = tiny_imagenet(tmp_path / "set.zip")
    assert len(result.train_images) == len(result.test_images) == 1


def test_a_long_number_in_a_name_of_core50_is_no_frame(tmp_path):
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr(f"C_01_01_{'9' * 5000}.png", b"")
    with pytest.raises(FileNotFoundError, match="lacks frames of CORe50's training or test sessions"):
        core50(tmp_path / "set.zip")
