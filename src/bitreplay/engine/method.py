"""What replay does around its tail (docs/law.md section 10): reservoirs, draws, minibatches, CWR*, learning rates.

    slots(seed, c, seen, held, room, offered)      the slot of each sample of class c that is offered; -1: dropped
    drawn(seed, draw, stored, count)               places of stored samples: all different if there are that many
    epochs(samples, batch_size, epochs, min_steps) passes over the samples of an experience
    replayed(fresh, batch_size, replay_batch_size) how many stored samples join so many new ones
    epoch_order(seed, experience, epoch, samples)  sample numbers in a fresh order
    consolidate(cw, tw, past, present)             the head after an experience, in place
    rate(base, kind, done, steps)                  the learning rate of the step after `done` of `steps`

This is the reference; native_method.py has the same functions in the core. Random numbers come from the counter
generator, so that nothing is kept between calls.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.counter import key, random_bits
from bitreplay.engine.arithmetic.fixedpoint import Int64, divide_round

RESERVOIR, DRAW, SHUFFLE = 0x5EED0001, 0x5EED0002, 0x5EED0003
ROOT_POINT, RATE_POINT = 16, 32
REFERENCE_STEPS = 20
GIVEN, FITTED, FITTED_WITH_FLIPS = range(3)  # br_rate_kind
MOST, MAX_WITH_FLIPS = Fraction(1), Fraction(1, 10)


def slots(seed: int, c: int, seen: int, held: int, room: int, offered: int) -> Int64:
    """Vitter's algorithm R: sample k (counting from 1) of a class takes a free slot, or else replaces slot
    j = floor(u k / 2^32), u 32 random bits, if j < room. `seen` were offered before, `held` are kept."""
    indices = np.arange(seen, seen + offered, dtype=np.uint64)
    random = random_bits(key(seed, c, RESERVOIR), indices.astype(np.uint32)).astype(np.uint64)
    chosen = (random * (indices + np.uint64(1)) >> np.uint64(32)).astype(np.int64)
    free = min(max(room - held, 0), offered)
    chosen[:free] = held + np.arange(free)
    return np.where(chosen < room, chosen, -1)


def drawn(seed: int, draw: int, stored: int, count: int) -> Int64:
    """The start of a Fisher-Yates shuffle; with replacement if fewer are stored. Only places that were exchanged are
    remembered, so the cost follows the draws and not what is stored."""
    random = random_bits(key(seed, draw, DRAW), np.arange(count, dtype=np.uint32)).astype(np.uint64)
    if count > stored:
        return (random * np.uint64(stored) >> np.uint64(32)).astype(np.int64)
    exchanged: dict[int, int] = {}
    picked = []
    for i, u in enumerate(random.tolist()):
        j = i + (u * (stored - i) >> 32)
        picked.append(exchanged.get(j, j))
        exchanged[j] = exchanged.get(i, i)
    return np.array(picked, np.int64)


def epochs(samples: int, batch_size: int, epochs: int, min_steps: int) -> int:
    """A small experience gets as many as make `min_steps` steps."""
    return max(epochs, -(-min_steps // -(-samples // batch_size)))


def replayed(fresh: int, batch_size: int, replay_batch_size: int) -> int:
    """In proportion, also in a short minibatch."""
    return -(-replay_batch_size * fresh // batch_size)


def epoch_order(seed: int, experience: int, epoch: int, samples: int) -> Int64:
    order_key = key(seed, experience << 32 | epoch, SHUFFLE)
    return np.argsort(random_bits(order_key, np.arange(samples, dtype=np.uint32)), kind="stable")


def consolidate(cw: NDArray[np.int32], tw: NDArray[np.int32], past: Int64, present: Int64) -> None:
    """For each class present, with r = sqrt(past / present) and m the mean of all tw of these classes,

        cw <- (cw r + (tw - m)) / (r + 1),   past <- past + present

    r has 16 bits behind the point, rounded down; m and the quotient round to nearest, ties away from zero."""
    classes = np.flatnonzero(present)
    trained = tw[classes].astype(np.int64)
    mean = divide_round(int(trained.sum()), trained.size)
    for row, c in enumerate(classes):
        root = isqrt((int(past[c]) << 2 * ROOT_POINT) // int(present[c]))
        numerator = cw[c].astype(np.int64) * root + ((trained[row] - mean) << ROOT_POINT)
        cw[c] = _divide(numerator, root + (1 << ROOT_POINT))
    past += present


def rate(base: Fraction, kind: int, done: int, steps: int) -> Fraction:
    """The rate falls evenly from the first one, so that an experience ends settled. `base` is that one, if it is GIVEN,
    or what it is fitted from: long experiences take smaller steps, which was found by measuring, and where binary
    weights learn (FITTED_WITH_FLIPS) there is a lower limit, since at a high rate they flip too often."""
    if kind != GIVEN:
        root = isqrt((REFERENCE_STEPS << 2 * RATE_POINT) // steps)
        base = min(base * Fraction(root, 1 << RATE_POINT), MAX_WITH_FLIPS if kind == FITTED_WITH_FLIPS else MOST)
    return base * Fraction(steps - done, steps)


def _divide(numerator: Int64, divisor: int) -> NDArray[np.int32]:
    """Nearest, ties away from zero; |numerator| < 2^61."""
    magnitude = (2 * np.abs(numerator) + divisor) // (2 * divisor)
    return np.clip(np.sign(numerator) * magnitude, -(2**31) + 1, 2**31 - 1).astype(np.int32)
