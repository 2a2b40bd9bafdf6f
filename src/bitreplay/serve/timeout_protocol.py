"""A connection has so long to send its request and to read its answer, and one address so many connections: who opens
many and sends or reads a byte now and then keeps nobody else out. uvicorn has no such limits of its own.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bitreplay.serve.limits import Limits

PART = 1 << 13


class TimeoutProtocol(H11Protocol):
    """The clock runs whenever no request is at work and none has arrived whole. Bodies have a clock of their own
    (uploads.py); between two requests it is the server's keep-alive."""

    limits: ClassVar[Limits] = Limits()
    open: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self.open[self._address] += 1
        if self.open[self._address] > self.limits.of_one_address or self.open.total() > self.limits.connections:
            transport.abort()
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.open[self._address] -= 1
        if not self.open[self._address]:
            del self.open[self._address]
        self._rest()
        self._read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """In parts, since the limit of a request's head is looked at between two of them. What follows a request before
        it is answered is not read, and the connection ends with the answer: browsers send one at a time."""
        for start in range(0, len(data), PART):
            if self.conn.their_state is h11.DONE and not self._idle():
                self.cycle.keep_alive = False
                return
            idle = self._idle()
            super().data_received(data[start : start + PART])
            if not self._idle():
                self._rest()
            elif idle and self._timer is None:  # a request has begun after the last one was answered
                self._wait()
            if self.transport.is_closing():
                return

    def pause_writing(self) -> None:
        """So much of the answer waits that the rest is held back: the client has so long to read on."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.limits.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read()

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.limits.header_seconds, self._give_up)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._idle() and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()


def protocol(limits: Limits) -> type[TimeoutProtocol]:
    """With these limits, and counts of its own."""
    own: dict[str, Any] = {"limits": limits, "open": Counter()}
    return type("Patience", (TimeoutProtocol,), own)
