"""From a model and settings to a strategy that has learned nothing; from a state to the model that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bitreplay.arguments import escaped, short_repr
from bitreplay.engine.program import ProgramError
from bitreplay.modelfile import ModelFileError
from bitreplay.parts.state import State
from bitreplay.settings import Settings
from bitreplay.statefile import Content, StateFileError
from bitreplay.strategies import STRATEGIES, Strategy, StrategyContext
from bitreplay.zoo import Model, find, find_by_digest
from bitreplay.zoo.fetching import hint, title_of_digest


def build(model: Model, settings: Settings, state: State | None = None, device: str = "cpu") -> Strategy:
    """The strategy that the settings name, with room for what a state holds."""
    context = context_of(model, settings, device)
    try:
        return STRATEGIES[settings.strategy].on(context, state)
    except ProgramError as error:
        usage = STRATEGIES[settings.strategy].usage(context)
        raise ModelFileError(f"{model.path} cannot be used {usage}: {error}.") from None


def context_of(model: Model, settings: Settings, device: str = "cpu") -> StrategyContext:
    """Model and settings, checked: the replay layer exists, and images are those that fitting.py makes. The model's own
    size is left out of the settings, so that a state has one sequence of bytes."""
    height, width, colours = model.graph.input_shape
    if height != width or colours != 3:
        raise ModelFileError(
            f"{model.path} reads images of {height}x{width}x{colours}; expected squares with 3 channels."
        )
    if not model.replay_layers:
        raise ModelFileError(f"{model.path} has no replay layer, so nothing can be learned with it.")
    name = settings.replay_layer
    if name is not None and name not in model.replay_layers:
        raise ValueError(
            f"{model.name} has no replay layer {short_repr(name)}; expected {' or '.join(model.replay_layers)}."
        )
    if settings.size == model.size:
        settings = settings.changed(size=None)
    return StrategyContext(model, name or model.replay_layers[-1], settings, device)


def strategy_of(content: Content, model: Model, title: str | Path) -> Strategy:
    """The strategy that a state was learned by, as it was."""
    try:
        strategy = build(model, content.settings, content.state)
        strategy.load_state(content.state)
    except ModelFileError:
        raise
    except ValueError as error:
        raise StateFileError(f"{title} does not fit its model: {error}") from None
    return strategy


def model_of(content: Content, model: str | Path | Model | None, path: str | Path) -> Model:
    """The model that a state belongs to: the one given, or else the shipped one with its checksum."""
    description = f"the model {escaped(content.model)[:60]} with checksum {escaped(content.digest)[:12]}"
    if model is None:
        shipped = find_by_digest(content.model, content.digest)
        if shipped is None:
            title = title_of_digest(content.digest)
            remedy = "which is not among those shipped; name its file as `model`" if title is None else hint(title)
            raise StateFileError(f"{path} belongs to {description}{',' if title is None else ':'} {remedy}.")
        return shipped
    named = model if isinstance(model, Model) else find(model)
    if named.digest != content.digest:
        other = f"{path} belongs to {description}, not to {named.name} with {named.digest[:12]}"
        raise StateFileError(f"{other}; another model needs a state of its own.")
    return named


def sized(content: Content, title: str | Path) -> Content:
    """With the size of its images, which files of formats 1 and 2 leave out if it is the model's own."""
    if content.size is not None:
        return content
    model = find_by_digest(content.model, content.digest)
    if model is None:
        raise StateFileError(f"{title} does not name the size of its images: load it with its model, and save it.")
    return replace(content, size=model.size)
