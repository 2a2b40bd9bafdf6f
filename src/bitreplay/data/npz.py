"""A data set of your own in one .npz file: train_images, train_labels, test_images, test_labels.

Images are uint8 (n, height, width, 3), labels integers or text. Nothing is unpickled.
"""

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from bitreplay.arguments import path_of
from bitreplay.data.archives import MAX_RATIO, ZIP_COMPRESSIONS
from bitreplay.data.dataset import Dataset
from bitreplay.data.npy import read_array
from bitreplay.data.regular import MAX_BYTES, is_regular

ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")


def npz(path: str | Path) -> Dataset:
    """Read a data set of your own from one .npz file.

    Parameters
    ----------
    path : str or Path
        A file with the arrays `train_images`, `train_labels`, `test_images` and `test_labels`. Images are uint8
        (n, height, width, 3), labels integers or text.

    Returns
    -------
    Dataset
        Its classes are the labels, in sorted order.

    Raises
    ------
    ValueError
        If the file is damaged, is not a .npz file, or lacks an array.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.npz"
    >>> images, labels = np.zeros((4, 8, 8, 3), np.uint8), ["kiwi", "kiwi", "pear", "pear"]
    >>> np.savez(file, train_images=images, train_labels=labels, test_images=images, test_labels=labels)
    >>> npz(file).class_names
    ('kiwi', 'pear')
    """
    arrays = _arrays(path_of(path, "A .npz file"))
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise ValueError(f"{path} has no {', '.join(missing)}.")
    for part in ("train", "test"):
        images, labels = arrays[f"{part}_images"], arrays[f"{part}_labels"]
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
            raise ValueError(f"{part}_images must be uint8 (n, height, width, 3), got {images.dtype} {images.shape}.")
        if labels.shape != images.shape[:1] or labels.dtype.kind not in "iuU":
            raise ValueError(
                f"{part}_labels must be {len(images)} integers or strings, got {labels.dtype} {labels.shape}."
            )
    kinds = [arrays[f"{part}_labels"].dtype.kind == "U" for part in ("train", "test")]
    if kinds[0] != kinds[1]:
        raise ValueError(f"The labels in {path} must be integers in both parts or text in both.")
    names = np.unique(np.concatenate([arrays["train_labels"], arrays["test_labels"]]))
    train, test = (np.searchsorted(names, arrays[f"{part}_labels"]).astype(np.int64) for part in ("train", "test"))
    return Dataset(arrays["train_images"], train, arrays["test_images"], test, tuple(map(str, names)))


def _arrays(path: Path) -> dict[str, np.ndarray]:
    if not is_regular(path):
        raise ValueError(f"{path} cannot be read as .npz: it is not a regular file.")
    try:
        with open(path, "rb") as file:
            if file.read(6) == np.lib.format.MAGIC_PREFIX:
                raise ValueError("it is a single array, a .npy file")
            file.seek(0)
            return _in_zip(file, MAX_BYTES + MAX_RATIO * path.stat().st_size)
    except Exception as error:  # readers of archives fail in many ways on damaged bytes
        why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise ValueError(f"{path} cannot be read as .npz: {why}.") from None


def _in_zip(file: IO[bytes], max_bytes: int) -> dict[str, np.ndarray]:
    """The arrays by name. NumPy's own reader has no limit to what an archive unpacks to."""
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        chosen = [name for name in ARRAYS if name in members]
        if sum(members[name].file_size for name in chosen) > max_bytes:
            raise ValueError(f"it unpacks to more than {max_bytes} bytes, over {MAX_RATIO} times its size")
        for name in chosen:
            info = members[name]
            if info.compress_type not in ZIP_COMPRESSIONS:
                raise ValueError(f"its {name} has a compression that is not read; expected deflate or none")
            with archive.open(info) as stream:
                try:
                    arrays[name] = read_array(stream, info.file_size)
                except ValueError as error:
                    raise ValueError(f"in {name}, {error}") from None
    return arrays
