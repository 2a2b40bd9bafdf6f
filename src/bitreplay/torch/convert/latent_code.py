"""The code of a replay layer from calibration values: per channel 2^b - 1 thresholds and 2^b reconstruction values.

1 bit, channel of both signs: threshold 0, values -m and +m with m = mean|x|. The next sign reads exactly what it would
have read without a code. A channel that hardly ever changes its sign (QuickNet's are never negative) is cut by Lloyd's
method into two cells, starting at its mean.
2 and 4 bits, channel of both signs: 0 stays a threshold, and each side is cut into 2^(b-1) cells by Lloyd's method
(thresholds half-way between neighbouring values, values the means of their cells), which starts from equal shares.
Other channels are cut as one side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.graph import Fixed, LatentCode
from bitreplay.torch.convert.layer_table import fixed

WIDTHS = (1, 2, 4)
MIN_SHARE = 0.02
ROUNDS = 20
LATENT_BITS = 16

Reals = NDArray[np.float64]


def latent_code(samples: NDArray[np.float32], bits: int) -> LatentCode:
    """From values (n, channels)."""
    cuts, values = zip(*(channel_code(column, bits) for column in samples.T.astype(np.float64)), strict=True)
    return LatentCode(bits, fixed(np.array(cuts), LATENT_BITS), fixed(np.array(values), LATENT_BITS))


def channel_code(x: Reals, bits: int) -> tuple[Reals, Reals]:
    """Thresholds and values of one channel.

    >>> channel_code(np.array([-3.0, -1.0, 1.0, 3.0]), 1)
    (array([0.]), array([-2.,  2.]))
    """
    x = np.sort(x)
    negative = int(np.searchsorted(x, 0.0))
    if min(negative, len(x) - negative) < MIN_SHARE * len(x):
        return lloyd(x, 1 << bits)
    if bits == 1:
        size = np.abs(x).mean()
        return np.zeros(1), np.array([-size, size])
    low_cuts, low = lloyd(x[:negative], 1 << (bits - 1))
    high_cuts, high = lloyd(x[negative:], 1 << (bits - 1))
    return np.concatenate([low_cuts, [0.0], high_cuts]), np.concatenate([low, high])


def lloyd(x: Reals, cells: int) -> tuple[Reals, Reals]:
    """Cut sorted values into cells; with two cells the first cut is the mean. An empty cell keeps its cut as value."""
    total = np.concatenate([[0.0], np.cumsum(x)])
    cuts = np.array([x.mean()]) if cells == 2 else np.quantile(x, np.arange(1, cells) / cells)
    values = np.zeros(cells)
    for _ in range(ROUNDS):
        edges = np.concatenate([[0], np.searchsorted(x, cuts), [len(x)]])
        counts = np.diff(edges)
        fallback = np.concatenate([cuts, cuts[-1:]])
        values = np.where(counts > 0, np.diff(total[edges]) / np.maximum(counts, 1), fallback)
        cuts = (values[1:] + values[:-1]) / 2
    return cuts, values


def decode(x: NDArray[np.float32], code: LatentCode) -> NDArray[np.float32]:
    """What the code keeps of values whose last axis is the channel."""
    cuts, values = as_real(code.thresholds), as_real(code.values)
    index = np.zeros(x.shape, np.int64)
    for cut in cuts.T:
        index += x >= cut
    return values[np.arange(x.shape[-1]), index].astype(np.float32)


def as_real(number: Fixed) -> Reals:
    return number.values.astype(np.float64) * 2.0**-number.shift
