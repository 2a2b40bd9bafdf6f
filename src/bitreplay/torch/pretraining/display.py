"""Progress on the terminal: one bar over the whole run with loss, accuracy and time left; plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bitreplay.torch.pretraining.report import Report, Step

REDRAW_SECONDS = 0.5


class Display:
    """A context. `show` takes steps and reports, `say` a line of text. A quiet one prints nothing at all.

    Loss and accuracy are read from the device twice a second and at the end of an epoch, since reading waits for it.
    """

    def __init__(
        self,
        title: str,
        console: Console | None = None,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.console, self.quiet, self.clock = console or Console(soft_wrap=True), quiet, clock
        self.drawn = float("-inf")
        self.top1 = "-"
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"))
        live = self.console.is_terminal and not quiet
        self.bar = Progress(*columns, TimeRemainingColumn(), console=self.console, disable=not live)
        self.task = self.bar.add_task(title, total=None, figures="")
        self.title = title

    def __enter__(self) -> Display:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def say(self, text: str) -> None:
        if not self.quiet:
            self.console.print(text, markup=False, highlight=False)

    def show(self, event: Step | Report) -> None:
        if isinstance(event, Report):
            self.top1 = f"{event.top1:.2f} %"
            if self.bar.disable:
                self.say(event.line())
        elif not self.bar.disable and (event.step == event.steps or self.clock() - self.drawn >= REDRAW_SECONDS):
            self.drawn = self.clock()
            statistics = event.statistics
            self.bar.update(
                self.task,
                description=f"{self.title} epoch {event.epoch}/{event.expected} stage {event.stage}",
                completed=(event.epoch - 1) * event.steps + event.step,
                total=event.expected * event.steps,
                figures=f"loss {statistics.loss():.3f} accuracy {statistics.accuracy():.1f} % top-1 {self.top1}",
            )
