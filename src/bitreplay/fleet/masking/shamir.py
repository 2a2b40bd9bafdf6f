"""Shamir's sharing of a secret of 32 bytes: a random polynomial f of degree t - 1 over a prime field, f(0) the secret.

Share i is f(i), i from 1. Any t shares give f(0) = sum of f(i) prod over j of j / (j - i); fewer say nothing of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping

PRIME = (1 << 521) - 1
SECRET_BYTES, SHARE_BYTES = 32, 66


def split(secret: bytes, places: Iterable[int], threshold: int) -> dict[int, bytes]:
    """A share for each place, an integer from 1."""
    assert len(secret) == SECRET_BYTES and threshold >= 1
    polynomial = [int.from_bytes(secret, "big"), *(secrets.randbelow(PRIME) for _ in range(threshold - 1))]

    def at(place: int) -> int:
        value = 0
        for coefficient in reversed(polynomial):
            value = (value * place + coefficient) % PRIME
        return value

    return {place: at(place).to_bytes(SHARE_BYTES, "big") for place in places}


def join(shares: Mapping[int, bytes], threshold: int) -> bytes:
    """The secret. ValueError if the shares are too few or do not fit each other."""
    if len(shares) < threshold:
        raise ValueError(f"{threshold} shares are needed, got {len(shares)}.")
    places = sorted(shares)[:threshold]
    secret = 0
    for i in places:
        above = below = 1
        for j in places:
            if j != i:
                above, below = above * j % PRIME, below * (j - i) % PRIME
        secret += int.from_bytes(shares[i], "big") * above * pow(below, -1, PRIME)
    secret %= PRIME
    if secret >> (8 * SECRET_BYTES):
        raise ValueError("The shares are not those of one secret.")
    return secret.to_bytes(SECRET_BYTES, "big")
