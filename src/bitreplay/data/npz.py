"""A data set of your own in one .npz file: train_images, train_labels, test_images, test_labels.

Images are uint8 (n, height, width, 3), labels integers or text. Nothing is unpickled.
"""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.data.dataset import Dataset
from bitreplay.told import path_of

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
    try:
        archive: Any = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("it is a single array, a .npy file.")
        with archive:
            return {name: np.asarray(archive[name]) for name in ARRAYS if name in archive.files}
    except (OSError, ValueError, EOFError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as .npz: {' '.join(str(error).split())[:200]}") from None
