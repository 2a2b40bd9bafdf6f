"""Tiny-ImageNet: 200 classes, 64x64, 100,000 training images; the 10,000 validation images serve as the test set.

Three layouts: the published folder, the published .zip, and a folder of arrays (train_images.npy, train_labels.npy,
val_images.npy, val_labels.npy, wnids.txt). Labels index the lines of wnids.txt. The arrays are mapped, not read.
"""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from bitreplay.data.container import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.location import locate

SOURCE = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"


def tiny_imagenet(path: str | Path | None = None) -> Dataset:
    place = locate("Tiny-ImageNet", path, ("tiny-imagenet-200", "tiny-imagenet-200.zip"), SOURCE)
    return from_arrays(place) if (place / "train_images.npy").exists() else from_pictures(place)


def from_arrays(place: Path) -> Dataset:
    images = {part: np.load(place / f"{part}_images.npy", mmap_mode="r") for part in ("train", "val")}
    labels = {part: np.load(place / f"{part}_labels.npy").astype(np.int64) for part in ("train", "val")}
    wnids = tuple((place / "wnids.txt").read_text().split())
    return Dataset(images["train"], labels["train"], images["val"], labels["val"], wnids)


def from_pictures(place: Path) -> Dataset:
    """train/<wnid>/images/*.JPEG; val/images/*.JPEG with their classes in val/val_annotations.txt."""
    lists = {name.rpartition("/")[2]: text.decode() for name, text in files(place, "wnids.txt", "val_annotations.txt")}
    for name in ("wnids.txt", "val_annotations.txt"):
        if name not in lists:
            raise FileNotFoundError(f"{place} has no {name}: get Tiny-ImageNet from {SOURCE}.")
    wnids = tuple(lists["wnids.txt"].split())
    label_of_wnid = {wnid: label for label, wnid in enumerate(wnids)}
    rows = (line.split("\t") for line in lists["val_annotations.txt"].splitlines())
    wnid_of_picture = {row[0]: row[1] for row in rows}

    images: dict[str, list[np.ndarray]] = {"train": [], "val": []}
    labels: dict[str, list[int]] = {"train": [], "val": []}
    for name, content in files(place, ".JPEG"):
        parts = name.split("/")
        if parts[-2] != "images" or not {"train", "val"} & set(parts[-4:-2]):
            continue  # the test pictures, which have no labels
        part, wnid = ("val", wnid_of_picture[parts[-1]]) if parts[-3] == "val" else ("train", parts[-3])
        images[part].append(np.asarray(Image.open(io.BytesIO(content)).convert("RGB")))
        labels[part].append(label_of_wnid[wnid])
    for part in images:
        if not images[part]:
            raise FileNotFoundError(f"{place} has no {part} pictures: get Tiny-ImageNet from {SOURCE}.")
    train = np.stack(images["train"]), np.array(labels["train"], np.int64)
    return Dataset(*train, np.stack(images["val"]), np.array(labels["val"], np.int64), wnids)
