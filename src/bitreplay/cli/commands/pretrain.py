"""bitreplay pretrain MODEL: pre-train a binary network on a host."""

from __future__ import annotations

from typing import Any

import typer

from bitreplay.cli.torch_extra import need_torch

PASS_ON: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def pretrain(context: typer.Context) -> None:
    """Pre-train a model: MODEL --data DIR --out FILE; `bitreplay pretrain --help` lists all options."""
    need_torch()
    from bitreplay.torch.pretraining.pretrain import main

    main(context.args)
