"""Server-sent events for viewers: the number of the turn and the progress of learning. A slow viewer gets the latest of
each, not all of them.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

from bitreplay.serve.limits import RequestError

ALIVE_SECONDS = 15.0


class Events:
    """`publish` and `close` may be called on any thread; the rest runs on the loop."""

    def __init__(self, limit: int) -> None:
        self.run = secrets.token_hex(8)  # differs after a restart, when nothing can be undone
        self._limit = limit
        self._viewers: set[_Viewer] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def publish(self, event: str, value: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, event, value)

    def _deliver(self, event: str, value: Any) -> None:
        for viewer in self._viewers:
            viewer.pending[event] = value
            viewer.changed.set()

    def close(self) -> None:
        """Ends all streams, so that the server can stop."""
        self._closed = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for viewer in self._viewers:
            viewer.changed.set()

    def stream(self, turn: int) -> AsyncIterator[bytes]:
        if len(self._viewers) >= self._limit:
            raise RequestError(429, f"{self._limit} viewers are connected already; try again later.")
        return self._stream(_Viewer({"turn": turn}))

    async def _stream(self, viewer: _Viewer) -> AsyncIterator[bytes]:
        self._viewers.add(viewer)
        try:
            yield f"retry: 1000\nevent: run\ndata: {json.dumps(self.run)}\n\n".encode()
            while not self._closed:
                pending, viewer.pending = viewer.pending, {}
                viewer.changed.clear()
                for event, value in pending.items():
                    yield f"event: {event}\ndata: {json.dumps(value)}\n\n".encode()
                if viewer.pending:
                    continue
                try:
                    await asyncio.wait_for(viewer.changed.wait(), ALIVE_SECONDS)
                except asyncio.TimeoutError:
                    yield b": alive\n\n"
        finally:
            self._viewers.discard(viewer)


class _Viewer:
    def __init__(self, pending: dict[str, Any]) -> None:
        self.pending, self.changed = pending, asyncio.Event()
