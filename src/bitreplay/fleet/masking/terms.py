"""What a masked round is about: every device gets the same terms and checks them before it answers.

How many bits? With n devices of at most m pictures each, every sum of the round is within

    count <= n m        |class sum| <= 127 n m        |product| <= 127^2 n m

so with 127^2 n m < 2^(k - 1) a sum modulo 2^k, read as a signed integer, is the sum itself. k = 32 for n m <= 131,072
pictures (127^2 * 2^17 = 2,114,060,288 < 2^31 = 2,147,483,648), else k = 64: a state's own widths (engine/sums.py). A
device with more than m pictures since its base takes no part.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass

from bitreplay.engine.sums import LARGEST, MAX_PICTURES, NARROW_PICTURES
from bitreplay.fleet.since import MIN_PICTURES
from bitreplay.learning.classes import Name, in_order

NEIGHBOURS = 32
LEAST_DEVICES = 3


@dataclass(frozen=True)
class Terms:
    """`names` are the classes that the round adds up, in their order; `max_pictures` is of a device."""

    round: str
    devices: int
    names: tuple[Name, ...]
    n_features: int
    by_class: bool
    max_pictures: int
    min_pictures: int = MIN_PICTURES
    neighbours: int = NEIGHBOURS

    def __post_init__(self) -> None:
        if not LEAST_DEVICES <= self.devices:
            raise ValueError(
                f"A masked round needs {LEAST_DEVICES} devices, got {self.devices}: two know each other's."
            )
        if self.names != in_order(self.names):
            raise ValueError("The classes of a masked round are not in order.")
        if not 1 <= self.devices * self.max_pictures <= MAX_PICTURES:
            raise ValueError(f"A masked round adds at most {MAX_PICTURES} pictures.")
        if not 2 <= self.neighbours:
            raise ValueError(f"A device needs 2 neighbours, got {self.neighbours}.")

    @property
    def bits(self) -> int:
        bits = 32 if self.devices * self.max_pictures <= NARROW_PICTURES else 64
        assert LARGEST**2 * self.devices * self.max_pictures < 1 << (bits - 1)
        return bits

    @property
    def length(self) -> int:
        """Numbers of a device's vector: experiences, counts, class sums, products, and those of each class."""
        triangle, classes = self.n_features * (self.n_features + 1) // 2, len(self.names)
        return 1 + classes * (1 + self.n_features) + triangle * (1 + (classes if self.by_class else 0))

    def neighbours_of(self, place: int) -> list[int]:
        """Devices stand in a ring, in an order that the server draws; neighbours are the nearest on both sides."""
        each = min((self.neighbours + 1) // 2, self.devices // 2)
        near = {(place + step) % self.devices for step in range(-each, each + 1)} - {place}
        return sorted(near)

    @property
    def threshold(self) -> int:
        """More than half of the neighbours: no two disjoint sets of them are enough, one for b and one for the key."""
        return len(self.neighbours_of(0)) // 2 + 1

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Terms:
        values = json.loads(text)
        return Terms(**values | {"names": tuple(values["names"])})


def new_round() -> str:
    return secrets.token_hex(16)
