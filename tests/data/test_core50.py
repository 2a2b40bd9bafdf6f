import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.core50 import NC_SIZES, OBJECTS, SESSIONS, TEST_SESSIONS, core50
from bitreplay.streams.scenario import grouped, new_classes


def png(value: int, side: int = 128) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (side, side), (value, 255 - value, 7)).save(content, "PNG")
    return content.getvalue()


def tree(root, frames=(0, 1)):
    """One or two frames of every object in every session; the colour tells session and object."""
    for session in range(1, 12):
        for item in range(1, OBJECTS + 1):
            folder = root / f"s{session}" / f"o{item}"
            folder.mkdir(parents=True)
            for frame in frames:
                name = f"C_{session:02d}_{item:02d}_{frame:03d}.png"
                (folder / name).write_bytes(png((session * 50 + item + frame) % 256, 16))
    return root


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tree(tmp_path_factory.mktemp("core50"))


def test_sessions_3_7_and_10_are_the_test_set(place):
    data, sessions = core50(place, side=16)
    assert len(data.train_images) == 8 * 50 * 2 and len(data.test_images) == 3 * 50 * 2
    assert set(sessions) == set(SESSIONS) and not set(SESSIONS) & set(TEST_SESSIONS)
    expected = {(session * 50 + item + frame) % 256 for session in SESSIONS for item in [5] for frame in (0, 1)}
    assert set(data.train_images[data.train_labels == 4][:, 0, 0, 0].tolist()) == expected
    assert data.class_names[0] == "plug adapter 1" and data.class_names[49] == "remote control 5"


def test_every_skips_frames_and_side_resizes(place):
    data, sessions = core50(place, side=8, every=2)
    assert data.train_images.shape == (8 * 50, 8, 8, 3) and len(sessions) == 400


def test_nc_has_nine_experiences_of_new_classes(place):
    data, _ = core50(place, side=8)
    stream = list(new_classes(data, NC_SIZES, np.random.default_rng(0)))
    assert [len(set(e.labels.tolist())) for e in stream] == [10, 5, 5, 5, 5, 5, 5, 5, 5]
    assert sorted(c for e in stream for c in e.classes) == list(range(50))


def test_ni_has_one_experience_a_session_with_every_class(place):
    data, sessions = core50(place, side=8)
    stream = list(grouped(data, sessions))
    assert len(stream) == 8 and all(set(e.labels.tolist()) == set(range(50)) for e in stream)
    first = (sessions == SESSIONS[0]).nonzero()[0]
    assert np.array_equal(stream[0].images, data.train_images[first])
    with pytest.raises(ValueError, match="a group for each of the 800 images"):
        list(grouped(data, sessions[1:]))


def test_a_zip_reads_like_the_tree(place, tmp_path):
    archive = tmp_path / "core50_128x128.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for picture in place.rglob("*.png"):
            file.write(picture, f"core50_128x128/{picture.relative_to(place)}")
    (one, first), (other, second) = core50(archive, side=16), core50(place, side=16)
    assert np.array_equal(one.train_images, other.train_images) and np.array_equal(one.test_labels, other.test_labels)
    assert np.array_equal(first, second)


def test_what_is_missing_or_wrong_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="lacks frames of CORe50's training .*bitreplay data fetch core50"):
        core50(tmp_path)
    (tmp_path / "C_01_51_000.png").write_bytes(png(0))
    with pytest.raises(ValueError, match="session 1, object 51; expected 1-11 and 1-50"):
        core50(tmp_path)
    (tmp_path / "C_01_51_000.png").rename(tmp_path / "C_01_50_000.png")
    (tmp_path / "C_01_49_000.png").write_bytes(png(0)[:100])
    with pytest.raises(ValueError, match="C_01_49_000.png in .* cannot be read as a picture"):
        core50(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"path": 3}, "The location of CORe50 must be a path, got 3"),
        ({"side": 0}, "side must be a positive integer, got 0"),
        ({"side": "x"}, "side must be a positive integer, got 'x'"),
        ({"every": "x"}, "every must be 1 or more, got 'x'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tmp_path, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        core50(**({"path": tmp_path} | arguments))


def test_real_frames(real_set):
    data, sessions = core50(real_set("core50-samples"))
    assert data.train_images.shape[1:] == (128, 128, 3)
    assert len(data.train_images) + len(data.test_images) == 90 and set(sessions) <= set(SESSIONS)
    assert data.train_images.reshape(len(sessions), -1).std(axis=1).min() > 5
