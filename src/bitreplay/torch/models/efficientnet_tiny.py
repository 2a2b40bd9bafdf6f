"""EfficientNet-Tiny: the first half of EfficientNet-Lite0, thinned, for microcontrollers.

Most weights of EfficientNet-Lite0 lie behind its third bottleneck of 80 channels: up to there it has 7 % of them, and
maps of a sixteenth of the picture's side. The features of this network are what the next bottleneck makes of these
maps before it narrows again: the means over pixels of its inner channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from bitreplay.torch.models.efficientnet_lite import STAGES, InvertedBottleneck, convolution
from bitreplay.torch.models.layers import GlobalAveragePool

THINNED = (6, 7)  # bottlenecks with `inner` channels inside; those before them have six times their width
TOP_OF = 8  # the bottleneck of EfficientNet-Lite0 whose inner channels are the top here


class EfficientNetTiny(nn.Module):
    """`widths` are those of the stem, of four stages, and of the inner channels of the last bottlenecks and the top.

    Level: `add_3` (4, 4, 80 at 64), the last sum; the top comes after it.
    """

    input_size: int = 64
    replay_layers: ClassVar[dict[str, str]] = {"add_3": "blocks.7.add"}
    inherits: ClassVar[str] = "efficientnet_lite0"

    def __init__(self, classes: int = 200, widths: Sequence[int] = (32, 16, 24, 40, 80, 256), size: int = 64) -> None:
        super().__init__()
        self.input_size = size
        channels, *stages, inner = widths
        self.stem, self.clip_stem = convolution(3, channels, 3, 2), nn.ReLU6()
        blocks: list[nn.Module] = []
        for (depth, kernel, stride, expansion, _), width in zip(STAGES, stages, strict=False):
            for k in range(depth):
                given = inner if len(blocks) in THINNED else channels * expansion
                blocks.append(InvertedBottleneck(channels, width, kernel, 1 if k else stride, given, shortcut=k > 0))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.top, self.clip_top = convolution(channels, inner), nn.ReLU6()
        self.depthwise, self.clip_depthwise = convolution(inner, inner, 5, groups=inner), nn.ReLU6()
        self.pool, self.head = GlobalAveragePool(), nn.Linear(inner, classes)

    def features(self, view: Tensor) -> Tensor:
        """(N, features): what enters the head."""
        x = self.blocks(self.clip_stem(self.stem(view)))
        return self.pool(self.clip_depthwise(self.depthwise(self.clip_top(self.top(x)))))

    def forward(self, view: Tensor) -> Tensor:
        return self.head(self.features(view))

    def inherited(self, lite0: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights to begin with, out of those of EfficientNet-Lite0: all but the head's. Of the inner channels those
        stay that weigh most in what the bottleneck makes of them."""
        found = {}
        for key, mine in self.state_dict().items():
            if key.startswith("head."):
                continue
            block, inside, of = _place(key)
            given = lite0[f"blocks.{block}.{inside}.{of}" if block is not None else key]
            if block in (*THINNED, TOP_OF) and given.shape != mine.shape:
                kept = strongest(lite0, f"blocks.{block}", self.head.in_features)
                if inside == "project" and given.dim() > 1:
                    given = given[:, kept]
                elif inside != "project":
                    given = given[kept]
            found[key] = given
        return found


def _place(key: str) -> tuple[int | None, str, str]:
    """The bottleneck of EfficientNet-Lite0 that a tensor of this network is of, the module there, and the rest."""
    first, _, rest = key.partition(".")
    if first == "blocks":
        block, inside, of = rest.split(".", 2)
        return int(block), inside, of
    if first in ("top", "depthwise"):
        return TOP_OF, {"top": "expand"}.get(first, first), rest
    return None, first, rest


def strongest(weights: Mapping[str, Tensor], block: str, count: int) -> Tensor:
    """Of a bottleneck's inner channels the `count` with the largest scale times weight behind them, in order."""
    behind = weights[f"{block}.project.0.weight"].float().flatten(1).norm(dim=0)
    strength = weights[f"{block}.depthwise.1.weight"].float().abs() * behind
    return torch.sort(torch.sort(strength, descending=True, stable=True).indices[:count]).values
