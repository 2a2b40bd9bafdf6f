"""Writes the figures of each step as scalars for TensorBoard: pip install 'bitreplay[tensorboard]'."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from bitreplay.arguments import path_of
from bitreplay.streams.follow import Step
from bitreplay.writers.figures import figures


class TensorBoardWriter:
    """Writes `figures` of each step to one event file; TensorBoard's step is the experience's number.

    Parameters
    ----------
    folder : str or Path
        Folder of the event file.

    Raises
    ------
    ValueError
        If tensorboard is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        path = path_of(folder, "A folder of event files")
        try:
            writer: Any = import_module("tensorboard.summary.writer.event_file_writer")
            self._events: Any = import_module("tensorboard.compat.proto.event_pb2")
            self._summaries: Any = import_module("tensorboard.compat.proto.summary_pb2")
        except ModuleNotFoundError as error:
            raise ValueError(f"This writer needs {error.name}: pip install 'bitreplay[tensorboard]'.") from None
        self._writer = writer.EventFileWriter(str(path))

    def __call__(self, step: Step) -> None:
        kind = self._summaries.Summary
        values = [kind.Value(tag=name, simple_value=float(value)) for name, value in figures(step).items()]
        event = self._events.Event(wall_time=time.time(), step=step.number, summary=kind(value=values))
        self._writer.add_event(event)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def __enter__(self) -> TensorBoardWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
