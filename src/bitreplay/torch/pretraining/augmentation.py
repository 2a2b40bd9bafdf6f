"""Augmentation of a whole minibatch on the device: random resized crop, flip, colour jitter, no loop over images."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Augmentation:
    """Crop: an area of at least `least_area` of the image, sides in a ratio of 3/4 to 4/3. Jitter: factors 1 +- jitter
    for brightness, contrast and saturation. A share `mix` of the views is blended with another view of the minibatch
    (mixup, Zhang et al., 2018), a share `cut` has a box of it pasted in (CutMix, Yun et al., 2019)."""

    least_area: float = 0.3
    jitter: float = 0.2
    mix: float = 0.0
    cut: float = 0.0

    def __call__(self, images: Tensor, generator: Generator) -> Tensor:
        """uint8 (N, 3, S, S) -> float (N, 3, S, S) in [-1, 1]."""
        view = self.crop(images.float() / 255, generator)
        if self.jitter:
            view = self.recolour(view, generator)
        return view * 2 - 1

    def blend(self, view: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Views with something of the view as far from the minibatch's other end, and the share (N,) of that one."""
        n, _, height, width = view.shape
        kind, share = self.uniform(n, generator), self.uniform(n, generator)
        side = share.sqrt().view(-1, 1)
        inside = []
        for length in (height, width):
            start = self.uniform(n, generator).view(-1, 1) * (1 - side) * length
            place = torch.arange(length, device=view.device) + 0.5
            inside.append((place >= start) & (place < start + side * length))
        box = (inside[0][:, None, :, None] & inside[1][:, None, None, :]).to(view.dtype)
        kind, weight = kind.view(-1, 1, 1, 1), share.view(-1, 1, 1, 1).to(view.dtype)
        weight = torch.where(kind < self.mix, weight, torch.where(kind < self.mix + self.cut, box, 0.0))
        return torch.lerp(view, view.flip(0), weight), weight.mean(dim=(1, 2, 3))

    @staticmethod
    def uniform(count: int, generator: Generator, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(count, generator=generator, device=generator.device) * (high - low) + low

    def crop(self, images: Tensor, generator: Generator) -> Tensor:
        n = len(images)
        area = self.uniform(n, generator, self.least_area, 1.0)
        root = torch.exp(0.5 * self.uniform(n, generator, -0.2877, 0.2877))  # sqrt of a ratio in 3/4 .. 4/3
        width, height = (area.sqrt() * root).clamp_max(1), (area.sqrt() / root).clamp_max(1)
        flip = torch.where(self.uniform(n, generator) < 0.5, -1.0, 1.0)
        theta = torch.zeros(n, 2, 3, device=images.device)
        theta[:, 0, 0], theta[:, 0, 2] = width * flip, (1 - width) * self.uniform(n, generator, -1, 1)
        theta[:, 1, 1], theta[:, 1, 2] = height, (1 - height) * self.uniform(n, generator, -1, 1)
        grid = F.affine_grid(theta, list(images.shape), align_corners=False)
        return F.grid_sample(images, grid, mode="bilinear", padding_mode="border", align_corners=False)

    def recolour(self, view: Tensor, generator: Generator) -> Tensor:
        low, high = 1 - self.jitter, 1 + self.jitter
        brightness, contrast, saturation = (
            self.uniform(len(view), generator, low, high).view(-1, 1, 1, 1) for _ in range(3)
        )
        weights = torch.tensor([0.299, 0.587, 0.114], device=view.device).view(1, 3, 1, 1)
        view = view * brightness
        grey = (view * weights).sum(1, keepdim=True)
        view = grey + saturation * (view - grey)
        middle = grey.mean(dim=(1, 2, 3), keepdim=True)
        return (middle + contrast * (view - middle)).clamp(0, 1)
