"""Limits the time to send a request and to read a response, and the connections of one address, so that a client that
opens many and sends or reads a byte now and then does not keep others out. uvicorn has no such limits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bitreplay.serve.limits import Limits

CHUNK = 1 << 13


class TimeoutProtocol(H11Protocol):
    """The timer runs while the head of a request is awaited. Bodies have their own timeout (uploads.py); between two
    requests the server's keep-alive applies."""

    limits: ClassVar[Limits] = Limits()
    open: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self.open[self._address] += 1
        if self.open[self._address] > self.limits.of_one_address or self.open.total() > self.limits.connections:
            transport.abort()
            return
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.open[self._address] -= 1
        if not self.open[self._address]:
            del self.open[self._address]
        self._stop_timer()
        self._stop_read_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """In chunks, since the size of a request's head is checked between two of them. What follows a request before
        its response is not read, and the connection ends with the response: browsers send one request at a time."""
        for start in range(0, len(data), CHUNK):
            if self.conn.their_state is h11.DONE and not self._idle():
                self.cycle.keep_alive = False
                return
            idle = self._idle()
            super().data_received(data[start : start + CHUNK])
            if not self._idle():
                self._stop_timer()
            elif idle and self._timer is None:  # the next request has begun
                self._start_timer()
            if self.transport.is_closing():
                return

    def pause_writing(self) -> None:
        """The send buffer is full: the client has `reading_seconds` to read on."""
        super().pause_writing()
        self._read_timer = self.loop.call_later(self.limits.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_read_timer()

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.limits.header_seconds, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        self._timer = None
        if self._idle() and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()


def protocol(limits: Limits) -> type[TimeoutProtocol]:
    """A protocol class with these limits and its own counts."""
    attributes: dict[str, Any] = {"limits": limits, "open": Counter()}
    return type("LimitedTimeoutProtocol", (TimeoutProtocol,), attributes)
