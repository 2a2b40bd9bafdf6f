"""The command line of the benchmark."""

from __future__ import annotations

import argparse

from benchmarks import bench

parser = argparse.ArgumentParser(prog="python -m benchmarks.bench", description=bench.__doc__.splitlines()[0])
parser.add_argument("--json", action="store_true", help="print JSON, with all that the figures depend on")
parser.add_argument("--rounds", type=int, default=20, help="the best of so many rounds counts (default: 20)")
parser.add_argument("--only", action="append", default=[], metavar="QUESTION",
                    help=f"one of {', '.join(bench.QUESTIONS)}; may be repeated")  # fmt: skip
options = parser.parse_args()
try:
    parser.exit(bench.main(json=options.json, rounds=options.rounds, only=options.only))
except ValueError as error:
    parser.error(str(error))
