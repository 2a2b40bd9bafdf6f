"""bitreplay export MODEL --out DIR: what a device without Python is built from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, show
from bitreplay.export import TARGETS, write_folder
from bitreplay.learner import Learner


def export(
    model: Annotated[str, typer.Argument(help="A shipped model by name, or a model file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder to write.", show_default=False)],
    strategy: Annotated[str, typer.Option(help="How the device learns: exact.")] = "exact",
    numbers: options.Numbers = None,
    bits: options.Bits = None,
    classes: Annotated[int, typer.Option(help="Room for so many classes.")] = 16,
    target: Annotated[str, typer.Option(help=f"What it is for: {', '.join(TARGETS)}.")] = "linux",
    digests: Annotated[bool, typer.Option(help="Unlearn refuses what was never learned.")] = False,
    exact_forget: Annotated[bool, typer.Option(help="Forget a class as if it had never been seen.")] = False,
    unknown: Annotated[float, typer.Option(help='Share of known pictures that may be "unknown"; 0 is never.')] = 0,
    json: options.Json = False,
) -> None:
    """Write a model for the learner in C: one file, the same as a C array, sizes for the linker, a main that runs."""
    given = {"numbers": numbers, "bits": bits}
    kept = {"digests": digests, "exact_forget": exact_forget, "unknown": unknown}
    chosen = {name: value for name, value in given.items() if value is not None} | kept
    about = write_folder(Learner.from_pretrained(model, strategy=strategy, **chosen), out, classes, target)
    if json:
        show.as_json({"out": str(out), **about})
        return
    taken = about["bytes"]
    show.say(
        f"{out} has {about['model']} for {target}: {taken['model']} bytes of model, {taken['learner']} bytes of RAM "
        f"for {classes} classes (network {taken['network']}, state {taken['state']}, answers {taken['answers']}, work "
        f"{taken['work']}). main.c prints {about['main_prints'][:16]}..., docs/c.md says how to build it."
    )
