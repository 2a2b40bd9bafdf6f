"""bitreplay pretrain MODEL: pre-train a binary network on a host."""

from __future__ import annotations

from typing import Any

import typer

from bitreplay.cli.torch_extra import need_torch
from bitreplay.torch.pretraining.options import parser

CONTEXT: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def pretrain(context: typer.Context) -> None:
    """Pre-train a model: MODEL --data DIR --out FILE; `bitreplay pretrain --help` lists all options."""
    parser().parse_args(context.args)  # help and wrong options need no torch
    need_torch()
    from bitreplay.torch.pretraining.pretrain import main

    main(context.args)
