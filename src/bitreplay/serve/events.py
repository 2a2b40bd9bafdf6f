"""What viewers are told, as server-sent events: which turn it is, and how far learning is. A slow viewer gets the last
word, not all of them.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

from bitreplay.serve.limits import Refused

ALIVE_SECONDS = 15.0


class Events:
    """`tell` may be called on any thread; everything else runs on the loop."""

    def __init__(self, most: int) -> None:
        self.run = secrets.token_hex(8)  # another one after a restart, when nothing can be undone
        self._most = most
        self._viewers: set[_Viewer] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def tell(self, what: str, value: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._pass_on, what, value)

    def _pass_on(self, what: str, value: Any) -> None:
        for viewer in self._viewers:
            viewer.news[what] = value
            viewer.some.set()

    def tell_end(self) -> None:
        """Every stream ends, so that the server can."""
        self._ended = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for viewer in self._viewers:
            viewer.some.set()

    def stream(self, turn: int) -> AsyncIterator[bytes]:
        if len(self._viewers) >= self._most:
            raise Refused(429, f"{self._most} viewers are told already; look again later.")
        return self._told(_Viewer({"turn": turn}))

    async def _told(self, viewer: _Viewer) -> AsyncIterator[bytes]:
        self._viewers.add(viewer)
        try:
            yield f"retry: 1000\nevent: run\ndata: {json.dumps(self.run)}\n\n".encode()
            while not self._ended:
                news, viewer.news = viewer.news, {}
                viewer.some.clear()
                for what, value in news.items():
                    yield f"event: {what}\ndata: {json.dumps(value)}\n\n".encode()
                if viewer.news:
                    continue
                try:
                    await asyncio.wait_for(viewer.some.wait(), ALIVE_SECONDS)
                except asyncio.TimeoutError:
                    yield b": alive\n\n"
        finally:
            self._viewers.discard(viewer)


class _Viewer:
    def __init__(self, news: dict[str, Any]) -> None:
        self.news, self.some = news, asyncio.Event()
