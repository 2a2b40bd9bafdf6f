"""Labelled images as uint8 tensors on the training device, and the views that models of other sizes get.

A folder holds train_images.npy (N, 64, 64, 3) uint8, train_labels.npy and the same for val. Resizing of validation
images is integer arithmetic, so that everybody who repeats a figure feeds the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Arrays:
    """Images (N, 3, S, S) uint8 and labels (N,) int64."""

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


def load_split(folder: Path, split: str, device: torch.device) -> Arrays:
    """`split` is "train" or "val"."""
    images = np.load(folder / f"{split}_images.npy", mmap_mode="r")
    labels = np.load(folder / f"{split}_labels.npy")
    if images.ndim != 4 or images.shape[-1] != 3 or images.dtype != np.uint8 or len(images) != len(labels):
        raise ValueError(
            f"{folder}/{split}_images.npy has shape {images.shape}, {images.dtype}, for "
            f"{len(labels)} labels; expected (N, S, S, 3), uint8, one label an image."
        )
    parts = [
        torch.from_numpy(np.array(images[i : i + 10000])).to(device).permute(0, 3, 1, 2).contiguous()
        for i in range(0, len(images), 10000)
    ]
    return Arrays(torch.cat(parts), torch.from_numpy(labels.astype(np.int64)).to(device))


def halve(images: Tensor) -> Tensor:
    """Means of 2x2 pixels, (a + b + c + d + 2) >> 2, uint8 to uint8."""
    x = images.to(torch.int16)
    rows = x[..., 0::2, :] + x[..., 1::2, :]
    return ((rows[..., 0::2] + rows[..., 1::2] + 2) >> 2).to(torch.uint8)


def double(images: Tensor) -> Tensor:
    """Bilinear, twice the side: per axis 3 near + far, edges repeated, then (sum + 8) >> 4, uint8 to uint8."""
    x = images.to(torch.int16)
    for _ in range(2):  # along the last axis, then along the other one
        before = torch.cat([x[..., :1], x[..., :-1]], -1)
        after = torch.cat([x[..., 1:], x[..., -1:]], -1)
        x = torch.stack([3 * x + before, 3 * x + after], -1).flatten(-2).transpose(-1, -2)
    return ((x + 8) >> 4).to(torch.uint8)


def resize(images: Tensor, size: int) -> Tensor:
    """uint8 images at `size`, by halving or doubling as often as needed."""
    while images.shape[-1] > size:
        images = halve(images)
    while images.shape[-1] < size:
        images = double(images)
    if images.shape[-1] != size:
        raise ValueError(f"Images cannot be brought to {size}x{size} by halving or doubling.")
    return images


def scale_pixels(images: Tensor) -> Tensor:
    """u / 127.5 - 1: from 0..255 to [-1, 1]."""
    return images.float() / 127.5 - 1


def resize_view(view: Tensor, size: int) -> Tensor:
    """The float counterpart of `resize`, for augmented training views."""
    side = view.shape[-1]
    if side > size:
        return F.avg_pool2d(view, side // size)
    return F.interpolate(view, size=(size, size), mode="bilinear", align_corners=False) if side < size else view
