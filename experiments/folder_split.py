"""What a folder's own test says, by how it is split: object-sessions, ten objects, exact sums, Bi-Real-18.

    python experiments/folder_split.py /data/object-sessions

Frames of one session are near-duplicates. Every fifth frame as the test, the last series (data/series.py) by looks
alone and by names too, and, what a new day would say, two whole sessions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay import Learner
from bitreplay.data.pictures.fitting import fit_pictures
from bitreplay.data.series import series
from bitreplay.data.splitting import choose_test

OBJECTS = [f"o{number}" for number in range(3, 51, 5)]
SESSIONS = range(1, 9)
HELD_OUT = (7, 8)


def main(root: Path) -> None:
    files = [(file, name, session) for name in OBJECTS for session in SESSIONS
             for file in sorted((root / f"s{session}" / name).iterdir())]  # fmt: skip
    paths, names, sessions = [row[0] for row in files], np.array([row[1] for row in files]), [row[2] for row in files]
    learner = Learner.from_pretrained("bireal18")
    images = fit_pictures(paths, learner.strategy.side)
    latents = learner.encode(images)
    tests = {title: np.zeros(len(files), bool) for title in ("every fifth", "series, by looks", "series, by names too")}
    for name in OBJECTS:
        samples = np.flatnonzero(names == name)
        counted = [Path(f"IMG_{1000 + number}.jpg") for number in range(len(samples))]
        tests["every fifth"][samples[4::5]] = True
        for title, called in (("series, by looks", counted), ("series, by names too", [paths[at] for at in samples])):
            groups = series(called, images[samples], [None] * len(samples))
            tests[title][samples[sorted(choose_test(groups, 5))]] = True
    tests["two whole sessions"] = np.isin(sessions, HELD_OUT)
    for title, test in tests.items():
        print(f"{title}: {100 * accuracy(latents, names, test):.1f} % of {test.sum()}")


def accuracy(latents: NDArray, names: NDArray, test: NDArray[np.bool_]) -> float:
    learner = Learner.from_pretrained("bireal18")
    learner.learn_encoded(latents[~test], names[~test])
    return learner.evaluate_encoded(latents[test], names[test]).accuracy


if __name__ == "__main__":
    main(Path(sys.argv[1]))
