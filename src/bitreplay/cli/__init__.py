"""The command line: one file a command (commands/). They parse, call the library and show what it says.

Exit codes: 0 done (saved, also where the answer could not be printed), 1 a file, picture, state or setting was refused
(one sentence says why), 2 the command line is wrong, 3 the state is in use by another process, 4 stopped by the time
limit, 130 stopped by Ctrl-C. With all but 0 the state is the old one.
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
    "serve", "info", "models", "plan", "export", "pretrain", "convert", "reproduce",
)  # fmt: skip
OF_DATA = ("fetch",)


def main() -> None:
    """From inside another program, whose Ctrl-C is as it was when this ends."""
    before = signal.getsignal(signal.SIGINT)
    try:
        run(loaded(sys.argv[1:]))
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def loaded(words: Sequence[str]) -> Callable[[], None]:
    """What these words ask for, with its modules: typer alone would be a third of the time of a short `predict`."""
    from bitreplay.cli import fast_predict

    if (asked := fast_predict.asked(words)) is not None:
        return asked
    from bitreplay.cli.application import app_for

    return partial(app_for(words), prog_name="bitreplay")


def run(command: Callable[[], None]) -> None:
    """Do it, tell what went wrong, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the encoding does not have is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        command()
        sys.exit()
    except StateInUse as error:
        _end(IN_USE, error)
    except LearningStopped as error:
        _end(STOPPED, error)
    except (ValueError, OSError, FloatingPointError) as error:
        _end(REFUSED, error)
    except show.Interrupted as error:
        _end(INTERRUPTED, error)
    except KeyboardInterrupt:
        _end(INTERRUPTED, show.Interrupted(of_states=False))


def _end(code: int, error: object) -> None:
    show.complain(str(error) or type(error).__name__)
    sys.exit(code)
