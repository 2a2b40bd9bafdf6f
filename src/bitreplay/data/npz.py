"""A data set of your own in one .npz file: train_images, train_labels, test_images, test_labels.

Images are uint8 (n, height, width, 3), labels integers or text. Nothing is unpickled.
"""

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from bitreplay.arguments import path_of
from bitreplay.data.archives import MAX_TIMES, ZIP_COMPRESSIONS
from bitreplay.data.dataset import Dataset
from bitreplay.data.npy import array
from bitreplay.data.regular import MAX_BYTES, is_regular

ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")


def npz(path: str | Path) -> Dataset:
    """The data set; its classes are named by the labels, in sorted order."""
    found = _arrays(path_of(path, "A .npz file"))
    missing = [name for name in ARRAYS if name not in found]
    if missing:
        raise ValueError(f"{path} has no {', '.join(missing)}.")
    for part in ("train", "test"):
        images, labels = found[f"{part}_images"], found[f"{part}_labels"]
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
            raise ValueError(f"{part}_images must be uint8 (n, height, width, 3), got {images.dtype} {images.shape}.")
        if labels.shape != images.shape[:1] or labels.dtype.kind not in "iuU":
            raise ValueError(
                f"{part}_labels must be {len(images)} integers or texts, got {labels.dtype} {labels.shape}."
            )
    kinds = [found[f"{part}_labels"].dtype.kind == "U" for part in ("train", "test")]
    if kinds[0] != kinds[1]:
        raise ValueError(f"{path} must have integers as labels in both parts or texts in both.")
    names = np.unique(np.concatenate([found["train_labels"], found["test_labels"]]))
    numbers = [np.searchsorted(names, found[f"{part}_labels"]).astype(np.int64) for part in ("train", "test")]
    return Dataset(found["train_images"], numbers[0], found["test_images"], numbers[1], tuple(map(str, names)))


def _arrays(path: Path) -> dict[str, np.ndarray]:
    if not is_regular(path):
        raise ValueError(f"{path} cannot be read as .npz: it is no file.")
    try:
        with open(path, "rb") as file:
            if file.read(6) == np.lib.format.MAGIC_PREFIX:
                raise ValueError("it is a single array, a .npy file")
            file.seek(0)
            return _in_zip(file, MAX_BYTES + MAX_TIMES * path.stat().st_size)
    except Exception as error:  # readers of archives fail in many ways on damaged bytes
        why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise ValueError(f"{path} cannot be read as .npz: {why}.") from None


def _in_zip(file: IO[bytes], most: int) -> dict[str, np.ndarray]:
    """The arrays by name; NumPy's own reader would take whatever an archive unpacks to."""
    found = {}
    with zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        chosen = [name for name in ARRAYS if name in members]
        if sum(members[name].file_size for name in chosen) > most:
            raise ValueError(f"it unpacks to more than {most} bytes, {MAX_TIMES} times its size and more")
        for name in chosen:
            info = members[name]
            if info.compress_type not in ZIP_COMPRESSIONS:
                raise ValueError(f"its {name} has a compression that is not read; expected deflate or none")
            with archive.open(info) as stream:
                try:
                    found[name] = array(stream, info.file_size)
                except ValueError as error:
                    raise ValueError(f"of {name}, {error}") from None
    return found
