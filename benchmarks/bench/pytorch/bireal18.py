"""Bi-Real-18 and its tail as PyTorch runs them: binary weights are ordinary convolutions where they do not learn."""

from __future__ import annotations

from torch import Tensor, nn

from bitreplay.torch.models.binarize import PolynomialSign
from bitreplay.torch.models.bireal18 import BiRealBlock
from bitreplay.torch.models.layers import Add, GlobalAveragePool, downsample
from bitreplay.torch.models.resnet18_shape import ResNet18Shape

TAIL_BLOCKS, TAIL_SHAPE = 3, (512, 4, 4)  # behind the replay layer add_12


class FrozenBlock(nn.Module):
    """Bi-Real's block with random signs as weights, which are made once and do not learn."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.sign, self.norm, self.add = PolynomialSign(), nn.BatchNorm2d(out_channels), Add()
        self.conv = frozen_conv(in_channels, out_channels, stride)
        self.shortcut = downsample(in_channels, out_channels) if stride == 2 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.add(self.norm(self.conv(self.sign(x))), self.shortcut(x))


def frozen_conv(in_channels: int, out_channels: int, stride: int) -> nn.Conv2d:
    conv = nn.Conv2d(in_channels, out_channels, 3, stride, 1, bias=False)
    conv.weight.requires_grad_(False).ge_(0).sub_(0.5).mul_(2 * (9 * in_channels) ** -0.5)
    return conv


def network(classes: int = 200) -> nn.Module:
    """Images (N, 3, 32, 32) -> logits."""
    return ResNet18Shape(FrozenBlock, classes).eval()


def tail(classes: int, train_weights: bool) -> nn.Module:
    """(N, 512, 4, 4) -> logits; gamma, beta and the head learn, and with `train_weights` the binary weights too."""
    channels = TAIL_SHAPE[0]
    kind = BiRealBlock if train_weights else FrozenBlock
    blocks = [kind(channels, channels, 1) for _ in range(TAIL_BLOCKS)]
    return nn.Sequential(*blocks, GlobalAveragePool(), nn.Linear(channels, classes)).eval()
