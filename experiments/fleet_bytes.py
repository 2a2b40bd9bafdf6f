"""How many bytes does a device of a fleet send? Messages about groceries beside other codes of the same sums.

    python experiments/fleet_bytes.py          rows in results/fleet_bytes.csv

Each row: pictures drawn from the training set (seed 0), learned, and what it takes to send that: the state file; its
integers of 7 bits a byte (zigzag, as protocol buffers write them); zlib and lzma of the state file; the message, and
the message with lzma in place of zlib; masked, 32 bits a number, which cannot be packed. Milliseconds: best
of three.
"""

from __future__ import annotations

import lzma
import time
import zlib
from collections.abc import Callable
from functools import partial

import numpy as np
from networks import published
from numpy.typing import NDArray
from rows import RESULTS, append

from bitreplay.data.groceries import groceries
from bitreplay.fleet import Message
from bitreplay.fleet.packing import LEVEL, expected_products
from bitreplay.fleet.since import content_of
from bitreplay.learner import Learner

CASES = (("react_tiny", 128), ("react_tiny", None), ("quicknet", None), ("react18", None))
HEADER = ("model", "features", "pictures", "classes", "state", "varint", "zlib", "lzma", "message", "message_lzma",
          "masked", "message_ms", "lzma_ms")  # fmt: skip


def varint_bytes(numbers: NDArray[np.int64]) -> int:
    zigzag = ((numbers << 1) ^ (numbers >> 63)).astype(np.uint64)
    return sum(int(np.count_nonzero(zigzag >= np.uint64(1 << 7 * k))) for k in range(1, 9)) + len(numbers)


def planes(numbers: NDArray[np.int64]) -> bytes:
    zigzag = ((numbers << 1) ^ (numbers >> 63)).astype("<u4")
    return zigzag.view(np.uint8).reshape(-1, 4).T.tobytes()


def timed(work: Callable[[], bytes]) -> tuple[int, float]:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        data = work()
        times.append(time.perf_counter() - start)
    return len(data), round(1e3 * min(times), 1)


def main() -> None:
    data = groceries()
    for model, n_components in CASES:
        for pictures in (20, 200):
            chosen = np.random.default_rng(0).permutation(len(data.train_images))[:pictures]
            learner = Learner.from_pretrained(published(model), strategy="exact", n_components=n_components)
            learner.learn(data.train_images[chosen], data.train_labels[chosen])
            state, statistics = learner.to_bytes(), learner.state().parts["sums"].arrays
            counts, class_sums, products = (statistics[name] for name in ("counts", "class_sums", "products"))
            numbers = np.concatenate([counts, class_sums.reshape(-1), products]).astype(np.int64)
            rest = products - expected_products(counts, class_sums)
            left = np.concatenate([counts, class_sums.reshape(-1), rest]).astype(np.int64)
            message, ms = timed(Message("scale", content_of(learner)).to_bytes)
            by_lzma, lzma_ms = timed(partial(lzma.compress, planes(left)))
            row = (model, class_sums.shape[1], pictures, len(counts), len(state), varint_bytes(numbers),
                   len(zlib.compress(state, LEVEL)), len(lzma.compress(state)), message, by_lzma,
                   4 * (len(numbers) + 2), ms, lzma_ms)  # fmt: skip
            append(RESULTS / "fleet_bytes.csv", HEADER, row)


if __name__ == "__main__":
    main()
