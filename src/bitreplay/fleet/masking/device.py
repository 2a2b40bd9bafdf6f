"""A device in a masked round: four answers, each once and in this order.

    device = MaskedDevice.joining(terms, content)      ValueError if its sums have no place in the round
    device.public_keys()                               1. two public keys
    device.shares(place, keys of its neighbours)       2. for each neighbour, encrypted: shares of its seed and its key
    device.masked(those of its neighbours)             3. its vector behind masks
    device.unmasking(survivors, dropped)               4. shares of its neighbours' seeds or keys

`to_bytes` keeps it between answers: it holds secrets and does not leave the device.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from bitreplay.fleet.masking import keys, shamir
from bitreplay.fleet.masking.terms import Terms
from bitreplay.fleet.masking.vector import vector_of
from bitreplay.statefile import Content

Keys = tuple[bytes, bytes]


@dataclass
class MaskedDevice:
    """Bytes are kept as hexadecimal text, so that all of it is JSON. `step` is the number of answers given."""

    terms: str
    vector: str
    mask_key: str
    share_key: str
    seed: str
    step: int = 0
    place: int = -1
    neighbours: dict[str, list[str]] = field(default_factory=dict)
    held: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def joining(cls, terms: Terms, content: Content) -> MaskedDevice:
        vector = vector_of(content, terms).astype("<i8").tobytes()
        mask_key, share_key = keys.new_key(), keys.new_key()
        return cls(
            terms.to_json(),
            vector.hex(),
            mask_key.hex(),
            share_key.hex(),
            secrets.token_bytes(shamir.SECRET_BYTES).hex(),
        )

    def public_keys(self) -> Keys:
        self._next(1)
        return keys.public_key(bytes.fromhex(self.mask_key)), keys.public_key(bytes.fromhex(self.share_key))

    def shares(self, place: int, neighbours: Mapping[int, Keys]) -> dict[int, bytes]:
        """What each neighbour is to hold; only it can read that."""
        self._next(2)
        terms = self._terms
        if not set(neighbours) <= set(terms.neighbours_of(place)) or len(neighbours) < terms.threshold:
            raise ValueError(f"This device has {len(neighbours)} neighbours, {terms.threshold} or more are needed.")
        self.place = place
        self.neighbours = {str(other): [one.hex() for one in pair] for other, pair in neighbours.items()}
        places = [other + 1 for other in neighbours]
        seeds = shamir.split(bytes.fromhex(self.seed), places, terms.threshold)
        mask_keys = shamir.split(bytes.fromhex(self.mask_key), places, terms.threshold)
        return {
            other: keys.encrypted(
                self._channel(other), seeds[other + 1] + mask_keys[other + 1], self._way(place, other)
            )
            for other in neighbours
        }

    def masked(self, received: Mapping[int, bytes]) -> bytes:
        """The vector plus its own mask and those shared with the neighbours whose shares came."""
        self._next(3)
        terms = self._terms
        if not {str(other) for other in received} <= set(self.neighbours) or len(received) < terms.threshold:
            raise ValueError(f"Shares of {terms.threshold} neighbours are needed, got {len(received)}.")
        for other, data in received.items():
            text = keys.decrypted(self._channel(other), data, self._way(other, self.place))
            self.held[str(other)] = [text[: shamir.SHARE_BYTES].hex(), text[shamir.SHARE_BYTES :].hex()]
        own = np.frombuffer(bytes.fromhex(self.vector), "<i8").astype(np.int64)
        total = own.astype(f"<u{terms.bits // 8}")  # modulo 2^k
        total = total + keys.mask(bytes.fromhex(self.seed), terms.length, terms.bits)
        for other in received:
            public = bytes.fromhex(self.neighbours[str(other)][0])
            seed = keys.agreed(bytes.fromhex(self.mask_key), public, f"mask {terms.round}".encode())
            noise = keys.mask(seed, terms.length, terms.bits)
            total = total + noise if other > self.place else total - noise
        self.vector = ""
        return total.tobytes()

    def unmasking(self, survivors: Sequence[int], dropped: Sequence[int]) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """Shares of the seeds of neighbours whose vectors came, and of the keys of those whose did not: for each one of
        the two. ValueError if too few came: the sum would show a device."""
        self._next(4)
        if set(survivors) & set(dropped):
            raise ValueError("A device both came and dropped out; its secrets are not given.")
        if len([other for other in survivors if str(other) in self.held]) < self._terms.threshold:
            raise ValueError(f"Fewer than {self._terms.threshold} neighbours came: their sum is not unmasked.")
        return (
            {other: bytes.fromhex(self.held[str(other)][0]) for other in survivors if str(other) in self.held},
            {other: bytes.fromhex(self.held[str(other)][1]) for other in dropped if str(other) in self.held},
        )

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> MaskedDevice:
        return cls(**json.loads(data))

    @property
    def _terms(self) -> Terms:
        return Terms.from_json(self.terms)

    def _next(self, step: int) -> None:
        if self.step != step - 1:
            raise ValueError(
                f"Answer {step} of a masked round was asked for after answer {self.step}; each is given once."
            )
        self.step = step

    def _channel(self, other: int) -> bytes:
        public = bytes.fromhex(self.neighbours[str(other)][1])
        return keys.agreed(bytes.fromhex(self.share_key), public, f"shares {self._terms.round}".encode())

    def _way(self, sender: int, receiver: int) -> bytes:
        return f"{self._terms.round} {sender} {receiver}".encode()
