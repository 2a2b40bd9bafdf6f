"""bitreplay plan: will it fit, and how long does it take?"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated, Any

import typer

from bitreplay import zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.export import TARGETS
from bitreplay.planning import budget as fitting
from bitreplay.planning.measure import Taken, measure
from bitreplay.planning.on_device import on_device
from bitreplay.planning.plan import Plan
from bitreplay.planning.plan import plan as planned
from bitreplay.settings import Settings
from bitreplay.strategies import DEFAULT_STRATEGY, STRATEGIES
from bitreplay.strategies.gradient import BATCH_SIZES
from bitreplay.strategies.requirements import FLASH, LATENT_WEIGHTS, LEARNED, RAM

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
SHOWN = 10


def plan(
    model: Annotated[str, typer.Argument(help="A shipped model by name, or a model file.")],
    size: options.Size = None,
    strategy: options.Strategy = None,
    replay_layer: options.ReplayLayer = None,
    classes: Annotated[int, typer.Option(help="Classes that will be learned.", min=1)] = 10,
    memory_per_class: options.MemoryPerClass = None,
    batch_size: Annotated[
        int, typer.Option(help="New samples of a minibatch; four times as many are replayed.", min=1)
    ] = 32,
    micro_batch_size: options.MicroBatchSize = None,
    bits: options.Bits = None,
    latent_bits: options.LatentBits = None,
    feature_layers: options.FeatureLayers = None,
    n_components: options.Components = None,
    budget: Annotated[str | None, typer.Option(help="RAM that there is, such as 2MB: propose what fits.")] = None,
    flash: Annotated[str | None, typer.Option(help="Flash that there is, such as 2MB.")] = None,
    target: Annotated[
        str | None, typer.Option(help=f"Of the learner in C, by sums: {', '.join(TARGETS)}; as `bitreplay export`.")
    ] = None,
    check: Annotated[bool, typer.Option("--measure", help="Run one experience too, and compare the bytes.")] = False,
    json: options.Json = False,
) -> None:
    """Flash and RAM of a learner before anything runs; with a budget, the settings that fit, best first."""
    found = zoo.find(model)
    given = options.given(
        strategy=strategy,
        replay_layer=replay_layer,
        memory_per_class=memory_per_class,
        bits=bits,
        latent_bits=latent_bits,
        feature_layers=feature_layers,
        n_components=n_components,
        micro_batch_size=micro_batch_size,
    )
    if budget is not None or flash is not None:
        if given:
            raise ValueError(f"What fits a budget is proposed: leave out {', '.join(given)}.")
        _propose(found, classes, _bytes("budget", budget), _bytes("flash", flash), target, size, json)
        return
    settings = Settings.of(**given)
    settings = settings.changed(batch_size=batch_size, replay_batch_size=4 * batch_size, size=size)
    if target is not None:
        settings = settings.changed(strategy=DEFAULT_STRATEGY) if strategy is None else settings
        if check:
            raise ValueError("--measure runs a learner in Python; it does not go with --target.")
    made = planned(found, settings, classes) if target is None else on_device(found, settings, classes, target)
    taken = measure(found, made) if check else None
    if json:
        show.as_json(made.to_json() | ({} if taken is None else {"measured": _measured(taken)}))
        return
    show.say(_table(made), *_sentences(made, here=target is None), *([] if taken is None else [_compared(made, taken)]))


def _bytes(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([A-Za-z]{0,3})\s*", text)
    if match is None or match[2].upper() not in UNITS:
        raise ValueError(f"{name} must be a number of bytes such as 2MB or 512KiB, got {escaped(text)!r}.")
    return int(float(match[1]) * UNITS[match[2].upper()])


def _table(made: Plan) -> Any:
    rows = []
    for where, title in ((FLASH, "flash"), (RAM, "RAM")):
        parts = [item for item in made.items if item.where == where and item.bytes]
        rows += [(f"{title}: {item.part}, {item.what}", f"{item.bytes:,}") for item in parts]
        rows.append((f"{title} in all", f"{made.of(where):,}"))
    rows += [("what is learned, as stored", f"{made.state:,}"), ("model file", f"{made.model_file:,}")]
    title = f"{made.model} at {made.size}x{made.size}, {made.settings.strategy}, {made.classes} classes"
    return show.table(title, ("", "bytes"), rows)


def _sentences(made: Plan, here: bool) -> list[str]:
    found = [f"The arena of the {part} is fullest at {most.operation} ({most.tensor}): {show.size(most.bytes)}."
             for part, most in made.most.items()]  # fmt: skip
    for part, work in made.work.items():
        kinds = ", ".join(f"{count / 1e6:.1f} M {kind}" for kind, count in work.items() if count)
        found.append(f"The {part} does for one sample: {kinds}.")
    if not made.work:
        found.append(
            f"The strategy {made.settings.strategy} was tried with one picture a class, and says itself what it takes."
        )
    if here:
        found.append(
            f"Estimated on one core ({made.instruction_set}), roughly: {1e3 * made.picture_seconds:.1f} ms a picture, "
            f"{made.experience_seconds(100):.1f} s for an experience of 100 pictures."
        )
    return found


def _compared(made: Plan, taken: Taken) -> Any:
    rows = [(f"{part}, {what}", f"{there:,}", f"{count:,}") for part, what, there, count in compared(made, taken)]
    rows.append(("what is learned, as stored", f"{made.state:,}", f"{taken.state:,}"))
    rows.append(("state file, with its header", "", f"{taken.file:,}"))
    rows.append(("ms a picture", f"{1e3 * made.picture_seconds:.1f}", f"{1e3 * taken.picture_seconds:.1f}"))
    if made.step_seconds:
        rows.append(("ms a step", f"{1e3 * made.step_seconds:.1f}", f"{1e3 * taken.step_seconds:.1f}"))
    return show.table("planned and taken", ("", "planned", "taken"), rows)


def compared(made: Plan, taken: Taken) -> list[tuple[str, str, int, int]]:
    """Part, what, planned and taken bytes; latent weights are part of what learns."""
    want: dict[tuple[str, str], int] = {}
    for item in made.items:
        if item.where == RAM:
            key = item.part, LEARNED if item.what == LATENT_WEIGHTS else item.what
            want[key] = want.get(key, 0) + item.bytes
    return [(*key, want.get(key, 0), count) for key, count in taken.items.items()]


def _measured(taken: Taken) -> dict[str, Any]:
    items = [{"part": part, "what": what, "bytes": count} for (part, what), count in taken.items.items()]
    return asdict(taken) | {"items": items}


def _propose(
    model: zoo.Model, classes: int, ram: int | None, flash: int | None, target: str | None, size: int | None, json: bool
) -> None:
    found = fitting.proposals(model, classes, ram, flash, target, size)
    if json:
        show.as_json([_proposal(proposal) for proposal in found])
        if found[0].short:
            raise typer.Exit(1)
        return
    if found[0].short:
        raise ValueError(_nothing(found[0], "" if target else _in_c(model, classes, ram, flash, size)))
    rows = [
        (_settings(proposal.plan), f"{proposal.plan.ram:,}", f"{proposal.plan.flash:,}", _accuracy(proposal, model))
        for proposal in found[:SHOWN]
    ]
    side = found[0].plan.size
    title = f"{model.name} at {side}x{side}, {classes} classes: what fits, best first"
    show.say(show.table(title, ("settings", "RAM", "flash", "accuracy, %"), rows), *_notes(found[:SHOWN]))


def _nothing(least: fitting.Proposal, in_c: str) -> str:
    made, python = least.plan, " as Python runs it" if in_c else ""
    too_many = f"takes {made.ram:,} bytes of RAM and {made.flash:,} of flash, {least.short:,} too many"
    other = f" The learner in C does fit: --target {in_c}." if in_c else ""
    return f"Nothing fits{python}: the smallest, {_settings(made)}, {too_many}.{other}"


def _in_c(model: zoo.Model, classes: int, ram: int | None, flash: int | None, size: int | None) -> str:
    """The microcontrollers that the learner in C does fit."""
    boards = [target for target in TARGETS if target.startswith("cortex")]
    fits = [target for target in boards if not fitting.proposals(model, classes, ram, flash, target, size)[0].short]
    return " or ".join(fits)


def _notes(found: list[fitting.Proposal]) -> list[str]:
    sets = {each.measured.data for each in found if each.measured}
    notes = ["Only accuracies of one set and as many pictures compare."] if len(sets) > 1 else []
    if any(each.plan.settings.micro_batch_size for each in found):
        notes.append(
            "With a micro-batch size a minibatch passes in parts: the same state in less memory, in twice the time."
        )
    if any(each.measured and each.plan.settings.batch_size < BATCH_SIZES[0] for each in found):
        notes.append(f"Accuracies of replay were measured with {BATCH_SIZES[0]} new samples; fewer were not tried.")
    return notes


def _proposal(found: fitting.Proposal) -> dict[str, Any]:
    settings, measured = found.plan.settings, found.measured
    chosen = {
        "memory_per_class": settings.memory_per_class,
        "latent_bits": settings.latent_bits,
        "batch_size": settings.batch_size,
        "micro_batch_size": settings.micro_batch_size,
    }
    return found.plan.to_json() | chosen | {
        "short": found.short, "expected": None if measured is None else asdict(measured),
    }  # fmt: skip


def _settings(made: Plan) -> str:
    return STRATEGIES[made.settings.strategy].summary(made.settings)


def _accuracy(proposal: fitting.Proposal, model: zoo.Model) -> str:
    found = proposal.measured
    if found is None:
        return "not measured"
    weights = "" if model.digest.startswith(found.digest) else ", older weights"
    return f"{found.accuracy:.1f} ({found.data}{weights})"
