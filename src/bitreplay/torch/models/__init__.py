"""The models by name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from torch import nn

from bitreplay.torch.models.bireal18 import BiReal18
from bitreplay.torch.models.efficientnet_lite import EfficientNetLite0
from bitreplay.torch.models.efficientnet_tiny import EfficientNetTiny
from bitreplay.torch.models.quicknet import QuickNet, QuickNetLarge
from bitreplay.torch.models.react18 import ReAct18, ReAct18At64
from bitreplay.torch.models.react_tiny import ReActTiny
from bitreplay.torch.models.teacher import Teacher18
from bitreplay.torch.models.teacher_wide import TeacherWide
from bitreplay.torch.models.vgg_small import VggSmall

MODELS: dict[str, type[nn.Module]] = {
    "bireal18": BiReal18,
    "react18": ReAct18,
    "react18_64": ReAct18At64,
    "react_tiny": ReActTiny,
    "vgg_small": VggSmall,
    "quicknet": QuickNet,
    "quicknet_large": QuickNetLarge,
    "efficientnet_lite0": EfficientNetLite0,
    "efficientnet_tiny": EfficientNetTiny,
}
TEACHERS: dict[str, type[nn.Module]] = {"teacher18": Teacher18, "teacher_wide": TeacherWide}
MIN_WIDTH = 4


def input_size(name: str) -> int:
    """The side of the square images that the model of this name reads."""
    return int(known(name).input_size)  # type: ignore[attr-defined]


def known(name: str) -> type[nn.Module]:
    every = MODELS | TEACHERS
    if name not in every:
        raise ValueError(f"There is no model {name!r}; expected one of {', '.join(every)}.")
    return every[name]


def build(name: str, classes: int = 200, **options: Any) -> nn.Module:
    """A model or a teacher by name, with fresh weights."""
    if "widths" in options:
        check_widths(name, options["widths"])
    return known(name)(classes, **options)


def check_widths(name: str, widths: Sequence[int]) -> None:
    """One width for each group of layers, at least MIN_WIDTH: stems divide the first one by up to 4."""
    groups = len(inspect.signature(known(name)).parameters["widths"].default)
    if len(widths) != groups or min(widths) < MIN_WIDTH:
        listed = " ".join(map(str, widths))
        raise ValueError(f"The widths of {name} are {listed}; expected {groups} integers of at least {MIN_WIDTH}.")
