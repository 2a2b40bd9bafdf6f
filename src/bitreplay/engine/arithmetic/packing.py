"""Signs as bits: +1 is 1, -1 is 0.

Channels are packed least significant bit first into 64-bit words; a row of channels is padded with 0 to whole words.

    dot(x, w) over K signs = K - 2 popcount(x xor w)

docs/law.md section 3; core/src/arithmetic/packing.h is the native twin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WORD = 64


def words_for(channels: int) -> int:
    """Words that hold a row of channels.

    >>> words_for(1), words_for(64), words_for(65)
    (1, 1, 2)
    """
    return -(-channels // WORD)


def pack(ones: NDArray) -> NDArray[np.uint64]:
    """Booleans (or 0/1), channels last, to words.

    >>> [hex(word) for word in pack(np.array([1, 0, 1, 1] + [0] * 60 + [1]))]
    ['0xd', '0x1']
    """
    ones = np.asarray(ones, bool)
    channels = ones.shape[-1]
    padded = np.zeros((*ones.shape[:-1], words_for(channels) * WORD), bool)
    padded[..., :channels] = ones
    packed = np.packbits(padded, axis=-1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def unpack(words: NDArray[np.uint64], channels: int) -> NDArray[np.bool_]:
    """Words to booleans, channels last."""
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little", count=channels).astype(bool)


def signs(words: NDArray[np.uint64], channels: int) -> NDArray[np.int64]:
    """Words to +1 and -1."""
    return 2 * unpack(words, channels).astype(np.int64) - 1
