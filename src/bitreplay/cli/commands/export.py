"""bitreplay export MODEL --out DIR: what a device without Python is built from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, show
from bitreplay.export import TARGETS, c_learners, write_folder
from bitreplay.learner import Learner
from bitreplay.strategies import DEFAULT_STRATEGY


def export(
    model: Annotated[str, typer.Argument(help="A shipped model by name, or a model file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder to write.", show_default=False)],
    size: options.Size = None,
    strategy: Annotated[
        str, typer.Option(help=f"How the device learns: {', '.join(c_learners())}.")
    ] = DEFAULT_STRATEGY,
    feature_layers: options.FeatureLayers = None,
    n_components: options.Components = None,
    bits: options.Bits = None,
    memory_per_class: options.MemoryPerClass = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Of replay: new samples of a minibatch.", show_default="32")
    ] = None,
    replay_batch_size: Annotated[
        int | None, typer.Option(help="Of replay: its replayed ones.", show_default="128")
    ] = None,
    samples: Annotated[int, typer.Option(help="Of replay: room for so many pictures of an experience.")] = 64,
    classes: Annotated[int, typer.Option(help="Room for so many classes.")] = 16,
    target: Annotated[str, typer.Option(help=f"What it is for: {', '.join(TARGETS)}.")] = "linux",
    digests: Annotated[bool, typer.Option(help="Unlearn refuses what was never learned.")] = False,
    exact_forget: Annotated[bool, typer.Option(help="Forget a class as if it had never been seen.")] = False,
    unknown: Annotated[float, typer.Option(help='Share of known pictures that may be "unknown"; 0 is never.')] = 0,
    json: options.Json = False,
) -> None:
    """Write a model for the learner in C: one file, the same as a C array, sizes for the linker, a main that runs."""
    given = options.given(
        size=size,
        feature_layers=feature_layers,
        n_components=n_components,
        bits=bits,
        memory_per_class=memory_per_class,
        batch_size=batch_size,
        replay_batch_size=replay_batch_size,
    )
    kept = {"digests": digests, "exact_forget": exact_forget, "unknown": unknown}
    learner = Learner.from_pretrained(model, strategy=strategy, **(given | kept))
    try:
        about = write_folder(learner, out, classes, target, samples)
    except OSError as error:
        raise ValueError(f"{out} cannot be written: {error.strerror}.") from None
    if json:
        show.as_json({"out": str(out), **about})
        return
    taken, side = dict(about["bytes"]), about["size"]
    flash, ram = taken.pop("model"), taken.pop("learner")
    parts = ", ".join(f"{name} {size}" for name, size in taken.items())
    page = {"linux": "docs/c.md", "wasm": "docs/page.md"}.get(target, "docs/microcontrollers.md")
    show.say(
        f"{out} has {about['model']} at {side}x{side} for {target}: {flash} bytes of model, {ram} bytes of RAM for "
        f"{classes} classes ({parts}). main.c prints {about['main_prints'][:16]}..., {page} says how to build it."
    )
