"""Settings that fit: those with measured accuracies, best first, with as many samples at once as there is room for.

What does not fit is tried with less memory (`Strategy.with_less_memory`): micro-batches end in the same state and so
have the measured accuracy, smaller minibatches were not measured. With a target it is the learner in C (device.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bitreplay.planning.expected import Expected, expected
from bitreplay.planning.on_device import on_device, plannable
from bitreplay.planning.plan import Plan, plan
from bitreplay.settings import Settings
from bitreplay.strategies import DEFAULT_STRATEGY, STRATEGIES
from bitreplay.zoo import Model


@dataclass(frozen=True)
class Proposal:
    """A plan and what was measured with it; `short` are the bytes that it lacks, 0 if it fits."""

    plan: Plan
    measured: Expected | None
    short: int


def proposals(
    model: Model, classes: int, ram: int | None, flash: int | None, target: str | None = None, size: int | None = None
) -> list[Proposal]:
    """Those that fit, best first; if none does, the one that lacks least. Accuracies were measured at the model's own
    size alone."""
    candidates = _candidates(model, on_device=target is not None)
    if size not in (None, model.size):
        candidates = ((settings.changed(size=size), None) for settings, _ in candidates)
    tried = [_smaller(model, candidate, measured, classes, ram, flash, target) for candidate, measured in candidates]
    fitting = [proposal for proposal in tried if not proposal.short]
    return fitting or [min(tried, key=lambda proposal: proposal.short)]


def _candidates(model: Model, on_device: bool = False) -> Iterator[tuple[Settings, Expected | None]]:
    """Settings with rows, then those that every model allows; `on_device`, of strategies that are planned in C."""
    rows = [row for row in expected(model.name, model.digest) if not on_device or plannable(row.strategy)]
    for row in rows:
        yield row.settings, row
    kinds = [kind for kind in STRATEGIES.values() if kind.proposed and (not on_device or plannable(kind.name))]
    kinds.sort(key=lambda kind: kind.name != DEFAULT_STRATEGY)
    with_rows = {row.strategy for row in rows}
    for kind in kinds:
        if kind.name not in with_rows:
            yield Settings(strategy=kind.name), None
    measured = {row.settings for row in rows}
    for kind in kinds:
        for values in kind.small_settings(model, on_device):
            settings = Settings(strategy=kind.name, **values)
            if settings not in measured:
                yield settings, None


def _smaller(
    model: Model, settings: Settings, measured: Expected | None, classes: int, ram: int | None, flash: int | None,
    target: str | None,
) -> Proposal:  # fmt: skip
    """With fewer samples at once until it fits."""
    for smaller in STRATEGIES[settings.strategy].with_less_memory(settings):
        planned = plan(model, smaller, classes) if target is None else on_device(model, smaller, classes, target)
        short = max(0, planned.ram - ram if ram is not None else 0) + max(
            0, planned.flash - flash if flash is not None else 0
        )
        if not short:
            break
    return Proposal(planned, measured, short)
