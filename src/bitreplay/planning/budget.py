"""Settings that fit: those with measured accuracies, best first, with as many samples at once as there is room for.

A minibatch that does not fit passes in micro-batches, which ends in the same state and so in the measured accuracy.
Where binary weights learn that is not possible, and the minibatch gets smaller, which was not measured. With a target
it is the exact learner in C, as device.py counts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.features import HEAD
from bitreplay.planning.device import on_device
from bitreplay.planning.expected import Expected, expected
from bitreplay.planning.plan import Plan, plan
from bitreplay.settings import Settings
from bitreplay.zoo import Model

BATCH_SIZES = (32, 16, 8, 4, 2, 1)
PARTS = (None, 64, 32, 16, 8, 4, 2, 1)
REPLAYED_PER_NEW = 4


@dataclass(frozen=True)
class Proposal:
    """A plan and what was measured with it; `short` are the bytes that it lacks, 0 if it fits."""

    plan: Plan
    measured: Expected | None
    short: int


def proposals(
    model: Model, classes: int, ram: int | None, flash: int | None, target: str | None = None, size: int | None = None
) -> list[Proposal]:
    """Those that fit, best first; if none does, the one that lacks least. What was measured, was at the model's own
    size."""
    candidates = _candidates(model) if target is None else _candidates_in_c(model)
    if size not in (None, model.size):
        candidates = ((settings.changed(size=size), None) for settings, _ in candidates)
    found = [_smaller(model, candidate, measured, classes, ram, flash, target) for candidate, measured in candidates]
    fitting = [proposal for proposal in found if not proposal.short]
    return fitting or [min(found, key=lambda proposal: proposal.short)]


def _candidates(model: Model) -> Iterator[tuple[Settings, Expected | None]]:
    """What has rows, then what every model can do."""
    found = expected(model.name, model.digest)
    for each in found:
        if each.strategy == "exact":
            yield (
                Settings(
                    strategy="exact",
                    bits=each.bits,
                    feature_layers=each.feature_layers or None,
                    n_components=each.n_components,
                ),
                each,
            )
        else:
            yield (
                Settings(
                    strategy=each.strategy,
                    bits=each.bits,
                    replay_layer=each.replay_layer or None,
                    latent_bits=each.latent_bits,
                    memory_per_class=each.memory_per_class,
                ),
                each,
            )
    with_rows = {each.strategy for each in found}
    for name in ("exact", "replay"):
        if name not in with_rows:
            yield Settings(strategy=name), None
    yield Settings(strategy="exact", feature_layers=model.replay_layers[-1]), None


def _candidates_in_c(model: Model) -> Iterator[tuple[Settings, Expected | None]]:
    """Those by sums, and the fewest layers that a microcontroller may have flash and RAM for."""
    found = [each for each in _candidates(model) if each[0].strategy == "exact"]
    yield from found
    if HEAD not in {settings.feature_layers for settings, _ in found}:
        yield Settings(strategy="exact", feature_layers=HEAD), None


def _smaller(
    model: Model, settings: Settings, measured: Expected | None, classes: int, ram: int | None, flash: int | None,
    target: str | None,
) -> Proposal:  # fmt: skip
    """With fewer samples at once until it fits."""
    for smaller in _smaller_ones(settings):
        found = plan(model, smaller, classes) if target is None else on_device(model, smaller, classes, target)
        short = max(0, found.ram - ram if ram is not None else 0) + max(
            0, found.flash - flash if flash is not None else 0
        )
        if not short:
            break
    return Proposal(found, measured, short)


def _smaller_ones(settings: Settings) -> list[Settings]:
    """The settings, and what may take their place in less memory, the largest first."""
    if settings.strategy == "exact":
        return [settings]
    if isinstance(settings.bits, Bits) and settings.bits.backward_binary == 1:
        return [settings.changed(micro_batch_size=micro_batch_size) for micro_batch_size in PARTS]
    return [settings.changed(batch_size=size, replay_batch_size=REPLAYED_PER_NEW * size) for size in BATCH_SIZES]
