"""The geometry of a sliding window: convolutions and pools take it from here."""

from __future__ import annotations


def out_size(
    size: tuple[int, int], kernel: int, stride: int, pad: int, pad_after: int | None = None
) -> tuple[int, int]:
    """Rows and columns of the output; `pad_after` (as pad) counts below and to the right.

    >>> out_size((32, 32), kernel=3, stride=2, pad=1)
    (16, 16)
    """
    around = pad + (pad if pad_after is None else pad_after) - kernel
    return (size[0] + around) // stride + 1, (size[1] + around) // stride + 1


def taps(kernel: int, stride: int, pad: int, size: int, out: int) -> list[tuple[int, slice, slice]]:
    """For each kernel row (or column): its number, the outputs for which it lies inside, and the inputs it reads."""
    ranges = []
    for tap in range(kernel):
        inside = [o for o in range(out) if 0 <= o * stride + tap - pad < size]
        if inside:
            first, last = inside[0], inside[-1]
            start = first * stride + tap - pad
            ranges.append((tap, slice(first, last + 1), slice(start, last * stride + tap - pad + 1, stride)))
    return ranges
