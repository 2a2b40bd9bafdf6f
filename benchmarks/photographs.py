"""100 photographs of 12 megapixels, from files to a model's square, beside Pillow's own draft and resize.

    python -m benchmarks.photographs                 writes results/photographs.csv

One photograph (shades, edges and noise, JPEG at quality 90, 4.3 MB) is written and read 100 times by each side, in
turns of ten, in one process; seconds are CPU time. Memory is the peak of a fresh process above what it held when its
modules were loaded and one small picture was read.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.picture import read
from tests.data.pictures.peak import peaks_above_base
from tests.data.pictures.photographs import photograph

COUNT, TURNS = 100, 10
SIDES = (32, 64, 128, 224)
OURS = """
from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.picture import read
def work(path, side, count):
    for _ in range(count):
        fitting.fit_pictures(read(path, side), side)
"""
THEIRS = """
import numpy as np
from PIL import Image
def work(path, side, count):
    for _ in range(count):
        with Image.open(path) as image:
            image.draft("RGB", (side, side))
            np.asarray(image.resize((side, side)))
"""


def pillow(path: Path, side: int) -> np.ndarray:
    with Image.open(path) as image:
        image.draft("RGB", (side, side))
        return np.asarray(image.resize((side, side)))


def seconds(path: Path, side: int) -> dict[str, float]:
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: fitting.fit_pictures(read(path, side), side),
        "pillow": lambda: pillow(path, side),
    }
    seconds_of = dict.fromkeys(works, 0.0)
    for _ in range(TURNS):
        for name, work in works.items():
            start = time.process_time()
            for _ in range(COUNT // TURNS):
                work()
            seconds_of[name] += time.process_time() - start
    return seconds_of


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder, "large.jpg"), Path(folder, "small.jpg")
        large.write_bytes(photograph(4000, 3000))
        small.write_bytes(photograph(64, 64))
        for side in SIDES:
            seconds_of = seconds(large, side)
            calls = [(small, side, 1), (large, side, COUNT)]
            ours, theirs = (peaks_above_base(code, calls)[1] for code in (OURS, THEIRS))
            ratio = round(seconds_of["ours"] / seconds_of["pillow"], 2)
            memory = [round(count / 2**20, 1) for count in (ours, theirs)]
            rows.append((side, round(seconds_of["ours"], 2), round(seconds_of["pillow"], 2), ratio, *memory))
            print(*rows[-1])
    with open(Path(__file__).with_name("results") / "photographs.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("side", "our seconds", "Pillow's seconds", "ratio", "our MiB", "Pillow's MiB"))
        table.writerows(rows)


if __name__ == "__main__":
    main()
