"""The same 60 pictures for every machine: fifteen photographs of four kinds of fruit, learned in two experiences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay import Learner
from bitreplay.data.groceries import groceries

MODEL, EACH = "react_tiny", 15
EXAMPLE, DRIVEN = "learn", "learn"  # examples/*.c, tests/wasm/drive.js
NAMES = ["apple", "melon", "pear", "plum"]
LABELS = [name for name in NAMES for _ in range(EACH)]


def pictures() -> NDArray[np.uint8]:
    data = groceries()
    return np.concatenate([data.train_images[np.flatnonzero(data.train_labels == c)[:EACH]] for c in range(len(NAMES))])


def learner() -> Learner:
    return Learner.from_pretrained(MODEL, strategy="exact")


def learned() -> Learner:
    """Class by class, as examples/learn.c does."""
    made, images = learner(), pictures()
    for start in range(0, len(images), EACH):
        made.learn(images[start : start + EACH], LABELS[start : start + EACH])
    return made


def write_files(folder: Path) -> list[tuple[str, list[Path]]]:
    """The pictures of each name as PPM."""
    found = []
    for start in range(0, len(LABELS), EACH):
        paths = []
        for number, image in enumerate(pictures()[start : start + EACH], start):
            path = folder / f"{number}.ppm"
            path.write_bytes(b"P6\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes())
            paths.append(path)
        found.append((LABELS[start], paths))
    return found


if __name__ == "__main__":
    print(learned().state_hash())
