"""The command line: one file a command (commands/). They parse, call the library and show what it says.

Exit codes: 0 done (saved, also where the answer could not be printed), 1 a file, picture, state or setting was refused
(one sentence says why), 2 the command line is wrong, 3 the state is in use by another process, 4 stopped by the time
limit, 130 stopped by Ctrl-C. With all but 0 the state is the old one.
"""

from __future__ import annotations

import io
import sys

import typer

from bitreplay.cli import show
from bitreplay.cli.commands import (
    bench,
    convert,
    demo,
    fetch,
    forget,
    info,
    learn,
    merge,
    models,
    plan,
    predict,
    pretrain,
    rename,
    reproduce,
    rollback,
    run,
    unlearn,
)
from bitreplay.progress import LearningStopped
from bitreplay.statefile import StateInUse

REFUSED, IN_USE, STOPPED = 1, 3, 4

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Continual learning on small devices with binary neural networks, in whole numbers.",
)  # fmt: skip
app.command()(demo.demo)
app.command()(run.run)
app.command()(learn.learn)
app.command()(predict.predict)
app.command()(unlearn.unlearn)
app.command()(merge.merge)
app.command()(forget.forget)
app.command()(rename.rename)
app.command()(rollback.rollback)
app.command()(info.info)
app.command()(models.models)
app.command()(plan.plan)
app.command(context_settings=pretrain.PASS_ON)(pretrain.pretrain)
app.command()(convert.convert)
app.command()(bench.bench)
app.command()(reproduce.reproduce)
data = typer.Typer(no_args_is_help=True, help="Data sets.")
data.command()(fetch.fetch)
app.add_typer(data, name="data")


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the encoding does not have is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="bitreplay")
    except StateInUse as error:
        _end(IN_USE, error)
    except LearningStopped as error:
        _end(STOPPED, error)
    except (ValueError, OSError, FloatingPointError) as error:
        _end(REFUSED, error)


def _end(code: int, error: Exception) -> None:
    show.complain(str(error) or type(error).__name__)
    sys.exit(code)
