"""The desk's side of core/device/console.c: a command is a line, the board's answers are lines that begin with #.

board = Board(port)
board.teach("cup", picture)        picture: (height, width, 3) uint8, or None for the board's camera
board.ask(picture).name
state = board.pull()               the bytes of a state file
"""

from __future__ import annotations

import struct
import unicodedata
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.pictures.fitting import fit_pictures
from bitreplay.device.port import SerialPort

VERSION = 1
QUIET = 0.2  # seconds of silence that end what a board still has to say
MAX_STATE = 64 << 20
MAX_NAME = 240  # bytes, so that a command fits console.c's line


class BoardError(ValueError):
    """What the board, or the line to it, has refused."""


@dataclass(frozen=True)
class BoardAnswer:
    name: str
    share: float  # the first answer's probability, in thousandths
    unknown: bool


class Board:
    def __init__(self, port: SerialPort, seconds: float = 60) -> None:
        """`seconds` is how long the board may be silent: a Cortex-M0+ takes five for a picture."""
        self.port, self.seconds = port, seconds
        port.drop(QUIET)
        port.write(b"\n")  # ends what another program may have begun, to which the board may have an answer
        port.drop(QUIET)
        words = self._command("hello").split()
        if words[:1] != ["bitreplay"] or len(words) < 6:
            raise BoardError(f"{port.path} does not answer as a learner does: {' '.join(words)!r}.")
        if words[1] != str(VERSION):
            raise BoardError(f"The board speaks version {words[1]} of the protocol, this program version {VERSION}.")
        self.side, self.has_camera, self.saves = int(words[2]), words[3] == "1", words[4] == "1"
        self.strategy = words[5]

    def teach(self, name: str, picture: NDArray[np.uint8] | None = None) -> int:
        """Pictures that the board has learned with this one."""
        self._send(picture)
        return int(self._command(f"teach {_checked(name)}"))

    def ask(self, picture: NDArray[np.uint8] | None = None) -> BoardAnswer:
        self._send(picture)
        unknown, share, name = self._command("ask").split(" ", 2)
        return BoardAnswer(name, int(share) / 1000, unknown == "1")

    def classes(self) -> dict[str, int]:
        """Pictures by name."""
        lines: list[str] = []
        self._command("classes", lines)
        rows = (line.removeprefix("class ").split(" ", 1) for line in lines)
        return {name: int(pictures) for pictures, name in rows}

    def forget(self, name: str) -> None:
        self._command(f"forget {_checked(name)}")

    def clear(self) -> None:
        self._command("clear")

    def save(self) -> None:
        """To the board's flash."""
        self._command("save")

    def state_hash(self) -> str:
        return self._command("hash")

    def pull(self) -> bytes:
        """The state file."""
        lines: list[str] = []
        content = bytearray()
        self._command("pull", lines, content)
        if [f"state {len(content)}"] != lines:
            raise BoardError(f"The board promised {' '.join(lines)!r} and sent {len(content)} bytes.")
        return bytes(content)

    def push(self, state: bytes) -> str:
        """Replaces what the board knows; its state's hash."""
        return self._command(f"push {len(state)}", offered=state)

    def _send(self, picture: NDArray[np.uint8] | None) -> None:
        if picture is None:
            if not self.has_camera:
                raise BoardError("The board has no camera: name a picture.")
            return
        square = fit_pictures(picture[None], self.side)[0]
        self._command(f"picture {self.side} {self.side}", offered=square.tobytes())

    def _command(
        self, line: str, lines: list[str] | None = None, taken: bytearray | None = None, offered: bytes = b""
    ) -> str:
        """What "#ok" says. `lines` takes lines before it, `taken` the bytes of blocks; `offered` is what the board may
        want. Lines that do not begin with # are the board's own."""
        self.port.write(line.encode() + b"\n")
        try:
            while True:
                word, _, rest = self.port.read_line(self.seconds).decode("utf-8", "replace").partition(" ")
                if word == "#ok":
                    return rest
                if word == "#error":
                    raise BoardError(f"The board refused {line.split()[0]}: {rest.partition(' ')[2]}.")
                if word == "#want":
                    self._give(offered, rest)
                elif word == "#block" and taken is not None:
                    taken += self._block(rest, len(taken))
                elif word.startswith("#") and lines is not None:
                    lines.append(f"{word[1:]} {rest}")
        except TimeoutError:
            raise BoardError(f"{self.port.path} was silent for {self.seconds:g} s after {line.split()[0]!r}.") from None

    def _give(self, offered: bytes, rest: str) -> None:
        offset, size = map(int, rest.split())
        if offset + size > len(offered):
            raise BoardError(f"The board wants bytes {offset} to {offset + size} of {len(offered)}.")
        part = offered[offset : offset + size]
        self.port.write(part + struct.pack("<I", zlib.crc32(part)))

    def _block(self, rest: str, have: int) -> bytes:
        offset, size = map(int, rest.split())
        if offset != have or have + size > MAX_STATE:
            raise BoardError(f"A block at {have} was expected, the board sent one of {size} bytes at {offset}.")
        content, checksum = self.port.read(size, self.seconds), self.port.read(4, self.seconds)
        if struct.unpack("<I", checksum)[0] != zlib.crc32(content):
            raise BoardError("A block arrived damaged: try again, with a slower line if it happens often.")
        return content


def _checked(name: str) -> str:
    text = unicodedata.normalize("NFC", name)
    if not text.strip() or any(unicodedata.category(letter).startswith("C") for letter in text):
        raise ValueError(f"A class's name on a board is text without control characters, got {name!r}.")
    if len(text.encode()) > MAX_NAME:
        raise ValueError(f"A class's name on a board has at most {MAX_NAME} bytes.")
    return text
