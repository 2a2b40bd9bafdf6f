"""Draws docs/results.md and its charts from the committed rows, and what the planner expects of settings.

    python experiments/results.py

Nothing in it is written by hand but the words around the tables, which are here and in the experiments' docstrings.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

from expected import write
from grid import rows
from listed import EXPERIMENTS
from tables import Rows, drawn, markdown

from bitreplay.cli.plot import line_chart

DOCS = Path(__file__).resolve().parents[1] / "docs"
INTRODUCTION = """# The paper's claims, one by one

Every figure on this page is drawn from `experiments/results/runs.jsonl` by `python experiments/results.py`. A row has
the commit, the weights, the seed, the settings, the machine and the hash of the learned state. `bitreplay reproduce
NAME` makes the rows of one section anew and skips those that exist; `--quick` makes a small set of them in a few
minutes.

Accuracy is on the whole test set; classes not yet seen count as wrong. Final: after the last experience. Average
incremental: on the classes seen so far, mean over experiences. Three seeds, which are also the order of the classes,
mean ± standard deviation. Rates were chosen on pictures held out of the training set ([below](#tuning)).

What was not possible: CORe50's images and boards were not at hand. A semi-synthetic stand-in and counted instructions
take their places, and say so. CIFAR-100 is a re-split: all its images, 500 and 100 a class, but not the official
halves.
"""


def main() -> None:
    write(rows())
    found = Rows(rows())
    claims = [claim for module in EXPERIMENTS.values() for claim in module.claims(found)]
    lines = [INTRODUCTION, "## The claims", ""]
    lines += markdown(["claim", "paper", "here", ""], [[c.claim, c.theirs, c.ours, c.verdict] for c in claims])
    bodies = {name: section(module, found) for name, module in EXPERIMENTS.items()}
    for name, body in bodies.items():
        lines += [f"## {name}", "", *body] if body else []
    if not all(bodies.values()):
        lines.append(f"Not run so far: {', '.join(name for name, body in bodies.items() if not body)}.")
    (DOCS / "results.md").write_text("\n".join(lines).rstrip() + "\n")


def section(module: ModuleType, found: Rows) -> list[str]:
    """The docstring, then tables and charts; nothing where there is no row."""
    body = [line for table in module.TABLES for line in drawn(table, found)]
    body += module.section(found) if hasattr(module, "section") else []
    asked = dict.fromkeys(run for table in module.TABLES for run in table.runs)
    there = sum(bool(found.of(run)) for run in asked)
    if body and there < len(asked):
        body.append(f"({there} of {len(asked)} settings have rows so far.)\n")
    for chart in module.CHARTS:
        lines = {label: found.of(run) for label, run in chart.lines.items()}
        shares = {label: [value / 100 for value in figures.after] for label, figures in lines.items() if figures}
        if shares:
            path = DOCS / "plots" / f"{chart.name}.svg"
            path.parent.mkdir(exist_ok=True)
            path.write_text(line_chart(chart.title, shares))
            body += [f"![{chart.title}](plots/{chart.name}.svg)", ""]
    return [inspect.getdoc(module) or "", "", *body] if body else []


if __name__ == "__main__":
    main()
