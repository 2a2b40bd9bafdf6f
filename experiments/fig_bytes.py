"""Accuracy against bytes: replay memory and sums, CIFAR-10 class by class, ReAct-18, 500 images per class.

    python experiments/fig_bytes.py make        rows of replay that are missing, in results/runs.jsonl
    python experiments/projection.py measure --models react18 --each 500
    python experiments/fig_bytes.py             docs/plots/accuracy_bytes.svg (its table in docs/exact.md: make figures)

Replay stores 4 to 200 1-bit latents of 1,024 bytes per class; sums have 128 to 2,048 features. Counted is what a device
keeps of pictures beside the model file that both need: stored latents, or products, class sums and counts, and for
projected features the axes in flash. Not counted: replay's tail and head, which learn and are kept too.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

from grid import ROWS, finish, rows
from run import Run
from tables import Rows

from bitreplay.cli.plot import COLOURS

RESULTS = Path(__file__).parent / "results"
PLOT = Path(__file__).parents[1] / "docs" / "plots" / "accuracy_bytes.svg"
STORED = (4, 13, 30, 53, 200)
IMAGES = 500
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 56, 24, 44, 48
MARKS = {3e4: "30 KB", 1e5: "100 KB", 3e5: "300 KB", 1e6: "1 MB", 3e6: "3 MB", 1e7: "10 MB"}
LOWEST, HIGHEST, FEWEST, MOST = 60, 90, 15_000, 12_000_000


def replay_runs() -> list[Run]:
    return [Run(model="react18", memory_per_class=stored, seed=0) for stored in STORED]


def replay_points() -> list[tuple[str, int, float]]:
    """(what, bytes, accuracy), the mean of the seeds that have rows: three of 30 latents, one of the others."""
    all_rows = Rows(rows())
    runs = {stored: all_rows.of(Run(model="react18", memory_per_class=stored)) for stored in STORED}
    return [(f"{stored} latents per class", round(f.memory), f.final) for stored, f in runs.items() if f]


def sums_points() -> list[tuple[str, int, int, float]]:
    """(what, bytes of the state, bytes in flash, accuracy)."""
    with (RESULTS / "projection.csv").open() as file:
        mine = [row for row in csv.DictReader(file) if row["model"] == "react18" and row["data"] == "cifar10"]
    exact = Rows(rows()).of(Run(model="react18", strategy="exact"))
    return [
        (f"{row['n_components']} components", int(row["products_bytes"]) + int(row["class_sums_bytes"]),
         int(row["projection_bytes"]), float(row["accuracy"]))
        for row in mine if row["axes"] == "principal" and row["pictures"] == str(10 * IMAGES)
    ] + [("all 2048 features", round(exact.memory), 0, exact.final)]  # fmt: skip


def x_of(size: float) -> float:
    share = (math.log(size) - math.log(FEWEST)) / (math.log(MOST) - math.log(FEWEST))
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def y_of(percent: float) -> float:
    return round(TOP + (HIGHEST - percent) / (HIGHEST - LOWEST) * (HEIGHT - TOP - BOTTOM), 1)


def line(name: str, points: list[tuple[int, float]], colour: str, number: int, dashes: str = "") -> list[str]:
    path = " ".join(f"{x_of(size)},{y_of(percent)}" for size, percent in points)
    y = HEIGHT - BOTTOM - 62 + 20 * number
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>',
        *(f'<circle cx="{x_of(size)}" cy="{y_of(percent)}" r="3.5" fill="{colour}"/>' for size, percent in points),
        f'<rect x="{WIDTH - 330}" y="{y - 9}" width="10" height="10" fill="{colour}"/>',
        f'<text x="{WIDTH - 314}" y="{y}">{name}</text>',
    ]


def chart() -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="16">CIFAR-10, ReAct-18, 500 images per class: accuracy and bytes</text>',
    ]
    for percent in range(LOWEST, HIGHEST + 1, 5):
        y = y_of(percent)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for size, text in (
        (30e3, "30 KB"),
        (100e3, "100 KB"),
        (300e3, "300 KB"),
        (1e6, "1 MB"),
        (3e6, "3 MB"),
        (1e7, "10 MB"),
    ):
        parts.append(f'<text x="{x_of(size)}" y="{HEIGHT - 26}" text-anchor="middle">{text}</text>')
    parts.append(f'<text x="{WIDTH // 2}" y="{HEIGHT - 8}" text-anchor="middle">bytes, logarithmic</text>')
    sums = sums_points()
    parts += line("sums: the state", [(state, share) for _, state, _, share in sums], COLOURS[0], 0)
    whole = [(state + flash, share) for _, state, flash, share in sums]
    parts += line("sums: the state and the axes in flash", whole, COLOURS[3], 1, ' stroke-dasharray="5 4"')
    parts += line("replay: the stored latents", [(size, share) for _, size, share in replay_points()], COLOURS[1], 2)
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    if sys.argv[1:2] == ["make"]:
        for result in finish(replay_runs(), ROWS, Path("runs") / "codes"):
            print(
                result["config"]["memory_per_class"],
                result["seed"],
                result["final"],
                result["memory_bytes"],
                flush=True,
            )
        return
    PLOT.write_text(chart())


if __name__ == "__main__":
    main()
