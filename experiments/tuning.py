"""Gains of the learning rate, tried on pictures held out of the training set; the best of each line is in tuned.py.

    bitreplay reproduce tuning

No test picture is looked at. CIFAR-10: 500 images per class to learn, 200 others to test; CIFAR-100: 250 and 50. The
seeds are not those of the results. Where the best was at an end of the gains tried, further ones were added.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from run import Run
from tables import MODELS, SWEPT, TITLES, Claim, Figures, Rows, Table

DEFAULT = {"cwr": "3"}


def gain(strategy: str, value: str) -> str | None:
    """None for a strategy's own gain, so that its run is the usual one."""
    return None if value == DEFAULT.get(strategy, "40") else value


def tried(values: str, **fields: object) -> list[Run]:
    run = Run(held=True, seed=10).changed(**fields)
    return [run.changed(gain=gain(run.strategy, value)) for value in values.split()]


# what is tuned -> the runs to choose from, and their seeds
GRID: dict[str, tuple[list[Run], tuple[int, ...]]] = {}
for model in MODELS:
    for strategy, values, seeds in (
        ("replay", "20 40 80 160", (10, 11)), ("frozen-tail", "20 40 80 160 320", (10, 11)),
        ("cwr", "1 3 10 30", (10, 11)),
        ("no-consolidation", "20 40 80", (10,)), ("past-1", "20 40 80", (10,)), ("joint", "10 20 40 80", (10,)),
    ):  # fmt: skip
        GRID[f"{TITLES[model]}, {strategy}"] = tried(values, model=model, strategy=strategy), seeds
    GRID[f"{TITLES[model]}, joint, 20 epochs"] = tried("10 20 40", model=model, strategy="joint", epochs=20), (10,)
for model in ("quicknet", "quicknet_large"):
    runs = tried("1 3 10 30", data="sessions", model=model, strategy="cwr", images=None)
    GRID[f"object sessions, {TITLES[model]}, cwr"] = runs, (10,)
for model in MODELS:
    for strategy, values in (
        ("replay", "20 40 80"), ("frozen-tail", "40 160 640"), ("cwr", "1 3 10 30"), ("joint", "10 20 40"),
    ):  # fmt: skip
        runs = tried(values, data="cifar100", model=model, strategy=strategy, images=250)
        GRID[f"CIFAR-100, {TITLES[model]}, {strategy}"] = runs, (10,)
# Further gains where the best of the first ones was at an end
FURTHER = {
    "Bi-Real-18, joint": "5", "Bi-Real-18, joint, 20 epochs": "5", "ReAct-18, joint, 20 epochs": "80",
    "CIFAR-100, ReAct-18, frozen-tail": "2560", "CIFAR-100, ReAct-18, cwr": "100", "CIFAR-100, Bi-Real-18, cwr": "100",
    "CIFAR-100, Bi-Real-18, replay": "160 320", "CIFAR-100, Bi-Real-18, joint": "80",
}  # fmt: skip
for name, values in FURTHER.items():
    first, with_seeds = GRID[name]
    runs = first + [first[0].changed(gain=value) for value in values.split()]
    GRID[name] = sorted(runs, key=lambda run: Fraction(run.gain or DEFAULT.get(run.strategy, "40"))), with_seeds
# Behind a replay layer that is not the last, with 200 images per class
REPLAY_LAYERS = {("react18", "add_11"): tried("5 10 20 40", replay_layer="add_11", images=SWEPT)}
# Gains of latent weights, with 100 images per class; `trial` is no network that ships (fig_backward_bits)
STARTS = {"react18": "spread", "bireal18": "spread", "trial": "trained"}
HIGHER = {("react18", "8/8/16"): (2, 4, 6), ("react18", "8/4/16"): (2, 4, 6), ("bireal18", "8/8/16"): (2,)}
LATENT = {
    (model, bits): [Run(held=True, seed=10, model=model, bits=bits, images=100, latent_start=start, latent_gain=k)
                    for k in (-6, -4, -2, 0, *HIGHER.get((model, bits), ()))]
    for model, start in STARTS.items() for bits in ("8/8/16", "8/4/16")
}  # fmt: skip
HELD = Run(held=True, seed=10, images=100)
LATENT["bireal18", "8/8/16, magnitude"] = [
    HELD.changed(model="bireal18", bits="8/8/16", latent_start="magnitude", latent_gain=k) for k in (-6, -4, -2, 0, 2)
]
FLIPS = {
    m: [HELD.changed(model=m, bits="8/4/16", binary="flips", latent_gain=k)
        for k in (*((2, 0, -2) if m == "react18" else ()), -4, -6, -8, -10)]
    for m in MODELS
}  # fmt: skip
# ReAct-18's best gains rise above those first tried, and with more steps fall again: chosen with the 200 images per
# class that they are used with
AGAIN = {("react18", bits): [HELD.changed(bits=bits, images=SWEPT, latent_start="spread", latent_gain=k)
                             for k in (-2, 0, 2, 4)] for bits in ("8/8/16", "8/4/16")}  # fmt: skip
AGAIN["react18", "flips"] = [
    HELD.changed(bits="8/4/16", binary="flips", images=SWEPT, latent_gain=k) for k in (-8, -6, -4, -2, 0, 2)
]
TABLES: list[Table] = []
CHARTS: list = []


def all_runs() -> list[Run]:
    runs_of_seeds = [run.changed(seed=seed) for runs, seeds in GRID.values() for run in runs for seed in seeds]
    return (
        runs_of_seeds
        + [run for runs in REPLAY_LAYERS.values() for run in runs]
        + [run for (model, _), runs in LATENT.items() if model in MODELS for run in runs]
        + [run for runs in FLIPS.values() for run in runs]
        + [run for runs in AGAIN.values() for run in runs]
    )


def section(rows: Rows) -> list[str]:
    """A line a strategy: gain and held-out accuracy, the best in bold."""
    lines = []
    for name, (runs, seeds) in GRID.items():
        results = [(run, rows.of(run, seeds)) for run in runs]
        if all(figures for _, figures in results):
            lines.append(f"| {name} | {cells(results, lambda run: run.gain or DEFAULT.get(run.strategy, '40'))} |")
    for (model, replay_layer), runs in REPLAY_LAYERS.items():
        results = [(run, rows.of(run, (10,))) for run in runs]
        if all(figures for _, figures in results):
            lines.append(
                f"| {TITLES[model]} behind {replay_layer}, replay | {cells(results, lambda run: run.gain or '40')} |"
            )
    for (model, bits), runs in LATENT.items():
        results = [(run, rows.of(run, (10,))) for run in runs]
        if all(figures for _, figures in results):
            lines.append(
                f"| {TITLES.get(model, model)}, {bits}, latent weights "
                f"| {cells(results, lambda run: f'2^{run.latent_gain}')} |"
            )
    for model, runs in FLIPS.items():
        results = [(run, rows.of(run, (10,))) for run in runs]
        if all(figures for _, figures in results):
            lines.append(f"| {TITLES[model]}, signs that flip without latent weights | {cells(results, flips)} |")
    for (model, bits), runs in AGAIN.items():
        results = [(run, rows.of(run, (10,))) for run in runs]
        if all(figures for _, figures in results):
            what = "signs that flip" if bits == "flips" else f"{bits}, latent weights"
            lines.append(f"| {TITLES[model]}, {what}, 200 images per class | {cells(results, flips)} |")
    return ["| | gain: held-out accuracy |", "|---|---|", *lines, ""] if lines else []


def cells(results: list[tuple[Run, Figures]], label: Callable[[Run], str]) -> str:
    best = max(figures.final for _, figures in results)
    each = [f"{label(run)}: {figures.final:.1f}" for run, figures in results]
    return ", ".join(f"**{text}**" if f.final == best else text for text, (_, f) in zip(each, results, strict=True))


def flips(run: Run) -> str:
    return f"2^{run.latent_gain}"


def claims(rows: Rows) -> list[Claim]:
    return []
