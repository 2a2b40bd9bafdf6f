"""Draws docs/results.md, the tables behind it and its charts from the committed rows, and what the planner expects.

    python experiments/results.py

Nothing in them is written by hand but the words around the tables, which are here and in the experiments' docstrings.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import fig_accuracy
from expected import write
from grid import rows
from listed import EXPERIMENTS, ON_REQUEST
from reproduce import runs_of
from tables import SEEDS, Rows, markdown, render_table

from bitreplay.cli.plot import line_chart

DOCS = Path(__file__).resolve().parents[1] / "docs"
INTRODUCTION = """# The paper's claims, one by one

Every figure on this page is drawn by `python experiments/results.py`: accuracies from `experiments/results/runs.jsonl`,
where a row has the commit, the weights, the seed, the settings, the machine and the hash of the learned state, that of
format 2; times and instructions from the rows in `benchmarks/results`.
[All tables](results-tables.md) has the settings behind each claim, one section per experiment; `bitreplay reproduce
NAME` makes the missing rows of one section; with `--quick` all of them take about two minutes, on few pictures, and are
not kept.

Accuracy is on the whole test set; classes not yet seen count as wrong. Final: after the last experience. Three seeds,
which are also the order of the classes, unless a line says fewer; mean ± standard deviation. Learning rates were chosen
on pictures held out of the training set ([tuning](results-tables.md#tuning)) where a table says so, and are the
strategy's own elsewhere. Bits are q_f/q_b^bin/q_b^non-bin.
"""
LEFT_OUT = """## What was not possible, and what was left out

- CORe50's images were not available. For the paper's two accuracy figures on it, and for its numbers of samples,
  `object-sessions` stands in: 80 objects in CORe50's tree, semi-synthetic, and none of its figures says anything about
  CORe50's. It is not published, so readers cannot repeat its rows; who has CORe50's images runs `bitreplay reproduce
  core50`. What the paper shows on CORe50 of q_b split in two has no counterpart.
- The paper's QuickNets have Larq's ImageNet weights, which were not available; ours were pre-trained on Tiny-ImageNet.
- No boards were available. Times are those of one core of a server; for ARM, instructions are counted under qemu-user.
- CIFAR-100 is a re-split: all its images, 500 and 100 per class, but not the official halves.
- At full size (all images, cropped and flipped) there are replay and BNN+CWR* at 8/1/16 and in floating point; other
  sweeps take 200 or 500 images per class, whose codes are computed once, CIFAR-100 at 32 bits 100, and say so. Replay
  at 16 bits or 8 for all layers takes up to an hour of a core per run at full size, at 32 bits four; with 100 images of
  CIFAR-100 per class, at 32 bits, half an hour to an hour.
- Runs on CIFAR-10 in which binary weights move have 200 images per class, and so have those on CIFAR-100 at equal
  widths, at most: the verdict on 8 bits is of that size.
- BNN+CWR* in floating point at full size takes about half an hour of a core per run: three of its four cells have fewer
  than three seeds. With 200 images per class of CIFAR-10 it has all.
"""
TABLES = """# All tables

What the lines of [the claims](results.md) were drawn from, one section per experiment. Average incremental accuracy: on
the classes seen so far, mean over experiences. Forgetting: how far the classes of an experience fall from their best,
mean over experiences. CPU seconds are in the rows and of several machines; [exact.md](exact.md#time) has them side by
side on one.
"""
FIRST = fig_accuracy


def main() -> None:
    write(rows())
    all_rows = Rows(rows())
    claims = [(name, claim) for name, module in EXPERIMENTS.items() for claim in module.claims(all_rows)]
    cells = [[c.claim, c.theirs, c.ours, c.verdict, f"[{name}](results-tables.md#{name})"] for name, c in claims]
    lines = [INTRODUCTION, "## The claims", "", *markdown(["claim", "paper", "here", "", "rows"], cells)]
    lines += ["## The grid", "", *FIRST.grid(all_rows)]
    lines += ["## Class by class", "", *render_table(FIRST.TABLES[0], all_rows)]
    lines += [line for module in EXPERIMENTS.values() for line in charts(module, all_rows)]
    lines += [LEFT_OUT, *left(all_rows), "", *origins()]
    (DOCS / "results.md").write_text("\n".join(lines).rstrip() + "\n")
    tables = [TABLES]
    for name, module in EXPERIMENTS.items():
        tables += [f"## {name}", "", *body] if (body := section(module, all_rows)) else []
    (DOCS / "results-tables.md").write_text("\n".join(tables).rstrip() + "\n")


def section(module: ModuleType, all_rows: Rows) -> list[str]:
    """The docstring, then tables; nothing where there is no row."""
    body = [line for table in module.TABLES for line in render_table(table, all_rows)]
    body += module.section(all_rows) if hasattr(module, "section") else []
    return [inspect.getdoc(module) or "", "", *body] if body else []


def charts(module: ModuleType, all_rows: Rows) -> list[str]:
    body = []
    for chart in module.CHARTS:
        lines = {label: all_rows.of(run) for label, run in chart.lines.items()}
        shares = {label: [value / 100 for value in figures.after] for label, figures in lines.items() if figures}
        if shares:
            path = DOCS / "plots" / f"{chart.name}.svg"
            path.parent.mkdir(exist_ok=True)
            path.write_text(line_chart(chart.title, shares))
            body += [f"![{chart.title}](plots/{chart.name}.svg)", ""]
    return body


def left(all_rows: Rows) -> list[str]:
    """How many of the runs that `reproduce all` asks for have no row."""
    requested = {name: runs_of(name, len(SEEDS)) for name in EXPERIMENTS if name not in ON_REQUEST}
    missing = {name: sum(not all_rows.of(run, (run.seed,)) for run in runs) for name, runs in requested.items()}
    if not any(missing.values()):
        return ["Every run that `bitreplay reproduce all` asks for has its row."]
    each = ", ".join(f"{number} of {name}" for name, number in missing.items() if number)
    total = len({run for runs in requested.values() for run in runs})
    return [f"Of {total} runs that `bitreplay reproduce all` asks for these have no row: {each}."]


def origins() -> list[str]:
    """Rows that cannot say all of where they come from; a later row of the same run takes an earlier one's place."""
    every = rows()
    changed = sum(row["commit"].endswith("+") for row in every)
    nameless = sum(row["machine"] == "unknown" for row in every)
    return [
        f"Of {len(every)} rows {changed} were made with files that differed from the commit they name (a + behind it), "
        f"and {nameless} do not name their machine."
    ]


if __name__ == "__main__":
    main()
