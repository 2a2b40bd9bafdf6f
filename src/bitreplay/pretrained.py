"""From a model file and settings to the parts of a learner; from a state to the model that it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.backbone import Backbone
from bitreplay.engine.compiler import Bits
from bitreplay.engine.program import ProgramError
from bitreplay.modelfile import ModelFileError
from bitreplay.replay import ReplayMemory
from bitreplay.settings import FLOAT, Settings
from bitreplay.state import State
from bitreplay.statefile import Content, StateFileError
from bitreplay.tail import Tail
from bitreplay.told import told
from bitreplay.views import crop_and_flip
from bitreplay.zoo import Model, find, find_by_digest

FIRST_CAPACITY = 16
Augment = Callable[[NDArray[np.uint8], int], NDArray[np.uint8]]


class TailLike(Protocol):
    """What the loop needs of a tail: bitreplay.tail.Tail, or its twin in floating point."""

    steps: int
    feature_power: Fraction

    @property
    def head_weights(self) -> NDArray[np.int32]: ...
    def load_head(self, weights: NDArray[np.int32], active: NDArray[np.uint8]) -> None: ...
    def step(self, codes: NDArray[np.uint64], labels: NDArray[np.int32], rate: Fraction) -> NDArray[np.int32]: ...
    def logits(self, codes: NDArray[np.uint64]) -> NDArray: ...
    def resized(self, classes: int) -> Any: ...
    def tensors(self) -> dict[str, NDArray]: ...
    def restore(self, tensors: dict[str, NDArray], steps: int) -> None: ...


def build(
    model: Model, settings: Settings, capacity: int = FIRST_CAPACITY
) -> tuple[Backbone, TailLike, ReplayMemory, Settings, Augment | None]:
    """The arguments of a Learner."""
    level = _level(model, settings.level)
    try:
        return _build(model, level, settings, capacity)
    except ProgramError as error:
        told = f"bits {settings.bits}, codes of {settings.code_bits} bits"
        raise ModelFileError(f"{model.path} cannot be used at level {level} with {told}: {error}.") from None


def _level(model: Model, name: str | None) -> str:
    """The level that was asked for, or the last one; the picture must be what door.py makes."""
    height, width, colours = model.graph.input_shape
    if height != width or colours != 3:
        raise ModelFileError(
            f"{model.path} reads pictures of {height}x{width}x{colours}; expected squares of 3 colours."
        )
    if not model.levels:
        raise ModelFileError(f"{model.path} has no replay level, so nothing can be learned with it.")
    if name is not None and name not in model.levels:
        raise ValueError(f"{model.name} has no level {told(name)}; expected {' or '.join(model.levels)}.")
    return name or model.levels[-1]


def _build(
    model: Model, level: str, settings: Settings, capacity: int
) -> tuple[Backbone, TailLike, ReplayMemory, Settings, Augment | None]:
    graph, code_bits = model.graph, settings.code_bits
    train = "head" if settings.strategy == "cwr" else "tail"
    tail: TailLike
    if settings.bits == FLOAT:
        bits, tail = Bits(), _float_tail(graph, level, capacity, code_bits=code_bits, train=train)
    else:
        assert isinstance(settings.bits, Bits)
        bits = settings.bits
        tail = Tail(graph, level, bits, capacity, settings.minibatch, code_bits=code_bits, train=train,
                    seed=settings.seed)  # fmt: skip
    backbone = Backbone(graph, level, bits, code_bits)
    memory = ReplayMemory(settings.per_class, backbone.code_shape, settings.seed)
    augment = partial(_view, settings.seed) if settings.augment else None
    return backbone, tail, memory, settings, augment


def model_of(content: Content, model: str | Path | Model | None, path: str | Path) -> Model:
    """The model that a state belongs to: the one given, or else the shipped one with its checksum."""
    if model is None:
        found = find_by_digest(content.model, content.digest)
        if found is None:
            raise StateFileError(
                f"{path} belongs to the model {content.model} with checksum {content.digest[:12]}, which is not among "
                "those shipped; name its file."
            )
        return found
    given = model if isinstance(model, Model) else find(model)
    if given.digest != content.digest:
        raise StateFileError(
            f"{path} belongs to the model {content.model} with checksum {content.digest[:12]}, not to {given.name} "
            f"with {given.digest[:12]}."
        )
    return given


def check_fit(state: State, tail: TailLike, memory: ReplayMemory, path: str | Path) -> None:
    """Refuse a state whose arrays are not those of the model."""
    expected = {name: (values.dtype, values.shape) for name, values in tail.tensors().items()}
    found = {name: (values.dtype, values.shape) for name, values in state.tensors.items()}
    fits = expected == found and state.consolidated_weights.shape == tail.head_weights.shape
    for reservoir in state.kept.values():
        fits = fits and reservoir.codes.shape[1:] == memory.sample_shape and len(reservoir) <= memory.per_class
    if not fits:
        raise StateFileError(f"{path} does not fit its model: its arrays have other names or shapes.")


def _view(seed: int, images: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    return crop_and_flip(images, seed, step)


def _float_tail(*arguments: Any, **named: Any) -> TailLike:
    try:
        from bitreplay.torch.float_learner import FloatStepper
    except ImportError:
        raise ValueError("bits float needs torch: install bitreplay[torch].") from None
    return FloatStepper(*arguments, **named)
