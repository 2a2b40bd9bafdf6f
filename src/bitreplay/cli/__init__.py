"""The command line: one file per command (commands/). Commands parse options, call the library and print the result.

Exit codes: 0 done (saved, even if the result could not be printed), 1 a file, picture, state or setting was refused, 2
the command line is invalid, 3 the state is in use by another process, 4 stopped by the time limit, 130 stopped by
Ctrl-C. With any code but 0 the state is unchanged.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial

from bitreplay.cli import show
from bitreplay.learning.progress import LearningStopped
from bitreplay.statefile import StateInUse

REFUSED, IN_USE, STOPPED, INTERRUPTED = 1, 3, 4, 130
COMMANDS = (
    "demo", "run", "learn", "predict", "evaluate", "confusions", "unlearn", "merge", "forget", "rename", "rollback",
    "serve", "page", "info", "models", "plan", "export", "device", "pretrain", "convert", "reproduce",
)  # fmt: skip
DATA_COMMANDS = ("fetch", "photographs")
FLEET_COMMANDS = ("key", "join", "send", "merge", "push", "pull", "status")


def main() -> None:
    """Runs the command line inside another program and restores that program's handler of Ctrl-C."""
    before = signal.getsignal(signal.SIGINT)
    try:
        run(command_for(sys.argv[1:]))
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def command_for(arguments: Sequence[str]) -> Callable[[], None]:
    """The command of these arguments, its modules loaded. Typer alone would take a third of the time of a short
    `predict`."""
    from bitreplay.cli import fast_predict

    if (command := fast_predict.parse(arguments)) is not None:
        return command
    from bitreplay.cli.application import application_for

    return partial(application_for(arguments), prog_name="bitreplay")


def run(command: Callable[[], None]) -> None:
    """Runs the command, prints its error if there is one, and exits."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escapes what the encoding lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        command()
        sys.exit()
    except StateInUse as error:
        _exit(IN_USE, error)
    except LearningStopped as error:
        _exit(STOPPED, error)
    except (ValueError, OSError, FloatingPointError) as error:
        _exit(REFUSED, error)
    except show.Interrupted as error:
        _exit(INTERRUPTED, error)
    except KeyboardInterrupt:
        _exit(INTERRUPTED, show.Interrupted(saves=False))


def _exit(code: int, error: object) -> None:
    show.error(str(error) or type(error).__name__)
    sys.exit(code)
