"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay.strategies import STRATEGIES

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
State = Annotated[Path, typer.Argument(help="State file.", show_default=False)]
ModelFile = Annotated[
    str | None, typer.Option("--model", help="Model by name or file; needed if the state's own is not shipped.")
]
Model = Annotated[str, typer.Option("--model", help="A shipped model by name, or a model file.")]
Strategy = Annotated[str | None, typer.Option(help=f"How to learn: {', '.join(STRATEGIES)}.")]
Bits = Annotated[str | None, typer.Option(help="Bit widths q_f/q_b^bin/q_b^non-bin such as 8/1/16, or float.")]
CodeBits = Annotated[int | None, typer.Option(help="Bits a latent element: 1, 2, 4, 8, 16 or 32.")]
Level = Annotated[str | None, typer.Option(help="Layer where latents are taken.")]
PerClass = Annotated[int | None, typer.Option(help="Stored samples a class.")]
Numbers = Annotated[
    str | None, typer.Option(help="Of exact: layers whose means are the numbers of a picture, such as head+add_12.")
]
Epochs = Annotated[int | None, typer.Option(help="Passes over the new samples of an experience.")]
Rate = Annotated[str | None, typer.Option(help="Learning rate at an experience's start, such as 1/100; else fitted.")]
Seed = Annotated[int | None, typer.Option(help="Seed of everything random.")]
SkipUnreadable = Annotated[bool, typer.Option(help="Leave out pictures that cannot be read.")]
Augment = Annotated[bool | None, typer.Option("--augment/--no-augment", help="Crop and flip new pictures.")]

DEFAULT_MODEL = "bireal18"


def given(**options: Any) -> dict[str, Any]:
    """Those that were named on the command line."""
    return {name: value for name, value in options.items() if value is not None}
