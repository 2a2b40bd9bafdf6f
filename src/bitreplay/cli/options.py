"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay import zoo
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES

DEFAULTS = Settings()
DEFAULT_MODEL = zoo.DEFAULT

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
State = Annotated[Path, typer.Argument(help="State file.", show_default=False)]
ModelFile = Annotated[
    str | None,
    typer.Option("--model", help="Model by name or file.", show_default="the state's, if it ships"),
]
ModelToBegin = Annotated[
    str | None,
    typer.Option(
        "--model", help="Model by name or file.", show_default=f"the state's; {DEFAULT_MODEL} for a new state"
    ),
]
Model = Annotated[str, typer.Option("--model", help="A shipped model by name, or a model file.")]
Strategy = Annotated[
    str | None,
    typer.Option(
        help=f"How to learn: {', '.join(STRATEGIES)}.", show_default="exact; replay if one of its settings is given"
    ),
]
Bits = Annotated[
    str | None,
    typer.Option(help="Bit widths q_f/q_b^bin/q_b^non-bin such as 8/1/16, or float.", show_default=str(DEFAULTS.bits)),
]
LatentBits = Annotated[
    int | None,
    typer.Option(help="Bits per latent element: 1, 2, 4, 8, 16 or 32.", show_default=str(DEFAULTS.latent_bits)),
]
ReplayLayer = Annotated[
    str | None, typer.Option(help="Layer whose activations are stored and replayed.", show_default="the model's last")
]
Size = Annotated[
    int | None,
    typer.Option(min=1, help="Side of the network's input in pixels.", show_default="the model's"),
]
MemoryPerClass = Annotated[
    int | None, typer.Option(help="For replay: stored samples per class.", show_default=str(DEFAULTS.memory_per_class))
]
FeatureLayers = Annotated[
    str | None,
    typer.Option(
        help="For exact: layers whose channel means are the features, such as head+add_12.", show_default="by the model"
    ),
]
Components = Annotated[
    int | None,
    typer.Option(
        "--n-components", min=1, help="For exact: project the features to this many.", show_default="by the model"
    ),
]
MicroBatchSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="For replay: samples that pass the tail at once; less memory, twice the time, the same state.",
        show_default="the minibatch",
    ),
]
Epochs = Annotated[
    int | None, typer.Option(help="Passes over the new samples of an experience.", show_default=str(DEFAULTS.epochs))
]
LearningRate = Annotated[
    str | None,
    typer.Option(help="Learning rate at the start of an experience, such as 1/100.", show_default="by the model"),
]
Seed = Annotated[int | None, typer.Option(help="Seed of everything random.", show_default=str(DEFAULTS.seed))]
SkipUnreadable = Annotated[bool, typer.Option("--skip-unreadable", help="Skip pictures that cannot be read.")]
Ray = Annotated[str | None, typer.Option(help="Run on a Ray cluster: its address, or auto.")]
Augment = Annotated[
    bool | None,
    typer.Option("--augment/--no-augment", help="Crop and flip new pictures.", show_default="no; yes for run on CIFAR"),
]


def settings_in(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among a command's parameters that were given on the command line."""
    names = Settings.names()
    return {name: value for name, value in parameters.items() if name in names and value is not None}
