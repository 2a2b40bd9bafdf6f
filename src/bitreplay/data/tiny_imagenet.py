"""Tiny-ImageNet: 200 classes, 64x64, 100,000 training images; the 10,000 validation images serve as the test set.

Three layouts: the published folder, the published .zip, and a folder of arrays (train_images.npy, train_labels.npy,
val_images.npy, val_labels.npy, wnids.txt). Labels are line numbers of wnids.txt. The arrays are mapped, not read.
"""

from pathlib import Path

import numpy as np

from bitreplay.data.archives import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.location import how_to_get, locate
from bitreplay.data.npy import load_array
from bitreplay.data.pictures.picture import Unreadable, decode, refuse
from bitreplay.data.regular import read_bytes

SIDE = 64
SOURCE = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
GET = how_to_get(SOURCE, "tiny-imagenet")


def tiny_imagenet(path: str | Path | None = None, unreadable: Unreadable = refuse) -> Dataset:
    """Load Tiny-ImageNet: 100,000 training images, 64x64, 200 classes; the 10,000 validation images are the test set.

    Parameters
    ----------
    path : str or Path, optional
        The folder or the .zip as published, or a folder of arrays. By default it is looked for in the folder
        BITREPLAY_DATA.
    unreadable : callable, optional
        Called with the error for each picture that cannot be read. If it returns, the picture is left out. By default
        the error is raised.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If it is not there; the message says where to get it.
    ValueError
        If it is damaged.

    Examples
    --------
    >>> tiny_imagenet("/data").test_images.shape  # doctest: +SKIP
    (10000, 64, 64, 3)
    """
    location = locate("Tiny-ImageNet", path, ("tiny-imagenet-200", "tiny-imagenet-200.zip"), SOURCE, "tiny-imagenet")
    return from_arrays(location) if (location / "train_images.npy").exists() else from_pictures(location, unreadable)


def from_arrays(folder: Path) -> Dataset:
    images = {part: load_array(folder / f"{part}_images.npy", mapped=True) for part in ("train", "val")}
    labels = {part: load_array(folder / f"{part}_labels.npy") for part in ("train", "val")}
    for part, array in labels.items():
        if array.dtype.kind not in "iu":
            raise ValueError(f"{folder / f'{part}_labels.npy'} must hold integers, got {array.dtype}.")
    try:
        wnids = tuple(read_bytes(folder / "wnids.txt").decode("utf-8", "replace").split())
    except ValueError as error:
        raise ValueError(f"{folder / 'wnids.txt'} cannot be read: {error}.") from None
    train, val = (labels[part].astype(np.int64) for part in ("train", "val"))
    return Dataset(images["train"], train, images["val"], val, wnids)


def from_pictures(location: Path, unreadable: Unreadable = refuse) -> Dataset:
    """train/<wnid>/images/*.JPEG; val/images/*.JPEG with their classes in val/val_annotations.txt."""
    texts = files(location, "wnids.txt", "val_annotations.txt")
    lists = {name.rpartition("/")[2]: text.decode("utf-8", "replace") for name, text in texts}
    for name in ("wnids.txt", "val_annotations.txt"):
        if name not in lists:
            raise FileNotFoundError(f"{location} has no {name} of Tiny-ImageNet: {GET}.")
    wnids = tuple(lists["wnids.txt"].split())
    label_of_wnid = {wnid: label for label, wnid in enumerate(wnids)}
    rows = (line.split("\t") for line in lists["val_annotations.txt"].splitlines())
    wnid_of_picture = {row[0]: row[1] for row in rows if len(row) > 1}

    images: dict[str, list[np.ndarray]] = {"train": [], "val": []}
    labels: dict[str, list[int]] = {"train": [], "val": []}
    for name, content in files(location, ".JPEG"):
        parts = ["", "", "", *name.split("/")]
        if parts[-2] != "images" or not {"train", "val"} & set(parts[-4:-2]):
            continue  # the test pictures, which have no labels
        part, wnid = ("val", wnid_of_picture.get(parts[-1], "")) if parts[-3] == "val" else ("train", parts[-3])
        if wnid not in label_of_wnid:
            raise ValueError(f"{name} in {location} belongs to no class of wnids.txt.")
        try:
            images[part].append(_of_size(decode(content, f"{name} in {location}"), f"{name} in {location}"))
            labels[part].append(label_of_wnid[wnid])
        except ValueError as error:
            unreadable(error)
    for part in images:
        if not images[part]:
            raise FileNotFoundError(f"{location} has no {part} pictures of Tiny-ImageNet: {GET}.")
    train = np.stack(images["train"]), np.array(labels["train"], np.int64)
    return Dataset(*train, np.stack(images["val"]), np.array(labels["val"], np.int64), wnids)


def _of_size(pixels: np.ndarray, title: str) -> np.ndarray:
    if pixels.shape != (SIDE, SIDE, 3):
        raise ValueError(f"{title} is {pixels.shape[1]}x{pixels.shape[0]}; expected {SIDE}x{SIDE}.")
    return pixels
