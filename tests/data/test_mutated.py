"""2,000 altered pictures and 2,000 altered archives a run: each is read, or refused in one sentence that names it."""

import gzip
import io
import pickle
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.cifar import CIFAR10_MD5, cifar10, cifar100
from bitreplay.data.core50 import core50
from bitreplay.data.dataset import Dataset
from bitreplay.data.groceries import groceries
from bitreplay.data.npz import npz
from bitreplay.data.pictures.formats import LARGEST_SIDE
from bitreplay.data.pictures.picture import decode
from bitreplay.data.tiny_imagenet import tiny_imagenet
from tests.data.mutations import mutated
from tests.data.pictures.handmade import jpeg_of_scans, png_of, tiff
from tests.data.pictures.test_picture import saved

RUNS = 2000
RNG = np.random.default_rng(7)
PIXELS = np.kron(RNG.integers(0, 256, (6, 8, 4), dtype=np.uint8), np.ones((8, 8, 1), np.uint8))


def pictures() -> list[bytes]:
    colours, alpha = Image.fromarray(PIXELS[:, :, :3]), Image.fromarray(PIXELS, "RGBA")
    exif = Image.Exif()
    exif[0x0112] = 6
    progressive = saved(colours, "JPEG", progressive=True)
    result = [
        saved(colours, "JPEG", exif=exif), progressive, jpeg_of_scans(progressive, 20), saved(alpha, "WEBP"),
        saved(alpha.convert("CMYK"), "JPEG"), saved(colours, "MPO", save_all=True, append_images=[colours]),
        saved(colours, "PNG", exif=exif), saved(alpha, "PNG"), saved(colours.convert("P"), "PNG", transparency=3),
        png_of(PIXELS[:, :, :1].astype(np.uint16) * 200, 0), saved(colours.convert("1"), "PNG"),
        saved(colours, "WEBP", exif=exif), saved(colours, "WEBP", lossless=True),
        saved(colours, "WEBP", save_all=True, append_images=[colours.rotate(90)]), saved(colours, "BMP"),
        saved(colours.convert("P"), "BMP"), saved(colours, "GIF", interlace=True),
        saved(colours, "GIF", save_all=True, append_images=[colours.rotate(180)], transparency=1),
        tiff(PIXELS[:, :, :3], 2), tiff(PIXELS[:, :, :1].astype(np.uint16), 1, order=">"),
    ]  # fmt: skip
    result += [
        saved(colours, "TIFF", compression=way) for way in ("tiff_lzw", "tiff_adobe_deflate", "jpeg", "packbits")
    ]
    return result


def sentence(error: Exception, name: str) -> None:
    text = str(error)
    assert name in text and text.endswith(".") and "\n" not in text and len(text) < 600, repr(text)


@pytest.mark.filterwarnings("ignore")
def test_altered_pictures_are_read_or_refused_in_a_sentence():
    good, rng = pictures(), np.random.default_rng(11)
    for content in good:
        decode(content, "a.png")
    refused: Counter[int] = Counter()
    for run in range(RUNS):
        kind = run % len(good)
        try:
            pixels = decode(mutated(good[kind], good[rng.integers(len(good))], rng), "a.png")
        except ValueError as error:
            sentence(error, "a.png cannot be read as a picture: ")
            refused[kind] += 1
        else:
            assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
            assert 1 <= min(pixels.shape[:2]) and max(pixels.shape[:2]) <= LARGEST_SIDE
    assert len(refused) == len(good) and RUNS * 0.2 < sum(refused.values()) < RUNS * 0.95


def packed(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def zipped(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(array))
    return stream.getvalue()


def small(kind: str, side: int) -> bytes:
    return saved(Image.fromarray(np.zeros((side, side, 3), np.uint8)), kind)


def sets() -> dict[str, tuple[Callable[[Path], object], Callable[[dict[str, bytes]], bytes], dict[str, bytes]]]:
    record = bytes(3073)
    batch = pickle.dumps({"data": np.zeros((1, 3072), np.uint8), "fine_labels": [3]}, 2)
    meta = pickle.dumps({"fine_label_names": [str(k) for k in range(20)]}, 2)
    images = npy(np.zeros((2, 4, 4, 3), np.uint8))
    arrays = {"train_images.npy": images, "train_labels.npy": npy([1, 2]), "test_images.npy": images,
              "test_labels.npy": npy([1, 2])}  # fmt: skip
    pixels, lists = (
        npy(np.zeros((1, 64, 64, 3), np.uint8)),
        {"wnids.txt": b"n1\nn2", "val/val_annotations.txt": b"v.JPEG\tn1\n"},
    )
    tiny = lists | {"train/n1/images/a.JPEG": small("JPEG", 64), "val/images/v.JPEG": small("JPEG", 64)}
    mapped = {"train_images.npy": pixels, "train_labels.npy": npy([0]), "val_images.npy": pixels,
              "val_labels.npy": npy([1]), "wnids.txt": b"n1 n2"}  # fmt: skip
    return {
        "cifar10.tar.gz": (cifar10, packed, dict.fromkeys(CIFAR10_MD5, record)),
        "cifar100.tar.gz": (cifar100, packed, {"p/train": batch, "p/test": batch, "p/meta": meta}),
        "core50.zip": (lambda path: core50(path, 8), zipped, {f"C_0{s}_01_000.png": small("PNG", 8) for s in (1, 3)}),
        "groceries.zip": (groceries, zipped, {f"{part}/a/0.webp": small("WEBP", 8) for part in ("train", "test")}),
        "tiny.zip": (tiny_imagenet, zipped, tiny),
        "tiny": (tiny_imagenet, zipped, mapped),
        "own.npz": (npz, zipped, arrays),
    }  # fmt: skip


def write(place: Path, name: str, content: bytes, parts: dict[str, bytes]) -> Path:
    """The archive as it is, by gzip if its name says so; or the folder, if its name has no suffix."""
    path = place / name
    if "." in name:
        path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
        return path
    path.mkdir(exist_ok=True)
    for inside, part in parts.items():
        (path / inside).write_bytes(part)
    return path


@pytest.mark.filterwarnings("ignore")
def test_altered_archives_are_read_or_refused_in_a_sentence(tmp_path):
    """Half of the changes are to the archive, half to a file before it is packed, so that its checksum is right."""
    rng, refused, data_sets = np.random.default_rng(12), Counter[str](), sets()
    for name, (load, pack, parts) in data_sets.items():
        load(write(tmp_path, name, pack(parts), parts))
    for run in range(RUNS):
        name = list(data_sets)[run % len(data_sets)]
        load, pack, parts = data_sets[name]
        inside = list(parts)[rng.integers(len(parts))]
        content = pack(parts)
        if rng.random() < 0.5 or "." not in name:
            altered = parts | {inside: mutated(parts[inside], parts[list(parts)[0]], rng)}
            content = pack(altered)
        else:
            altered, content = parts, mutated(content, content, rng)
        path = write(tmp_path, name, content, altered)
        if rng.random() < 0.1 and "." in name:
            path.write_bytes(mutated(path.read_bytes(), content, rng))
        try:
            result = load(path)
        except (ValueError, FileNotFoundError) as error:
            sentence(error, "")
            refused[name] += 1
        else:
            assert isinstance(result[0] if isinstance(result, tuple) else result, Dataset)
    assert len(refused) == len(data_sets) and RUNS * 0.2 < sum(refused.values()) < RUNS * 0.95
