"""bitreplay pretrain MODEL: pre-train a binary network on a host."""

from __future__ import annotations

from typing import Any

import typer

from bitreplay.cli.torch_extra import need_torch
from bitreplay.torch.distillation import distillation_options as distillation
from bitreplay.torch.pretraining.options import parser

CONTEXT: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def pretrain(context: typer.Context) -> None:
    """Pre-train a model: MODEL --data DIR --out FILE. `bitreplay pretrain --help` lists all options,
    `bitreplay pretrain --teacher efficientnet-lite2 --help` those of distillation without labels."""
    without_labels = any(argument.removeprefix("--teacher=") in distillation.TEACHERS for argument in context.args)
    (distillation.parser() if without_labels else parser()).parse_args(context.args)  # before torch is loaded
    need_torch()
    if without_labels:
        from bitreplay.torch.distillation.distill import main as distill

        distill(context.args)
        return
    from bitreplay.torch.pretraining.pretrain import main

    main(context.args)
