"""A serial port by the operating system's own means: bytes in, bytes out, with a limit of time.

Boards with USB take any speed; one behind a converter needs the speed that its program has set.
"""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from types import TracebackType

try:
    import termios
    import tty
except ImportError:  # not a POSIX system
    termios = None  # type: ignore[assignment]


class SerialPort:
    """Opened raw: no echo, no translation, no flow control."""

    def __init__(self, path: str | Path, speed: int = 115200) -> None:
        if termios is None:
            raise ValueError("Serial ports need Linux or macOS.")
        rate = getattr(termios, f"B{speed}", None)
        if rate is None:
            raise ValueError(f"{speed} is not a speed of serial ports; 115200 is the usual one.")
        self.path = str(path)
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            raise ValueError(f"{self.path} cannot be opened: {error.strerror}.") from None
        if not os.isatty(self._descriptor):
            os.close(self._descriptor)
            raise ValueError(f"{self.path} is not a serial port.")
        tty.setraw(self._descriptor)
        attributes = termios.tcgetattr(self._descriptor)
        attributes[2] |= termios.CLOCAL | termios.CREAD
        attributes[4] = attributes[5] = rate
        termios.tcsetattr(self._descriptor, termios.TCSANOW, attributes)
        self._waiting = bytearray()

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> SerialPort:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def write(self, content: bytes) -> None:
        view = memoryview(content)
        while view:
            select.select([], [self._descriptor], [])
            view = view[os.write(self._descriptor, view) :]

    def read(self, size: int, seconds: float) -> bytes:
        """Exactly `size` bytes; TimeoutError if none comes for `seconds`."""
        while len(self._waiting) < size:
            self._fill(seconds)
        found = bytes(self._waiting[:size])
        del self._waiting[:size]
        return found

    def read_line(self, seconds: float) -> bytes:
        """Up to the next newline, without it."""
        while (end := self._waiting.find(b"\n")) < 0:
            self._fill(seconds)
        return self.read(end + 1, seconds)[:-1].rstrip(b"\r")

    def drop(self, seconds: float) -> None:
        """What comes until the line is quiet for `seconds`."""
        end = time.monotonic() + 10 * seconds
        try:
            while time.monotonic() < end:
                self._fill(seconds)
        except TimeoutError:
            pass
        self._waiting.clear()

    def _fill(self, seconds: float) -> None:
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            raise TimeoutError
        try:
            content = os.read(self._descriptor, 65536)
        except OSError as error:
            raise ValueError(f"{self.path} was closed by the other side: {error.strerror}.") from None
        if not content:
            raise ValueError(f"{self.path} was closed by the other side.")
        self._waiting += content
