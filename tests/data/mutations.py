"""Changes to the bytes of a file: what a bad card, a broken download or an ill will makes of it."""

import numpy as np

EXTREMES = [bytes(4), b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\0\0\0", b"\0\0\0\x80",
            b"\0\0\xff\xff", b"\x01\0\0\0", b"\0\0\0\x01", b"\0\0\x40\0"]  # fmt: skip


def mutated(good: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """One to four changes, most of them near the beginning or the end, where formats describe themselves."""
    bad = bytearray(good)
    for _ in range(1 + rng.integers(4)):
        if not bad:
            break
        near = min(len(bad), 120)
        places = rng.integers(near), len(bad) - 1 - rng.integers(near), rng.integers(len(bad))
        at = int(places[rng.choice(3, p=(0.5, 0.2, 0.3))])
        match rng.integers(8):
            case 0 | 1:
                bad[at] = rng.integers(256)
            case 2:
                bad[at] ^= 1 << rng.integers(8)
            case 3:
                bad[at : at + 4] = EXTREMES[rng.integers(len(EXTREMES))]
            case 4:
                bad[at : at + 2] = EXTREMES[rng.integers(len(EXTREMES))][:2]
            case 5:
                del bad[at : at + int(2 ** rng.integers(12))]
            case 6:
                bad[at:at] = bad[at : at + int(2 ** rng.integers(12))]
            case _:
                cut = int(rng.integers(len(other)))
                bad[at:] = other[cut:] if rng.random() < 0.5 else b""
    return bytes(bad)
