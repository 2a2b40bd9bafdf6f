"""A data set of your own in one .npz file: train_images, train_labels, test_images, test_labels.

Images are uint8 (n, height, width, 3), labels integers or text. Nothing is unpickled.
"""

import zipfile
from pathlib import Path

import numpy as np

from bitreplay.data.dataset import Dataset

ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")


def npz(path: str | Path) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in ARRAYS if name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as .npz: {str(error).splitlines()[0]}") from None
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
    names = np.unique(np.concatenate([found["train_labels"], found["test_labels"]]))
    numbers = [np.searchsorted(names, found[f"{part}_labels"]).astype(np.int64) for part in ("train", "test")]
    return Dataset(found["train_images"], numbers[0], found["test_images"], numbers[1], tuple(map(str, names)))
