"""A server's questions to its nodes: what came in time, and what comes late."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

RECORD = "bitreplay"
PAUSE = 0.1
AT_ONCE = 100  # replies that are pulled in one request


class Questions:
    """`timeout` seconds are waited for answers."""

    def __init__(self, grid: Grid, timeout: float, ttl: float | None = None) -> None:
        self._grid, self._timeout, self._ttl = grid, timeout, ttl
        self._open: set[str] = set()

    def ask(self, action: str, asked: Mapping[int, Mapping[str, Any]], enough: int | None = None) -> dict[int, Any]:
        """The answer of each node that gave one, by its number. A node that failed gave none."""
        messages = [
            Message(RecordDict({RECORD: ConfigRecord(dict(values))}), dst_node_id=node, message_type=f"query.{action}",
                    **({} if self._ttl is None else {"ttl": self._ttl}))
            for node, values in asked.items()
        ]  # fmt: skip
        self._open |= {name for name in self._grid.push_messages(messages) if name}
        return self.wait(len(asked) if enough is None else enough)

    def wait(self, enough: int | None = None) -> dict[int, Any]:
        """Answers to questions of now and before, until there are enough, none is open, or time is up."""
        answers: dict[int, Any] = {}
        end, heard = time.monotonic() + self._timeout, 0
        while self._open and (enough is None or heard < enough) and time.monotonic() < end:
            before = heard
            for reply in self._pulled():
                self._open.discard(reply.metadata.reply_to_message_id)
                heard += 1
                if not reply.has_error():
                    answers[reply.metadata.src_node_id] = reply.content.config_records.get(RECORD, {})
            if heard == before:
                time.sleep(PAUSE)
        return answers

    @property
    def open(self) -> int:
        """Questions that nobody has answered yet."""
        return len(self._open)

    def forget(self) -> None:
        """Late answers are not waited for."""
        self._open = set()

    def _pulled(self) -> Iterable[Message]:
        ids = list(self._open)
        for start in range(0, len(ids), AT_ONCE):
            yield from self._grid.pull_messages(ids[start : start + AT_ONCE])
