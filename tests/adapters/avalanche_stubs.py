"""What Avalanche imports and is not used here, so that its tests need neither one build of torch nor a web service.

torchvision's wheels are compiled for one build of torch; with another its operators are missing, and it does not import
unless those that it registers on import are declared. wandb is imported for a type.
"""

import sys
from importlib.util import find_spec
from types import ModuleType

import torch

OPERATORS = ("nms", "qnms")
_library = torch.library.Library("torchvision", "FRAGMENT")


def declare() -> None:
    for name in OPERATORS:
        if not hasattr(torch.ops.torchvision, name):
            _library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    if find_spec("wandb") is None:
        sys.modules["wandb"] = ModuleType("wandb")
