"""Tiny-ImageNet: 200 classes, 64x64, 100,000 training images; the 10,000 validation images serve as the test set.

Three layouts: the published folder, the published .zip, and a folder of arrays (train_images.npy, train_labels.npy,
val_images.npy, val_labels.npy, wnids.txt). Labels index the lines of wnids.txt. The arrays are mapped, not read.
"""

from pathlib import Path

import numpy as np

from bitreplay.data.archives import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.location import locate, to_get
from bitreplay.data.npy import of_file
from bitreplay.data.pictures.picture import Unreadable, decoded, refuse
from bitreplay.data.regular import content_of

SIDE = 64
SOURCE = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
GET = to_get(SOURCE, "tiny-imagenet")


def tiny_imagenet(path: str | Path | None = None, unreadable: Unreadable = refuse) -> Dataset:
    """The data set. `unreadable` is told of each picture that cannot be read; if it returns, that one is left out."""
    place = locate("Tiny-ImageNet", path, ("tiny-imagenet-200", "tiny-imagenet-200.zip"), SOURCE, "tiny-imagenet")
    return from_arrays(place) if (place / "train_images.npy").exists() else from_pictures(place, unreadable)


def from_arrays(place: Path) -> Dataset:
    images = {part: of_file(place / f"{part}_images.npy", mapped=True) for part in ("train", "val")}
    labels = {part: of_file(place / f"{part}_labels.npy") for part in ("train", "val")}
    for part, found in labels.items():
        if found.dtype.kind not in "iu":
            raise ValueError(f"{place / f'{part}_labels.npy'} must hold integers, got {found.dtype}.")
    try:
        wnids = tuple(content_of(place / "wnids.txt").decode("utf-8", "replace").split())
    except ValueError as error:
        raise ValueError(f"{place / 'wnids.txt'} cannot be read: {error}.") from None
    numbers = {part: found.astype(np.int64) for part, found in labels.items()}
    return Dataset(images["train"], numbers["train"], images["val"], numbers["val"], wnids)


def from_pictures(place: Path, unreadable: Unreadable = refuse) -> Dataset:
    """train/<wnid>/images/*.JPEG; val/images/*.JPEG with their classes in val/val_annotations.txt."""
    texts = files(place, "wnids.txt", "val_annotations.txt")
    lists = {name.rpartition("/")[2]: text.decode("utf-8", "replace") for name, text in texts}
    for name in ("wnids.txt", "val_annotations.txt"):
        if name not in lists:
            raise FileNotFoundError(f"{place} has no {name} of Tiny-ImageNet: {GET}.")
    wnids = tuple(lists["wnids.txt"].split())
    label_of_wnid = {wnid: label for label, wnid in enumerate(wnids)}
    rows = (line.split("\t") for line in lists["val_annotations.txt"].splitlines())
    wnid_of_picture = {row[0]: row[1] for row in rows if len(row) > 1}

    images: dict[str, list[np.ndarray]] = {"train": [], "val": []}
    labels: dict[str, list[int]] = {"train": [], "val": []}
    for name, content in files(place, ".JPEG"):
        parts = ["", "", "", *name.split("/")]
        if parts[-2] != "images" or not {"train", "val"} & set(parts[-4:-2]):
            continue  # the test pictures, which have no labels
        part, wnid = ("val", wnid_of_picture.get(parts[-1], "")) if parts[-3] == "val" else ("train", parts[-3])
        if wnid not in label_of_wnid:
            raise ValueError(f"{name} in {place} is of no class of wnids.txt.")
        try:
            images[part].append(_of_size(decoded(content, f"{name} in {place}"), f"{name} in {place}"))
            labels[part].append(label_of_wnid[wnid])
        except ValueError as error:
            unreadable(error)
    for part in images:
        if not images[part]:
            raise FileNotFoundError(f"{place} has no {part} pictures of Tiny-ImageNet: {GET}.")
    train = np.stack(images["train"]), np.array(labels["train"], np.int64)
    return Dataset(*train, np.stack(images["val"]), np.array(labels["val"], np.int64), wnids)


def _of_size(pixels: np.ndarray, title: str) -> np.ndarray:
    if pixels.shape != (SIDE, SIDE, 3):
        raise ValueError(f"{title} is {pixels.shape[1]}x{pixels.shape[0]}; expected {SIDE}x{SIDE}.")
    return pixels
