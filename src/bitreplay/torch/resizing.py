"""The resizing of data/pictures/resize.py on tensors: exact on uint8 pictures, in floats on training views.

Both take their weights from `taps`, so a model is trained, validated and used with one rule.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from bitreplay.data.pictures.resize import taps

CHUNK = 500


def resize(images: Tensor, side: int) -> Tensor:
    """uint8 (N, C, H, W) -> uint8 (N, C, side, side), bit for bit as data/pictures/resize.py resizes each picture."""
    if tuple(images.shape[2:]) == (side, side):
        return images
    area = taps(images.shape[2], side)[2] * taps(images.shape[3], side)[2]
    wide = torch.int32 if 511 * area < 2**31 else torch.int64  # the largest number below is 2 * 255 * area + area
    parts = []
    for part in images.split(CHUNK):
        total = weigh(weigh(part.to(wide), side, 2), side, 3)
        parts.append(torch.div(2 * total + area, 2 * area, rounding_mode="floor").to(torch.uint8))
    return torch.cat(parts) if parts else images.new_empty((0, images.shape[1], side, side))


def weigh(values: Tensor, side: int, axis: int) -> Tensor:
    """Weighted sums along one axis, not yet divided."""
    index, weights, _ = taps(values.shape[axis], side)
    along = [1] * values.dim()
    along[axis] = side
    total: Tensor | int = 0
    for k in range(index.shape[1]):
        source = torch.from_numpy(index[:, k].copy()).to(values.device)
        weight = torch.from_numpy(weights[:, k].copy()).to(values).view(along)
        total = total + values.index_select(axis, source) * weight
    assert isinstance(total, Tensor)
    return total


def resize_view(view: Tensor, side: int) -> Tensor:
    """float (N, C, H, W) -> (N, C, side, side) by the same weights, without rounding."""
    if tuple(view.shape[2:]) == (side, side):
        return view
    rows, columns = (matrix(view.shape[axis], side, view.device, view.dtype) for axis in (2, 3))
    with torch.autocast(view.device.type, enabled=False):
        return rows @ view @ columns.T


@lru_cache(maxsize=16)
def matrix(n: int, m: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """The weights as an (m, n) matrix whose rows sum to 1."""
    index, weights, total = taps(n, m)
    dense = np.zeros((m, n))
    np.add.at(dense, (np.arange(m)[:, None], index), weights)
    return torch.from_numpy(dense / total).to(device, dtype)
