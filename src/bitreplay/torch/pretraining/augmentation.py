"""Augmentation of a whole minibatch on the device: random resized crop, flip, colour jitter, no loop over images.

All that is random comes in as `noise` (N, NOISE), uniform in [0, 1), so that the work itself can be compiled:

    noise = draw(len(images), generator)
    view = augment(images, noise)
    view, share = augment.blend(view, noise)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

AREA, RATIO, FLIP, RIGHT, DOWN, BRIGHTNESS, CONTRAST, SATURATION, KIND, SHARE, BOX_DOWN, BOX_RIGHT = range(12)
NOISE = 12
HALF_LOG_RATIO = 0.14384  # of sides in a ratio of 4/3
GREY = (0.299, 0.587, 0.114)


def draw(count: int, generator: Generator) -> Tensor:
    """The noise of `count` views."""
    return torch.rand(count, NOISE, generator=generator, device=generator.device)


def between(noise: Tensor, low: float | Tensor, high: float | Tensor) -> Tensor:
    return noise * (high - low) + low


@dataclass(frozen=True)
class Augmentation:
    """Crop: an area of at least `least_area` of the image, sides in a ratio of 3/4 to 4/3. Jitter: factors 1 +- jitter
    for brightness, contrast and saturation. A share `mix` of the views is blended with another view of the minibatch
    (mixup, Zhang et al., 2018), a share `cut` has a box of it pasted in (CutMix, Yun et al., 2019)."""

    least_area: float = 0.3
    jitter: float = 0.2
    mix: float = 0.0
    cut: float = 0.0

    def __call__(self, images: Tensor, noise: Tensor) -> Tensor:
        """uint8 (N, 3, S, S) -> float (N, 3, S, S) in [-1, 1]."""
        view = self.crop(images.float() / 255, noise)
        if self.jitter:
            view = self.recolour(view, noise)
        return view * 2 - 1

    def blend(self, view: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Views with something of the view as far from the minibatch's other end, and the share (N,) of that one."""
        kind, share = (noise[:, column].view(-1, 1, 1, 1) for column in (KIND, SHARE))
        side = share.sqrt().view(-1, 1)
        inside = []
        for axis, column in ((2, BOX_DOWN), (3, BOX_RIGHT)):
            length = view.shape[axis]
            start = noise[:, column].view(-1, 1) * (1 - side) * length
            centre = torch.arange(length, device=view.device) + 0.5
            inside.append((centre >= start) & (centre < start + side * length))
        box = (inside[0][:, None, :, None] & inside[1][:, None, None, :]).to(view.dtype)
        weight = torch.where(kind < self.mix, share, torch.where(kind < self.mix + self.cut, box, 0.0))
        return torch.lerp(view, view.flip(0), weight), weight.mean(dim=(1, 2, 3))

    def crop(self, images: Tensor, noise: Tensor) -> Tensor:
        area = between(noise[:, AREA], self.least_area, 1.0)
        root = torch.exp(between(noise[:, RATIO], -HALF_LOG_RATIO, HALF_LOG_RATIO))
        width, height = (area.sqrt() * root).clamp_max(1), (area.sqrt() / root).clamp_max(1)
        flip = torch.where(noise[:, FLIP] < 0.5, -1.0, 1.0)
        right, down = (between(noise[:, column], -1.0, 1.0) for column in (RIGHT, DOWN))
        none = torch.zeros_like(area)
        theta = torch.stack([width * flip, none, (1 - width) * right, none, height, (1 - height) * down], 1)
        grid = F.affine_grid(theta.view(-1, 2, 3), list(images.shape), align_corners=False)
        return F.grid_sample(images, grid, mode="bilinear", padding_mode="border", align_corners=False)

    def recolour(self, view: Tensor, noise: Tensor) -> Tensor:
        low, high = 1 - self.jitter, 1 + self.jitter
        brightness, contrast, saturation = (
            between(noise[:, column], low, high).view(-1, 1, 1, 1) for column in (BRIGHTNESS, CONTRAST, SATURATION)
        )
        weights = torch.tensor(GREY, device=view.device).view(1, 3, 1, 1)
        view = view * brightness
        grey = (view * weights).sum(1, keepdim=True)
        view = grey + saturation * (view - grey)
        middle = grey.mean(dim=(1, 2, 3), keepdim=True)
        return (middle + contrast * (view - middle)).clamp(0, 1)
