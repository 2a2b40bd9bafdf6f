"""ReAct-18: "ReActNet: Towards Precise Binary Neural Network with Generalized Activation Functions" (Liu et al.,
ECCV 2020), its ResNet-18 form, with a stem for 32x32 images or for 64x64.

Block: RSign -> binary 3x3 convolution -> BatchNorm -> add the shortcut -> RPReLU. The replay layer is the raw sum,
before RPReLU. Sign has the derivative 2 - 2|x|; weights are sign(w) mean|w| with the clipped straight-through
gradient; taps outside the map count nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.binarize import BinaryConv2d, RPReLU, RSign
from bitreplay.torch.models.layers import Add, downsample
from bitreplay.torch.models.resnet18_shape import WIDTHS, ResNet18Shape


class ReActBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.sign = RSign(in_channels)
        self.conv = BinaryConv2d(in_channels, out_channels, 3, stride)
        self.norm = nn.BatchNorm2d(out_channels)
        self.shortcut = downsample(in_channels, out_channels) if stride == 2 else nn.Identity()
        self.add = Add()
        self.act = RPReLU(out_channels)

    def start_as_identity(self) -> None:
        """Let the block pass its input on, so that a trained network can grow; learning changes that."""
        nn.init.zeros_(self.norm.weight)
        self.act.start_as_identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.add(self.norm(self.conv(self.sign(x))), self.shortcut(x)))


class ReAct18(ResNet18Shape):
    """Levels: `add_12` (4, 4, 512), first sum of the last group; `add_11` (8, 8, 256), last sum of the third."""

    replay_layers: ClassVar[dict[str, str]] = {"add_12": "blocks.12.add", "add_11": "blocks.11.add"}

    def __init__(self, classes: int = 200, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__(ReActBlock, classes, widths)


class ReAct18At64(ReAct18):
    """ReAct-18 for 64x64 images: behind the stem the same layers, maps and replay layers."""

    input_size: ClassVar[int] = 64
