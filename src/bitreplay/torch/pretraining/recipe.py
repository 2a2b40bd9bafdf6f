"""Every setting of a pre-training run, and the defaults for each model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import nn

from bitreplay.torch.models.binarize import BinaryConv2d
from bitreplay.torch.pretraining.augmentation import Augmentation

LIMITS = (
    ("epochs", 1, 10**6),
    ("time_limit", 0, float("inf")),
    ("minibatch", 1, 10**6),
    ("rate", 0, float("inf")),
    ("weight_decay", 0, float("inf")),
    ("first_stage", 0, 1),
    ("label_smoothing", 0, 1),
    ("distill", 0, 1),
    ("temperature", 0.01, 1000),
    ("least_area", 0, 1),
    ("jitter", 0, 1),
    ("mix", 0, 1),
    ("cut", 0, 1),
    ("plain_end", 0, 1),
    ("small_start", 0, 1),
    ("average", 0, 10**6),
    ("held_out", 0, 10**9),
    ("sets", 0, 10**4),
    ("plain_sets", 0, 10**4),
    ("match", 0, 1000),
    ("rounding", 0, 1),
)


@dataclass(frozen=True)
class Recipe:
    """A binary model passes two stages: real weights under binary activations for the share `first_stage` of the way,
    then both binary. Each stage has its own rise and fall of the learning rate and its own optimiser state.

    Weight decay acts on real-valued convolutions and linear layers, and on the weights of binary convolutions in the
    first stage alone: in the second only their sign counts and pulling them to zero would make them flip at random.
    For the share `rounding` of the way, at its end, activations are rounded as the engine rounds them, and the
    replay layer's 1-bit code is in the loop.

    A share `mix` of the views is blended and a share `cut` has a box pasted in, but none in the share `plain_end` at
    the run's end. For the share `small_start` at its beginning views have three quarters of the model's size.
    `average` is the horizon, in epochs, of a running average of the weights; it is kept if it does better than the last
    weights on `held_out` training images, which nothing is trained on.

    A teacher judges every view as it comes, or `sets` fixed sets of views once, and `plain_sets` without blending for
    the share `plain_end`. `match` is the weight of a loss between the model's features and the teacher's.
    """

    model: str
    epochs: int = 120
    time_limit: float | None = None
    minibatch: int = 512
    optimizer: str = "adam"
    rate: float = 1e-3
    rate_shape: str = "linear"
    weight_decay: float = 0.02
    first_stage: float = 0.35
    label_smoothing: float = 0.1
    distill: float = 0.9
    temperature: float = 2.0
    least_area: float = 0.3
    jitter: float = 0.2
    mix: float = 0.0
    cut: float = 0.0
    plain_end: float = 0.0
    small_start: float = 0.0
    average: float = 0.0
    held_out: int = 0
    sets: int = 0
    plain_sets: int = 0
    match: float = 0.0
    rounding: float = 0.2
    seed: int = 0
    compile: str = "auto"

    def __post_init__(self) -> None:
        for name, low, high in LIMITS:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} is {value}; expected a number from {low} to {high}.")
        if self.match and not self.sets:
            raise ValueError(f"match is {self.match} and sets is 0; features are matched on fixed sets of views alone.")
        if (self.sets > 0 and self.plain_end > 0) != (self.plain_sets > 0):
            values = f"sets is {self.sets}, plain_end {self.plain_end}, plain_sets {self.plain_sets}"
            raise ValueError(f"{values}; expected plain_sets where both others are above 0, and only there.")

    def augmentation(self, blended: bool = True) -> Augmentation:
        mix, cut = (self.mix, self.cut) if blended else (0.0, 0.0)
        return Augmentation(self.least_area, self.jitter, mix, cut)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def default_recipe(model: str, **changes: Any) -> Recipe:
    """The recipe of a model, with the changes that are not None."""
    recipe = Recipe(model)
    if model.startswith("teacher"):
        recipe = replace(
            recipe,
            epochs=40,
            optimizer="sgd",
            rate=0.4,
            rate_shape="cosine",
            weight_decay=5e-4,
            first_stage=0.0,
            rounding=0.0,
            least_area=0.25,
        )
    if model == "teacher_wide":
        recipe = replace(
            recipe,
            epochs=64,
            label_smoothing=0.05,
            jitter=0.3,
            mix=0.3,
            cut=0.5,
            plain_end=0.07,
            small_start=0.45,
            average=2.0,
        )
    unknown = [name for name in changes if name not in recipe.as_dict()]
    if unknown:
        raise ValueError(f"A recipe has no {', '.join(unknown)}; it has {', '.join(recipe.as_dict())}.")
    return replace(recipe, **{name: value for name, value in changes.items() if value is not None})


def make_optimizer(model: nn.Module, recipe: Recipe, stage: int) -> torch.optim.Optimizer:
    """Adam with decoupled decay, or SGD with Nesterov momentum. Groups: latent weights, other weights, vectors."""
    latent = [m.weight for m in model.modules() if isinstance(m, BinaryConv2d)]
    latent_ids = {id(p) for p in latent}
    rest = [p for p in model.parameters() if id(p) not in latent_ids]
    groups = [
        {"params": latent, "weight_decay": recipe.weight_decay if stage == 1 else 0.0},
        {"params": [p for p in rest if p.dim() > 1], "weight_decay": recipe.weight_decay},
        {"params": [p for p in rest if p.dim() <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    fused = next(model.parameters()).is_cuda
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=recipe.rate, momentum=0.9, nesterov=True, fused=fused)
    if recipe.optimizer == "adam":
        return torch.optim.AdamW(groups, lr=recipe.rate, fused=fused)
    raise ValueError(f"The optimizer is {recipe.optimizer!r}; expected 'adam' or 'sgd'.")
