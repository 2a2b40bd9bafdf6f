"""What the parts of the method are worth: a frozen tail, no CWR*, less of its past, joint training.

    bitreplay reproduce worth

Not in the paper. CIFAR-10, 500 images per class, codes computed once. Each strategy at the gain of its own that was
best on held-out pictures (tuning.py), and at its default. CIFAR-100: 250 images per class and held-out pictures, where
all were tuned; with all images one seed, without the controls that take long. Tuned replay with all images asks for
three seeds, four to five minutes of a core each.

Of 5,000 cropped and flipped images per class replay makes less than of these 500 (fig_accuracy). CWR*'s r is 12.9
there and 4.1 here, where r = 1 would cost 0.4 to 0.7 points; what lowers accuracy there is not known.
"""

from __future__ import annotations

from dataclasses import replace

import sessions
from run import Run
from tables import MODELS, TITLES, Claim, Rows, Table, markdown, span
from tuned import GAINS
from tuning import GRID

COLUMNS = [TITLES[m] for m in MODELS]
PARTS = {
    "replay, as it is": "replay", "its tail frozen": "frozen-tail", "without consolidation": "no-consolidation",
    "the past counts no more than the present (r <= 1)": "past-1", "the past counts nothing (r = 0)": "past-0",
    "BNN+CWR*": "cwr", "joint training": "joint", "exact sums (nothing to tune)": "exact",
}  # fmt: skip
LONG = ("replay", "no-consolidation", "past-1", "past-0")


def usual(model: str, strategy: str, data: str = "cifar10", epochs: int = 5) -> Run:
    return Run(data=data, model=model, strategy=strategy, epochs=epochs, images=500 if data == "cifar10" else None)


def at_best(model: str, strategy: str, data: str = "cifar10", epochs: int = 5) -> Run:
    return usual(model, strategy, data, epochs).changed(gain=GAINS.get((data, model, strategy, "nc", epochs)))


TABLES = [
    Table("CIFAR-10, final accuracy, gains tuned:", COLUMNS,
          {name: [at_best(m, s) for m in MODELS] for name, s in PARTS.items()}
          | {"joint training, 20 epochs": [at_best(m, "joint", epochs=20) for m in MODELS]}),
    Table("The same at default gains:", COLUMNS, {name: [usual(m, s) for m in MODELS] for name, s in PARTS.items()}),
    Table("All 5,000 images per class, codes computed once:", COLUMNS,
          {name: [usual(m, s).changed(images=None) for m in MODELS]
           for name, s in (("exact sums", "exact"), ("joint training, default gain", "joint"))}, seeds=1),
    Table("CIFAR-100, all images, codes computed once, gains tuned:", COLUMNS,
          {name: [at_best(m, s, "cifar100") for m in MODELS] for name, s in PARTS.items() if s not in LONG},
          seeds=1),
    Table("The same, replay beside exact sums:", COLUMNS,
          {name: [at_best(m, s, "cifar100") for m in MODELS] for name, s in PARTS.items() if s in ("replay", "exact")}),
]  # fmt: skip
CHARTS: list = []


def section(rows: Rows) -> list[str]:
    """The best of each strategy on held-out pictures of CIFAR-100, one seed."""
    body = []
    for name, strategy in PARTS.items():
        grids = [GRID.get(f"CIFAR-100, {TITLES[m]}, {strategy}") for m in MODELS]
        best = [rows.best(*grid) for grid in grids if grid]
        if best and all(best):
            body.append([name, *(f"{rows.of(run, (10,)).final:.1f}" for run in best if run)])
    head = "CIFAR-100, 250 images per class, codes computed once, the best gain of each, accuracy on held-out pictures:"
    return [head, "", *markdown(["", *COLUMNS], body)]


def claims(rows: Rows) -> list[Claim]:
    tail = Claim("(not in the paper) training the tail, against replay with a frozen one", "-")
    gains = differences(rows, "replay", "frozen-tail")
    objects = [[sessions.usual(m, s) for m in sessions.MODELS] for s in ("replay", "frozen-tail")]
    more = rows.differences(*objects)
    if gains and more:
        measured = f"CIFAR-10 {span(gains, '+.1f')} points, object sessions {span(more, '+.1f')}, at default gains"
        tail = replace(tail, ours=measured, verdict=f"{worth(gains)} on CIFAR-10, {worth(more)} on sessions")
    sums = Claim("(not in the paper) exact sums against replay", "-")
    exact, replays, full_replays = (
        [kind(m) for m in MODELS]
        for kind in (
            lambda m: usual(m, "exact"),
            lambda m: at_best(m, "replay"),
            lambda m: usual(m, "replay").changed(memory_per_class=500),
        )
    )
    gains, more = rows.differences(exact, replays), rows.differences(exact, full_replays)
    if gains and more:
        sizes = [f"{rows.of(runs[0]).memory / 1e6:.1f} MB" for runs in (exact, replays, full_replays)]
        measured = (
            f"{span(gains, '+.1f')} points over replay at tuned rates, {span(more, '+.1f')} over replay of all "
            f"500 samples per class{rows.seeds(full_replays)}; ReAct-18 keeps {sizes[0]}, "
            f"replay {sizes[1]} and {sizes[2]}"
        )
        sums = replace(sums, ours=measured, verdict="better" if min(gains + more) > 0 else "not better")
    return [tail, sums, tuned_replay(rows)]


def tuned_replay(rows: Rows) -> Claim:
    """fig_accuracy compares both at rates of their own; this is each at its best."""
    claim = Claim("Replay is better than BNN+CWR*, both at tuned rates", "-")
    final = rows.differences(*([at_best(m, s) for m in MODELS] for s in ("replay", "cwr")))
    grids = {s: [GRID[f"CIFAR-100, {TITLES[m]}, {s}"] for m in MODELS] for s in ("replay", "cwr")}
    best = {s: [rows.best(*grid) for grid in grids[s]] for s in grids}
    if not final or None in best["replay"] + best["cwr"]:
        return claim
    held = {s: [rows.of(run, (10,)).final for run in best[s] if run] for s in best}
    gaps = [ours - other for ours, other in zip(held["replay"], held["cwr"], strict=True)]
    hundred = [[at_best(m, s, "cifar100") for m in MODELS] for s in ("replay", "cwr")]
    tested = rows.differences(*hundred)
    measured = f"CIFAR-10 {span(final, '+.1f')} points; CIFAR-100 {span(gaps, '+.1f')} on held-out pictures (one seed)"
    measured += f", {span(tested, '+.1f')} on the test set{rows.seeds([*hundred[0], *hundred[1]])}" if tested else ""
    gaps += tested
    return replace(claim, ours=measured, verdict="holds" if min(final + gaps) > 0 else "does not hold everywhere")


def worth(gains: list[float]) -> str:
    return "worth little" if max(gains) < 0.5 else "worth it" if min(gains) > 0 else "mixed"


def differences(rows: Rows, ours: str, other: str) -> list[float]:
    return rows.differences([usual(m, ours) for m in MODELS], [usual(m, other) for m in MODELS])
