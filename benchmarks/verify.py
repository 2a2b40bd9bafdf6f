"""What it costs to open a state again before it replaces anything, beside writing it, and to try its factor.

    python -m benchmarks.verify [FOLDER]            writes results/verify.csv; the state is written into FOLDER, .

Milliseconds, the median of 15 runs, on one machine, for sums of 1,000 pictures in 10 classes. `write` is what a save
does before: the checksum, the file, its sync. `verify` is statefile.verify of one's own file; `factor` is asked of what
comes from outside, and after forget, unlearn and merge.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

from bitreplay import Settings, statefile
from bitreplay.engine import native_sums
from bitreplay.parts.class_statistics import ClassStatistics
from bitreplay.parts.digests import Digests
from bitreplay.parts.lineage import Lineage
from bitreplay.parts.state import State
from bitreplay.statefile.atomic_write import written_beside
from bitreplay.statefile.revisions import checksum_in

RESULTS = Path(__file__).parent / "results" / "verify.csv"
RUNS, PICTURES, CLASSES = 15, 1000, 10


def content_of(n_features: int) -> statefile.Content:
    class_statistics = ClassStatistics(n_features)
    names = [f"class {number % CLASSES}" for number in range(PICTURES)]
    class_statistics.make_room(names)
    class_statistics.add(np.random.default_rng(0).integers(-127, 128, (PICTURES, n_features)).astype(np.int8), names)
    parts = {"sums": class_statistics.state_dict(), "digests": Digests().state_dict()}
    state = State(class_statistics.names, parts, {}, {"experiences": 1}, Lineage().arrays())
    return statefile.Content("none", "0" * 64, Settings(strategy="exact"), state, 96)


def measured(n_features: int, folder: Path) -> dict[str, float]:
    content = content_of(n_features)
    sums = content.state.parts["sums"].sums  # type: ignore[attr-defined]
    durations: dict[str, list[float]] = {"write": [], "verify": [], "factor": []}
    size = 0
    for _ in range(RUNS):
        start = time.perf_counter()
        data = statefile._packed("The state", content)
        with written_beside(folder / "state", data, folder / "state") as temporary:
            written = time.perf_counter()
            statefile.verify(temporary, checksum_in(data[0]))
            verified = time.perf_counter()
            size = temporary.stat().st_size
        begun = time.perf_counter()
        assert native_sums.has_factor(sums)
        durations["factor"].append(time.perf_counter() - begun)
        durations["write"].append(written - start)
        durations["verify"].append(verified - written)
    return {"bytes": size} | {f"{name}_ms": round(1e3 * median(times), 2) for name, times in durations.items()}


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    rows = [
        {"n_features": n_features, "classes": CLASSES} | measured(n_features, folder)
        for n_features in (128, 512, 1024, 2048)
    ]
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
