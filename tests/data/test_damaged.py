"""Damaged pictures and archives: each is named in one sentence, and left out where that was asked for."""

import io
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.archives import files
from bitreplay.data.core50 import core50
from bitreplay.data.folder import folder
from bitreplay.data.groceries import groceries
from bitreplay.data.named import load_dataset
from bitreplay.data.pictures.picture import decode, read
from bitreplay.data.tiny_imagenet import tiny_imagenet
from tests.data.test_core50 import png, tree

FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF")


def encoded(kind: str, side: int = 24) -> bytes:
    stream = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(stream, kind)
    return stream.getvalue()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.filterwarnings("ignore")
def test_any_damage_to_a_picture_gives_a_sentence_or_pixels(kind):
    good, rng = encoded(kind), np.random.default_rng(1)
    refused = 0
    for _ in range(150):
        bad = bytearray(good)
        for place in rng.integers(0, min(len(bad), 80) if rng.random() < 0.7 else len(bad), 1 + rng.integers(4)):
            bad[place] = rng.integers(256)
        content = bytes(bad[: rng.integers(len(bad))]) if rng.random() < 0.3 else bytes(bad)
        try:
            pixels = decode(content, "a.png")
        except ValueError as error:
            text = str(error)
            assert text.startswith("a.png cannot be read as a picture: ") and text.endswith(".") and "\n" not in text
            refused += 1
        else:
            assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
    assert refused > 10


def test_a_vast_picture_is_refused():
    with pytest.raises(ValueError, match="a.bmp cannot be read as a picture: it is 100000x100000; at most 16384"):
        decode(encoded("BMP")[:18] + struct.pack("<ii", 100000, 100000) + encoded("BMP")[26:], "a.bmp")


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/", "/none", "fifo", "vast.png"])
def test_what_is_no_file_of_a_sensible_size_is_refused_without_reading_it(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    with open("vast.png", "wb") as file:
        file.truncate(1 << 40)
    why = "it is a folder" if place == "/" else "(it is not a file|No such file)"
    with pytest.raises(ValueError, match=f"{place} cannot be read as a picture: {why}"):
        read(Path(place))


def test_a_folder_leaves_out_what_cannot_be_read_if_told_so(tmp_path):
    for k, value in enumerate((0, 80, 0, 0, 160, 40, 240)):
        (tmp_path / "pear").mkdir(exist_ok=True)
        (tmp_path / "pear" / f"{k}.png").write_bytes(png(value, 8))
    (tmp_path / "pear" / "2.png").write_bytes(png(0, 8)[:40])
    (tmp_path / "pear" / "3.png").unlink()
    (tmp_path / "pear" / "3.png").mkdir()
    with pytest.raises(ValueError, match=r"2\.png cannot be read as a picture"):
        folder(tmp_path, side=8)
    errors: list[ValueError] = []
    result = load_dataset(str(tmp_path), side=8, unreadable=errors.append).data
    assert result.train_images[:, 0, 0, 0].tolist() == [0, 80, 160, 40]
    assert result.test_images[:, 0, 0, 0].tolist() == [240]
    assert [str(error).split(" cannot")[0][-5:] for error in errors] == ["2.png", "3.png"]


def test_core50_leaves_out_frames_that_cannot_be_read_if_told_so(tmp_path):
    tree(tmp_path, frames=(0,))
    (tmp_path / "s1" / "o1" / "C_01_01_000.png").write_bytes(b"nothing")
    errors: list[ValueError] = []
    data, sessions = core50(tmp_path, side=16, unreadable=errors.append)
    assert len(errors) == 1 and "C_01_01_000.png" in str(errors[0]) and len(data.train_images) == len(sessions) == 399
    with pytest.raises(ValueError, match="every must be 1 or more"):
        core50(tmp_path, every=0)


def test_tiny_imagenet_names_what_does_not_fit(tmp_path):
    for part in ("train/n1/images", "val/images"):
        (tmp_path / part).mkdir(parents=True)
    (tmp_path / "wnids.txt").write_text("n1\n")
    (tmp_path / "val" / "val_annotations.txt").write_text("v0.JPEG\tn1\nno tab\n")
    (tmp_path / "val" / "images" / "v0.JPEG").write_bytes(encoded("JPEG", 64))
    (tmp_path / "train" / "n1" / "images" / "a.JPEG").write_bytes(encoded("JPEG", 64))
    (tmp_path / "train" / "n1" / "images" / "b.JPEG").write_bytes(encoded("JPEG", 64)[:50])
    (tmp_path / "train" / "n1" / "images" / "c.JPEG").write_bytes(encoded("JPEG", 32))
    with pytest.raises(ValueError, match=r"b\.JPEG in .* cannot be read as a picture"):
        tiny_imagenet(tmp_path)
    errors: list[ValueError] = []
    assert len(tiny_imagenet(tmp_path, errors.append).train_images) == 1
    assert "c.JPEG" in str(errors[1]) and "is 32x32; expected 64x64" in str(errors[1])
    (tmp_path / "val" / "images" / "v1.JPEG").write_bytes(encoded("JPEG", 64))
    with pytest.raises(ValueError, match=r"v1\.JPEG in .* belongs to no class of wnids.txt"):
        tiny_imagenet(tmp_path, errors.append)
    (tmp_path / "train_images.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match="train_images.npy cannot be read: its header is not one of a .npy file"):
        tiny_imagenet(tmp_path)


@pytest.mark.parametrize(
    ("pictures", "sentence"),
    [
        ({"train/a/0.webp": "", "test/a/0.webp": "cut"}, "0.webp in .* cannot be read as a picture"),
        ({"train/a/0.webp": ""}, "none under test"),
        ({"train/a/0.webp": "", "test/b/0.webp": ""}, "a class without training pictures"),
        ({"train/a/0.webp": "", "test/a/0.webp": "small"}, "pictures of different sizes"),
        ({"other/a/0.webp": ""}, "is not under train"),
        ({"0.webp": ""}, "is not under train"),
    ],
)
def test_another_archive_of_groceries_that_does_not_fit_is_refused(tmp_path, pictures, sentence):
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        for name, how in pictures.items():
            content = encoded("WEBP", 16 if how == "small" else 24)
            archive.writestr(name, content[:30] if how == "cut" else content)
    with pytest.raises(ValueError, match=sentence):
        groceries(tmp_path / "g.zip")


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz"])
def test_a_damaged_archive_gives_a_sentence_or_files(tmp_path, kind):
    content = np.random.default_rng(0).bytes(3000)
    place = tmp_path / f"set.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inside/a.bin", content)
    else:
        (tmp_path / "a.bin").write_bytes(content)
        with tarfile.open(place, "w:gz" if kind == "tar.gz" else "w:xz") as tar:
            tar.add(tmp_path / "a.bin", "inside/a.bin")
    good, rng, refused = place.read_bytes(), np.random.default_rng(3), 0
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        place.write_bytes(bytes(bad[: rng.integers(len(bad))]) if rng.random() < 0.3 else bytes(bad))
        try:
            result = dict(files(place, ".bin"))
        except (ValueError, OSError) as error:
            assert "\n" not in str(error) and str(place) in str(error)
            refused += 1
        else:
            assert all(isinstance(part, bytes) for part in result.values())
    assert refused > 20
