"""The server of a masked round: it passes on what it cannot read, and learns the sum.

    server = MaskedRound(terms)
    server.joined(keys)                    1. two public keys of each device, by its place in the ring
    server.keys_for(place)                 what each device is told
    server.shared(place, ciphertexts)      2.
    server.shares_for(place)
    server.came(place, vector)             3.
    server.to_unmask(place)                survivors and dropped among its neighbours
    server.unmasked(place, seeds, keys)    4.
    server.total()                         the sum of the vectors that came, and nothing else

A device may stop answering at any time: before 3 it is not in the sum, after 3 it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bitreplay.fleet.masking import keys, shamir
from bitreplay.fleet.masking.terms import Terms

Keys = tuple[bytes, bytes]


class MaskedRound:
    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._keys: dict[int, Keys] = {}
        self._passed: dict[int, dict[int, bytes]] = {}
        self._vectors: dict[int, NDArray] = {}
        self._seeds: dict[int, dict[int, bytes]] = {}
        self._mask_keys: dict[int, dict[int, bytes]] = {}

    def joined(self, public: Mapping[int, Keys]) -> None:
        self._keys = dict(public)

    def keys_for(self, place: int) -> dict[int, Keys]:
        return {other: self._keys[other] for other in self.terms.neighbours_of(place) if other in self._keys}

    def shared(self, place: int, ciphertexts: Mapping[int, bytes]) -> None:
        self._passed[place] = dict(ciphertexts)

    def shares_for(self, place: int) -> dict[int, bytes]:
        return {other: sent[place] for other, sent in self._passed.items() if place in sent}

    def came(self, place: int, vector: bytes) -> None:
        """ValueError if it has another length."""
        numbers = np.frombuffer(vector, f"<u{self.terms.bits // 8}") if len(vector) % 8 in (0, 4) else np.zeros(0)
        if place not in self._passed or len(numbers) != self.terms.length:
            raise ValueError(f"A masked vector has {self.terms.length} numbers, got {len(vector)} bytes.")
        self._vectors[place] = numbers

    @property
    def survivors(self) -> list[int]:
        """Devices that are in the sum."""
        return sorted(self._vectors)

    def to_unmask(self, place: int) -> tuple[list[int], list[int]]:
        near = [other for other in self.terms.neighbours_of(place) if other in self._passed]
        return [o for o in near if o in self._vectors], [o for o in near if o not in self._vectors]

    def unmasked(self, place: int, seeds: Mapping[int, bytes], mask_keys: Mapping[int, bytes]) -> None:
        for other, share in seeds.items():
            self._seeds.setdefault(other, {})[place + 1] = share
        for other, share in mask_keys.items():
            self._mask_keys.setdefault(other, {})[place + 1] = share

    def total(self) -> NDArray[np.int64]:
        """ValueError if too many devices dropped out."""
        terms = self.terms
        if len(self._vectors) < terms.threshold:
            raise ValueError(f"{len(self._vectors)} devices came, {terms.threshold} are needed.")
        total = np.zeros(terms.length, f"<u{terms.bits // 8}")
        for place, vector in self._vectors.items():
            seed = self._secret(self._seeds, place, "seed")
            total = total + vector - keys.mask(seed, terms.length, terms.bits)
        for place in sorted(set(self._passed) - set(self._vectors)):
            near = [other for other in self._passed[place] if other in self._vectors]
            if not near:
                continue
            private = self._secret(self._mask_keys, place, "key")
            if keys.public_key(private) != self._keys[place][0]:
                raise ValueError(f"The shares of device {place} are not those of its key.")
            for other in near:  # what `other` added for the one that dropped out is taken away again
                seed = keys.agreed(private, self._keys[other][0], f"mask {terms.round}".encode())
                noise = keys.mask(seed, terms.length, terms.bits)
                total = total - noise if place > other else total + noise
        return total.view(f"<i{terms.bits // 8}").astype(np.int64)

    def _secret(self, shares: Mapping[int, Mapping[int, bytes]], place: int, what: str) -> bytes:
        try:
            return shamir.join(shares.get(place, {}), self.terms.threshold)
        except ValueError as error:
            raise ValueError(f"The {what} of device {place} cannot be found: {error}") from None
