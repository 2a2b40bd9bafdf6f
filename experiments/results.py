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

This page takes each claim of "Enabling On-device Continual Learning with Binary Neural Networks" (Vorabbi, Maltoni,
Borghi, Santi, 2024) and says what this implementation measured, and whether the claim holds here. The last column links
to the tables behind a line, with all settings.

- **Accuracy** is final accuracy in percent on the whole test set; classes not seen yet count as wrong.
- **Seeds**: three, unless a line says fewer. A seed is also the order of the classes. Tables show mean ± standard
  deviation.
- **Learning rates** are the strategy's default. Where a line or a table says *tuned*, they were chosen on pictures
  held out of the training set ([tuning](results-tables.md#tuning)).
- **Bits** are written q_f/q_b^bin/q_b^non-bin.

**Reproduce it.** `bitreplay reproduce NAME` makes the missing rows of one section; with `--quick` all sections together
take about two minutes, on few pictures, and nothing is kept. This page is written by `python experiments/results.py`.
Accuracies come from `experiments/results/runs.jsonl`, where each row has its commit, weights, seed, settings, machine
and the hash of the learned state (of format 2). Times and instruction counts come from `benchmarks/results`.
"""
LEFT_OUT = """## What was left out, and why

- **CORe50.** Its images were not available. `object-sessions` stands in for the paper's two accuracy figures on it and
  for its numbers of samples: 80 objects, semi-synthetic, in CORe50's tree. None of its figures says anything about
  CORe50's. It is not published, so readers cannot repeat its rows. With CORe50's images, `bitreplay reproduce core50`
  runs the real experiment. What the paper shows on CORe50 of q_b split in two was not run.
- **Weights.** The paper's QuickNets have Larq's ImageNet weights, which were not available. Ours were pre-trained on
  Tiny-ImageNet.
- **Boards.** None was available. Times are those of one core of a server; for ARM, instructions were counted under
  qemu-user.
- **CIFAR-100** is a re-split: all of its images, 500 and 100 per class, but not the official halves.
- **Size.** All images, cropped and flipped, were run at 8/1/16 and in floating point. Other widths have 200 or 500
  images per class whose codes are computed once, and CIFAR-100 at 32 bits has 100. At full size a run of replay takes
  up to an hour of one core at 8 or 16 bits for all layers, and four hours at 32. So the verdict on 8 bits is of 200
  images per class of CIFAR. Six runs at full size in which binary weights move were not made.
- **Seeds.** BNN+CWR* in floating point at full size takes about half an hour of one core per run. Three of its four
  cells have two seeds; with 200 images per class of CIFAR-10 it has three.
- **Tuned replay** on CIFAR-100's test set has fewer seeds than were asked for, and float latents of QuickNetLarge on
  object sessions were not run: for lack of time, five and some ten minutes of one core per run.
"""
TABLES = """# All tables

The tables behind [the claims](results.md), one section per experiment.

- **Average incremental accuracy**: accuracy on the classes seen so far, mean over experiences.
- **Forgetting**: how far accuracy on the classes of an experience falls from its best, mean over experiences.

Rows have CPU seconds too, of several machines; [exact.md](exact.md#time) compares strategies on one machine.
"""
FIRST = fig_accuracy


def main() -> None:
    write(rows())
    all_rows = Rows(rows())
    claims = [(name, claim) for name, module in EXPERIMENTS.items() for claim in module.claims(all_rows)]
    cells = [[c.claim, c.theirs, c.ours, c.verdict, f"[{name}](results-tables.md#{name})"] for name, c in claims]
    lines = [INTRODUCTION, "## The claims", "", *markdown(["claim", "paper", "here", "verdict", "rows"], cells)]
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
    return [
        f"**Missing rows.** {total - sum(missing.values())} of the {total} runs that `bitreplay reproduce all` asks "
        f"for have a row. Missing are {each}, for lack of time: each takes from five minutes to hours of one core."
    ]


def origins() -> list[str]:
    """Rows that cannot say all of where they come from; a later row of the same run takes an earlier one's place."""
    every = rows()
    changed = sum(row["commit"].endswith("+") for row in every)
    nameless = sum(row["machine"] == "unknown" for row in every)
    return [
        f"**Origins.** {changed} of {len(every)} rows were made with files that differed from the commit that they "
        f"name (it ends in +), and {nameless} rows do not name their machine. All such rows that were made again, "
        "from a clean commit, ended in the same accuracies and the same hash."
    ]


if __name__ == "__main__":
    main()
