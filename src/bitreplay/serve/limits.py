"""How much a client may send, and wait for; what is above is refused in one sentence, with a status of 4xx."""

from __future__ import annotations

from dataclasses import dataclass


class Refused(Exception):
    """A request that is not answered; `status` is HTTP's, the sentence says what was got and what is expected."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@dataclass(frozen=True)
class Limits:
    """Bytes are of the body as it is sent. `pixels` are those that a picture claims, before it is decoded."""

    picture_bytes: int = 10 << 20
    request_bytes: int = 32 << 20
    state_bytes: int = 64 << 20
    all_bytes: int = 128 << 20  # of all bodies that are being received
    text_bytes: int = 4 << 10  # of a JSON body or a field
    pictures: int = 200  # of one request
    pixels: int = 1 << 25
    kept: int = 20_000  # pictures beside the state
    classes: int = 1_000  # at every door: taught, opened, merged, or served from the first
    waiting: int = 256  # pictures that wait for an answer
    changes: int = 32  # that wait for their turn
    viewers: int = 128
    connections: int = 512
    of_one_address: int = 256
    header_seconds: float = 10.0
    body_seconds: float = 60.0
    reading_seconds: float = 30.0  # that a client may leave an answer unread
    idle_seconds: float = 30.0  # between two requests of one connection
