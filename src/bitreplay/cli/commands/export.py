"""bitreplay export MODEL --out DIR: a model for the learner in C, or the one that a state belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay.cli import options, show
from bitreplay.export import TARGETS, c_learners, write_folder
from bitreplay.export.packages import PACKAGES, write_package
from bitreplay.export.targets import BOARDS
from bitreplay.learner import Learner
from bitreplay.sections import MAGIC
from bitreplay.strategies import DEFAULT_STRATEGY


def export(
    model: Annotated[
        str,
        typer.Argument(
            help="A shipped model by name, a model file, or a state: its model and settings.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write.", show_default=False)],
    size: options.Size = None,
    strategy: Annotated[
        str | None,
        typer.Option(help=f"How the device learns: {', '.join(c_learners())}.", show_default=DEFAULT_STRATEGY),
    ] = None,
    feature_layers: options.FeatureLayers = None,
    n_components: options.Components = None,
    bits: options.Bits = None,
    memory_per_class: options.MemoryPerClass = None,
    batch_size: Annotated[
        int | None, typer.Option(help="For replay: new samples per minibatch.", show_default="32")
    ] = None,
    replay_batch_size: Annotated[
        int | None, typer.Option(help="For replay: replayed samples per minibatch.", show_default="128")
    ] = None,
    samples: Annotated[int, typer.Option(help="For replay: pictures per experience to reserve memory for.")] = 64,
    classes: Annotated[int, typer.Option(help="Classes to reserve memory for.")] = 16,
    target: Annotated[str, typer.Option(help=f"Device: {', '.join(TARGETS)}.")] = "linux",
    package: Annotated[
        str | None,
        typer.Option(
            help=f"With the learner's sources, in the layout of {', '.join(PACKAGES)}; the target is a board."
        ),
    ] = None,
    digests: Annotated[
        bool, typer.Option(help="For exact: let unlearn refuse pictures that were never learned.")
    ] = False,
    exact_forget: Annotated[
        bool, typer.Option(help="For exact: forget a class as if it had never been learned.")
    ] = False,
    unknown: Annotated[float, typer.Option(help='Share of known pictures that may be called "unknown"; 0: none.')] = 0,
    json: options.Json = False,
) -> None:
    """Write a model for the learner in C: as one file and as a C array, with its sizes and an example main.c."""
    given = {"digests": digests or None, "exact_forget": exact_forget or None, "unknown": unknown or None}
    specified = options.settings_in(locals() | given)
    learner = _of_state(Path(model), specified, classes) or Learner.from_pretrained(
        model, **({"strategy": DEFAULT_STRATEGY} | specified)
    )
    try:
        if package is None:
            summary = write_folder(learner, out, classes, target, samples)
        else:
            summary = write_package(package, learner, out, classes, target, samples)
    except OSError as error:
        raise ValueError(f"{out} cannot be written: {error.strerror}.") from None
    if json:
        show.as_json({"out": str(out), **summary})
    else:
        show.say(_sentences(out, summary, classes, target, package))


def _sentences(out: Path, summary: dict[str, Any], classes: int, target: str, package: str | None) -> str:
    sizes, side = dict(summary["bytes"]), summary["size"]
    flash, ram = sizes.pop("model"), sizes.pop("learner")
    parts = ", ".join(f"{name} {size}" for name, size in sizes.items())
    written = (
        f"{out} has {summary['model']} at {side}x{side} for {target}: {flash} bytes of model, {ram} bytes of RAM for "
        f"{classes} classes ({parts})."
    )
    if package is not None:
        return f"{written} It is a package for {package}; docs/boards.md says how to use it."
    pages = {"linux": "docs/c.md", "wasm": "docs/page.md"} | dict.fromkeys(BOARDS, "docs/boards.md")
    page = pages.get(target, "docs/microcontrollers.md")
    return f"{written} main.c prints {summary['main_prints'][:16]}..., {page} says how to build it."


def _of_state(path: Path, specified: dict[str, Any], classes: int) -> Learner | None:
    """A learner that has learned nothing, for a device that the state is pushed to; None of what is no state."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
    learned = Learner.load(path)
    if specified:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in specified)
        raise ValueError(f"{path} is a state and has its own settings: leave out {names}.")
    if len(learned.labels) > classes:
        raise ValueError(f"{path} has {len(learned.labels)} classes, got --classes {classes}.")
    assert learned.model is not None
    return Learner.from_pretrained(learned.model, learned.settings)
