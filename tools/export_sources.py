"""The core as one folder of sources with one header: `bitreplay.export.sources` says what is in it.

    python tools/export_sources.py OUT              then, in OUT:  c++ -std=c++20 -O2 -c *.cc

`sizes.h` of `bitreplay export` has the bytes that a learner takes; `bitreplay export --package` has both and a model.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bitreplay.export.sources import sources

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        sys.exit(f"{out} is not empty.")
    terms = {name: (ROOT / name).read_text() for name in ("LICENSE", "NOTICE")}
    for name, text in (sources() | terms).items():
        (out / name).write_text(text)


if __name__ == "__main__":
    main()
