"""bitreplay plan MODEL: does it fit, and how long does it take?"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated, Any

import typer

from bitreplay import zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.export import TARGETS
from bitreplay.export.targets import BOARDS, CORES, Board
from bitreplay.planning import budget as fitting
from bitreplay.planning.measure import Measurement, measure
from bitreplay.planning.on_device import on_device
from bitreplay.planning.plan import Plan
from bitreplay.planning.plan import plan as planned
from bitreplay.settings import Settings
from bitreplay.strategies import DEFAULT_STRATEGY, STRATEGIES
from bitreplay.strategies.gradient import BATCH_SIZES
from bitreplay.strategies.requirements import FLASH, LATENT_WEIGHTS, LEARNED, RAM

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
MAX_ROWS = 10


def plan(
    model: Annotated[str, typer.Argument(help="A shipped model by name, or a model file.")],
    size: options.Size = None,
    strategy: options.Strategy = None,
    replay_layer: options.ReplayLayer = None,
    classes: Annotated[int, typer.Option(help="Classes that will be learned.", min=1)] = 10,
    memory_per_class: options.MemoryPerClass = None,
    batch_size: Annotated[
        int, typer.Option(help="New samples per minibatch; four times as many are replayed.", min=1)
    ] = 32,
    micro_batch_size: options.MicroBatchSize = None,
    bits: options.Bits = None,
    latent_bits: options.LatentBits = None,
    feature_layers: options.FeatureLayers = None,
    n_components: options.Components = None,
    budget: Annotated[str | None, typer.Option(help="Available RAM, such as 2MB: propose settings that fit.")] = None,
    flash: Annotated[str | None, typer.Option(help="Available flash, such as 2MB.")] = None,
    target: Annotated[
        str | None, typer.Option(help=f"For the learner in C (exact), as in `bitreplay export`: {', '.join(TARGETS)}.")
    ] = None,
    check: Annotated[bool, typer.Option("--measure", help="Also run one experience and compare the bytes.")] = False,
    json: options.Json = False,
) -> None:
    """Compute the flash, RAM and time that a learner needs; with a budget, list the settings that fit, best first."""
    network = zoo.find(model)
    specified = options.settings_in(locals() | {"size": None, "batch_size": None})
    if budget is not None or flash is not None:
        if specified:
            raise ValueError(f"--budget and --flash choose the settings: leave out {', '.join(specified)}.")
        _propose(network, classes, _bytes("budget", budget), _bytes("flash", flash), target, size, json)
        return
    board = BOARDS.get(target or "")
    if board is not None and not specified:
        _propose(network, classes, max(board.ram, board.psram), board.flash, target, size, json)
        return
    settings = Settings.of(**specified)
    settings = settings.changed(batch_size=batch_size, replay_batch_size=4 * batch_size, size=size)
    if target is not None:
        settings = settings.changed(strategy=DEFAULT_STRATEGY) if strategy is None else settings
        if check:
            raise ValueError("--measure runs a learner in Python and cannot be used with --target.")
    plan = planned(network, settings, classes) if target is None else on_device(network, settings, classes, target)
    measured = measure(network, plan) if check else None
    if json:
        show.as_json(plan.to_json() | ({} if measured is None else {"measured": _measured(measured)}))
        return
    show.say(
        _table(plan),
        *_sentences(plan, here=target is None),
        *([] if board is None else [_fits(plan, board)]),
        *([] if measured is None else [_compared(plan, measured)]),
    )


def _bytes(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([A-Za-z]{0,3})\s*", text)
    if match is None or match[2].upper() not in UNITS:
        raise ValueError(f"{name} must be a number of bytes such as 2MB or 512KiB, got {escaped(text)!r}.")
    return int(float(match[1]) * UNITS[match[2].upper()])


def _table(plan: Plan) -> Any:
    rows = []
    for where, title in ((FLASH, "flash"), (RAM, "RAM")):
        parts = [item for item in plan.items if item.where == where and item.bytes]
        rows += [(f"{title}: {item.part}, {item.what}", f"{item.bytes:,}") for item in parts]
        rows.append((f"{title}, total", f"{plan.bytes_in(where):,}"))
    rows.append(("what is learned, as stored", f"{plan.state:,}"))
    if plan.message is not None:
        rows.append(("what a device of a fleet sends, at most", f"{plan.message:,}"))
    rows.append(("model file", f"{plan.model_file:,}"))
    title = f"{plan.model} at {plan.size}x{plan.size}, {plan.settings.strategy}, {plan.classes} classes"
    return show.table(title, ("", "bytes"), rows)


def _sentences(plan: Plan, here: bool) -> list[str]:
    sentences = [
        f"The {part}'s arena is largest at {peak.operation} ({peak.tensor}): {show.size(peak.bytes)}."
        for part, peak in plan.peaks.items()
    ]
    for part, work in plan.work.items():
        kinds = ", ".join(f"{count / 1e6:.1f} M {kind}" for kind, count in work.items() if count)
        sentences.append(f"Work of the {part} per sample: {kinds}.")
    if not plan.work:
        sentences.append(
            f"The strategy {plan.settings.strategy} was run with one picture per class and reports its own bytes."
        )
    if here:
        sentences.append(
            f"Rough estimate on one core ({plan.instruction_set}): {1e3 * plan.picture_seconds:.1f} ms per picture, "
            f"{plan.experience_seconds(100):.1f} s for an experience of 100 pictures."
        )
    if plan.picture_instructions:
        sentences.append(_estimate(plan))
    return sentences


def _estimate(plan: Plan) -> str:
    count = f"{plan.picture_instructions / 1e6:.0f} M instructions"
    seconds = f", {plan.picture_seconds:.2g} s at one a cycle of its clock" if plan.picture_seconds else ""
    return f"Estimate for a picture: {count}{seconds}; not measured on a board."


def _fits(plan: Plan, board: Board) -> str:
    """Whether it fits, and in which of a board's memories."""
    ram, flash = board.ram - plan.ram, board.flash - plan.flash
    if flash < 0:
        return f"It does not fit {board.title}: its flash has {board.flash:,} bytes, {-flash:,} too few."
    if ram >= 0:
        return f"It fits {board.title}: {ram:,} bytes of RAM and {flash:,} of flash are left."
    if plan.ram <= board.psram:
        return f"It fits {board.title} in its PSRAM alone: its RAM has {board.ram:,} bytes in one piece."
    return f"It does not fit {board.title}: its RAM has {board.ram:,} bytes in one piece, {-ram:,} too few."


def _compared(plan: Plan, measured: Measurement) -> Any:
    rows = [
        (f"{part}, {what}", f"{planned_bytes:,}", f"{measured_bytes:,}")
        for part, what, planned_bytes, measured_bytes in compare(plan, measured)
    ]
    rows.append(("what is learned, as stored", f"{plan.state:,}", f"{measured.state:,}"))
    rows.append(("state file, with its header", "", f"{measured.file:,}"))
    rows.append(("ms per picture", f"{1e3 * plan.picture_seconds:.1f}", f"{1e3 * measured.picture_seconds:.1f}"))
    if plan.step_seconds:
        rows.append(("ms per step", f"{1e3 * plan.step_seconds:.1f}", f"{1e3 * measured.step_seconds:.1f}"))
    return show.table("planned and measured", ("", "planned", "measured"), rows)


def compare(plan: Plan, measured: Measurement) -> list[tuple[str, str, int, int]]:
    """Part, what, planned and measured bytes; latent weights are part of what learns."""
    planned_bytes: dict[tuple[str, str], int] = {}
    for item in plan.items:
        if item.where == RAM:
            key = item.part, LEARNED if item.what == LATENT_WEIGHTS else item.what
            planned_bytes[key] = planned_bytes.get(key, 0) + item.bytes
    return [(*key, planned_bytes.get(key, 0), count) for key, count in measured.items.items()]


def _measured(measured: Measurement) -> dict[str, Any]:
    items = [{"part": part, "what": what, "bytes": count} for (part, what), count in measured.items.items()]
    return asdict(measured) | {"items": items}


def _propose(
    model: zoo.Model, classes: int, ram: int | None, flash: int | None, target: str | None, size: int | None, json: bool
) -> None:
    proposals = fitting.proposals(model, classes, ram, flash, target, size)
    if json:
        show.as_json([_proposal(proposal) for proposal in proposals])
        if proposals[0].short:
            raise typer.Exit(1)
        return
    if proposals[0].short:
        raise ValueError(
            _nothing_fits(proposals[0], "" if target else _boards_that_fit(model, classes, ram, flash, size))
        )
    rows = [
        (_settings(proposal.plan), f"{proposal.plan.ram:,}", f"{proposal.plan.flash:,}", _accuracy(proposal, model))
        for proposal in proposals[:MAX_ROWS]
    ]
    side = proposals[0].plan.size
    title = f"{model.name} at {side}x{side}, {classes} classes: what fits, best first"
    best, board = proposals[0].plan, BOARDS.get(target or "")
    said = [] if board is None else [f"With {_settings(best)}: {_fits(best, board)}", _estimate(best)]
    show.say(show.table(title, ("settings", "RAM", "flash", "accuracy, %"), rows), *_notes(proposals[:MAX_ROWS]), *said)


def _nothing_fits(smallest: fitting.Proposal, in_c: str) -> str:
    plan, python = smallest.plan, " in Python" if in_c else ""
    too_many = f"needs {plan.ram:,} bytes of RAM and {plan.flash:,} of flash, {smallest.short:,} too many"
    other = f" The learner in C fits: --target {in_c}." if in_c else ""
    return f"Nothing fits{python}: the smallest, {_settings(plan)}, {too_many}.{other}"


def _boards_that_fit(model: zoo.Model, classes: int, ram: int | None, flash: int | None, size: int | None) -> str:
    """The microcontrollers on which the learner in C fits."""
    boards = [target for target in TARGETS if target in CORES]
    fits = [target for target in boards if not fitting.proposals(model, classes, ram, flash, target, size)[0].short]
    return " or ".join(fits)


def _notes(proposals: list[fitting.Proposal]) -> list[str]:
    sets = {proposal.measured.data for proposal in proposals if proposal.measured}
    notes = ["Accuracies on different sets or with other numbers of pictures do not compare."] if len(sets) > 1 else []
    if any(proposal.plan.settings.micro_batch_size for proposal in proposals):
        notes.append(
            "With a micro-batch size, a minibatch passes in parts: the same state in less memory and twice the time."
        )
    if any(proposal.measured and proposal.plan.settings.batch_size < BATCH_SIZES[0] for proposal in proposals):
        notes.append(f"Accuracies of replay were measured with batch size {BATCH_SIZES[0]}, not with smaller ones.")
    return notes


def _proposal(proposal: fitting.Proposal) -> dict[str, Any]:
    settings, measured = proposal.plan.settings, proposal.measured
    chosen = {
        "memory_per_class": settings.memory_per_class,
        "latent_bits": settings.latent_bits,
        "batch_size": settings.batch_size,
        "micro_batch_size": settings.micro_batch_size,
    }
    return proposal.plan.to_json() | chosen | {
        "short": proposal.short, "expected": None if measured is None else asdict(measured),
    }  # fmt: skip


def _settings(plan: Plan) -> str:
    return STRATEGIES[plan.settings.strategy].summary(plan.settings)


def _accuracy(proposal: fitting.Proposal, model: zoo.Model) -> str:
    measured = proposal.measured
    if measured is None:
        return "not measured"
    weights = "" if model.digest.startswith(measured.digest) else ", older weights"
    return f"{measured.accuracy:.1f} ({measured.data}{weights})"
