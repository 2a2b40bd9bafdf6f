"""How much a client may send and wait for; more is refused with a status of 4xx."""

from __future__ import annotations

from dataclasses import dataclass


class RequestError(Exception):
    """A request that is refused, with a status of HTTP and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Limits:
    """Bytes are of the body as sent. `pixels` are those that a picture claims to have before it is decoded."""

    picture_bytes: int = 10 << 20
    request_bytes: int = 32 << 20
    state_bytes: int = 64 << 20
    all_bytes: int = 128 << 20  # of all bodies being received
    text_bytes: int = 4 << 10  # of a JSON body or a field
    pictures: int = 200  # of one request
    pixels: int = 1 << 25
    stored_pictures: int = 20_000
    classes: int = 1_000  # learned, opened, merged or served
    waiting: int = 256  # pictures that wait for a prediction
    changes: int = 32  # that wait for their turn
    viewers: int = 128
    connections: int = 512
    of_one_address: int = 256
    header_seconds: float = 10.0
    body_seconds: float = 60.0
    reading_seconds: float = 30.0  # that a client may leave a response unread
    idle_seconds: float = 30.0  # between two requests of one connection
