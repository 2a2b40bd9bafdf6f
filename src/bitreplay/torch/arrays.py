"""Labelled images as uint8 tensors on the training device, and where pre-training gets them from.

Three layouts: arrays (train_images.npy (N, S, S, 3) uint8, train_labels.npy and the same for val; wnids.txt
names the classes, one per line, where there is one), Tiny-ImageNet as published (a folder or a .zip), and any folder of
class folders, whose pictures are cropped to their middle square and resized to one side.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bitreplay.data import Dataset
from bitreplay.data.folder import folder
from bitreplay.data.tiny_imagenet import tiny_imagenet
from bitreplay.torch.resizing import resize


@dataclass(frozen=True)
class Arrays:
    """Images (N, 3, S, S) uint8 and labels (N,) int64."""

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, side: int) -> Arrays:
        """The same images in another size."""
        return Arrays(resize(self.images, side), self.labels)

    @staticmethod
    def of(images: np.ndarray, labels: np.ndarray, device: torch.device, chunk: int = 10000) -> Arrays:
        """From (N, S, S, 3), which may be a mapped file: it is read part by part."""
        parts = [
            torch.from_numpy(np.array(images[i : i + chunk])).to(device).permute(0, 3, 1, 2).contiguous()
            for i in range(0, len(images), chunk)
        ]
        return Arrays(torch.cat(parts), torch.from_numpy(labels.astype(np.int64)).to(device))


def hold_out(arrays: Arrays, count: int) -> tuple[Arrays, Arrays]:
    """All but about `count` images, and these: evenly spaced, so that sorted images give some of every class."""
    if not count:
        return arrays, Arrays(arrays.images[:0], arrays.labels[:0])
    chosen = torch.zeros(len(arrays), dtype=torch.bool)
    chosen[:: max(2, -(-len(arrays) // count))] = True
    chosen = chosen.to(arrays.labels.device)
    return tuple(Arrays(arrays.images[of], arrays.labels[of]) for of in (~chosen, chosen))  # type: ignore[return-value]


def open_dataset(path: Path, side: int) -> Dataset:
    """The images at `path`, in any of the layouts; `side` is for pictures that differ in size."""
    if (path / "train_images.npy").exists():
        return from_arrays(path)
    if path.is_file() or (path / "wnids.txt").exists():
        return tiny_imagenet(path)
    return folder(path, side)


def from_arrays(root: Path) -> Dataset:
    train_images, train_labels = load_split(root, "train")
    val_images, val_labels = load_split(root, "val")
    if train_images.shape[1:] != val_images.shape[1:]:
        raise ValueError(f"{root} has train images {train_images.shape[1:]}, val images {val_images.shape[1:]}.")
    names = root / "wnids.txt"
    count = int(max(train_labels.max(), val_labels.max())) + 1
    class_names = tuple(names.read_text().split()) if names.exists() else tuple(map(str, range(count)))
    if len(class_names) < count:
        raise ValueError(f"{names} names {len(class_names)} classes; the labels go up to {count - 1}.")
    return Dataset(train_images, train_labels, val_images, val_labels, class_names)


def load_split(root: Path, split: str) -> tuple[np.ndarray, np.ndarray]:
    """`split` is "train" or "val"."""
    images = load_array(root / f"{split}_images.npy", mapped=True)
    labels = load_array(root / f"{split}_labels.npy")
    square = images.ndim == 4 and images.shape[1] == images.shape[2] and images.shape[3] == 3
    if not square or images.dtype != np.uint8 or labels.shape != images.shape[:1] or len(images) == 0:
        raise ValueError(
            f"{root}/{split}_images.npy has shape {images.shape}, {images.dtype}, for labels {labels.shape}; "
            "expected (N, S, S, 3), uint8, one label per image."
        )
    if not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0:
        raise ValueError(f"{root}/{split}_labels.npy is {labels.dtype}; expected non-negative integers.")
    return images, labels.astype(np.int64)


def load_array(path: Path, mapped: bool = False) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as an array: it is empty, damaged or of another kind.") from error


def scale_pixels(images: Tensor) -> Tensor:
    """u / 127.5 - 1: from 0..255 to [-1, 1]."""
    return images.float() / 127.5 - 1
