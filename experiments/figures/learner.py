"""docs/learner.md's figures."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from grid import rows as read_runs
from networks import published
from tables import Rows
from tuning import GRID

from bitreplay.learner import Learner
from bitreplay.strategies.gradient import Gradient
from figures.committed import (
    BENCHMARKS,
    EXPERIMENTS,
    MODELS,
    Row,
    check_seeds,
    few,
    format_number,
    groceries,
    mean,
    rows,
    rows_where,
    single_row,
    table,
    title_of,
    weights,
)

PAGE = "docs/learner.md"
NETWORKS = ("react18", "bireal18", "quicknet")


def _final(matches: list[Row]) -> str:
    return format_number(mean(row["final"] for row in matches)) if matches else ""


def replay(model: str, min_steps: str) -> str:
    return _final(groceries(model, "replay", min_steps=min_steps))


def rates() -> str:
    titles = {rate: rate for rate in ("1/50", "1/20", "1/5", "1")} | {"fitted": "fitted: 1/18 and 1/2.8 at 40 steps"}
    models = ("bireal18", "react18")
    lines = [
        [title, *(_final(groceries(m, "replay", learning_rate=rate)) for m in models)] for rate, title in titles.items()
    ]
    return table(["start", "Bi-Real-18", "ReAct-18"], lines)


def power(model: str) -> str:
    """About the mean of |x|^2 over the features that the head reads."""
    strategy = Learner.from_pretrained(published(model), strategy="replay").strategy
    assert isinstance(strategy, Gradient)
    return format_number(round(float(strategy.tail.feature_power)), 0)


def _by_gain(model: str) -> dict[str, Decimal]:
    """Mean accuracy on held-out training photographs of groceries, by the gain of replay."""
    gains: dict[str, list[Row]] = {}
    for row in rows_where(EXPERIMENTS / "groceries_gain.csv", model=model):
        gains.setdefault(row["gain"], []).append(row)
    return {gain: mean(row["final"] for row in check_seeds(matches)) for gain, matches in gains.items()}


def gains() -> str:
    """The best of each network in bold; gains that one was not tried at are empty."""
    every = sorted({row["gain"] for row in rows(EXPERIMENTS / "groceries_gain.csv")}, key=Fraction)
    lines = []
    for title in ("ReAct-18", "Bi-Real-18", "QuickNet"):
        means = _by_gain(MODELS[title])
        texts = {gain: format_number(value) for gain, value in means.items()}
        best = max(means, key=lambda gain: means[gain])
        lines.append([title_of(title), *(f"**{texts[g]}**" if g == best else texts.get(g, "") for g in every)])
    if _best_gain("react18") != "40":
        raise LookupError("the page says that 40 is the best for ReAct-18")
    return table(["gain", *every], lines)


def _best_gain(model: str) -> str:
    means = _by_gain(model)
    return max(means, key=lambda gain: means[gain])


def gain_cost(model: str) -> str:
    """By how much the default gain ends below the best."""
    means = _by_gain(model)
    return format_number(means[_best_gain(model)] - means["40"])


def gain_spread(model: str) -> str:
    """From the lowest to the highest seed at the default gain."""
    finals = [Decimal(row["final"]) for row in rows_where(EXPERIMENTS / "groceries_gain.csv", model=model, gain="40")]
    return format_number(max(finals) - min(finals))


def below_best(data: str, strategy: str) -> str:
    """By how much the default gain ends below the best one on held-out pictures, ReAct-18 and Bi-Real-18."""
    results, gaps = Rows(read_runs()), []
    for title in ("ReAct-18", "Bi-Real-18"):
        tried, seeds = GRID[f"{'CIFAR-100, ' if data == 'cifar100' else ''}{title}, {strategy}"]
        figures = {run.gain: results.of(run, seeds).final for run in tried}
        gaps.append(format_number(Decimal(str(round(max(figures.values()) - figures[None], 4)))))
    return " and ".join(gaps)


def above_baseline(model: str) -> str:
    best = max(mean(row["final"] for row in groceries(model, strategy)) for strategy in ("cwr", "naive"))
    return format_number(mean(row["final"] for row in groceries(model, "replay")) - best, 0)


def below_joint(model: str) -> str:
    joint, replay = (mean(row["final"] for row in groceries(model, strategy)) for strategy in ("joint", "replay"))
    return format_number(joint - replay, 0)


def cwr(rate: str) -> str:
    return _final(groceries("bireal18", "cwr", learning_rate=rate))


def moving_weights(rate: str) -> str:
    """ReAct-18 at 8/8/16; `fitted` starts at 1/10, the most that is allowed."""
    return format_number(single_row(groceries("react18", "replay", bits="8/8/16", learning_rate=rate))["final"])


def strategies() -> str:
    lines = []
    for title in ("Bi-Real-18", "ReAct-18", "QuickNet", "QuickNetLarge", "VGG-Small"):
        model = MODELS[title]
        matches = groceries(model, "replay")
        each = ", ".join(format_number(row["final"]) for row in matches)
        others = [_final(groceries(model, strategy)) for strategy in ("cwr", "naive", "joint")]
        line = [f"{title} `{weights(model).replay_layers[-1]}`", _final(matches), each, *others]
        lines.append([*line, format_number(mean(row["seconds_learn"] for row in matches), 0)])
    return table(
        ["model, replay layer", "1-bit replay", "each", "BNN+CWR*", "naive", "joint", "seconds of replay"], lines
    )


def others_before() -> str:
    return format_number(mean(row["others_before"] for row in few("bireal18", "replay", 5)))


def few_pictures() -> str:
    lines: list[list[object]] = []
    for pictures in (5, 10, 20):
        matches = few("bireal18", "replay", pictures)
        names = ("new_accuracy", "others_after", "taken_for_new", "seconds")
        lines.append([pictures, *(format_number(mean(row[name] for row in matches)) for name in names)])
    return table(["pictures", "new class", "others after", "taken for the new class", "seconds"], lines)


def lost() -> str:
    """By the other classes."""
    each = [
        mean(
            Decimal(row["others_before"]) - Decimal(row["others_after"]) for row in few("bireal18", "replay", pictures)
        )
        for pictures in (5, 10, 20)
    ]
    return f"{format_number(min(each))} to {format_number(max(each))}"


def refused() -> str:
    matches = few("bireal18", "replay", 0)
    titles = {"known_refused": "of the 13 known classes (test set)", "far_refused": "of no fruit at all (CIFAR-10)",
              "new_refused": "of the fourteenth fruit"}  # fmt: skip
    lines = [[title, format_number(mean(row[name] for row in matches)) + " %"] for name, title in titles.items()]
    return table(["pictures", "refused"], lines)


def watermelon() -> str:
    matches = [row for row in few("bireal18", "replay", 0) if row["held"] == "Watermelon"]
    return format_number(single_row(matches)["new_refused"], 0)


def _micro(network: str, at_once: str) -> Row:
    return single_row(rows_where(BENCHMARKS / "micro_batches.csv", network=network, micro_batch_size=at_once))


def arena(network: str, at_once: str) -> str:
    return format_number(Decimal(_micro(network, at_once)["arena bytes"]) / 2**20) + " MiB"


def parts() -> str:
    lines = []
    for at_once, title in {"whole": "all 160", "8": "8", "1": "1"}.items():
        times = [_micro(network, at_once)["CPU seconds a step"] for network in NETWORKS]
        lines.append([title, *(arena(network, at_once) for network in NETWORKS), *times])
    header = ["samples at once", "arena, ReAct-18", "Bi-Real-18", "QuickNet", "seconds per step, ReAct-18"]
    return table([*header, "Bi-Real-18", "QuickNet"], lines)


def answers() -> str:
    """CPU seconds of `bitreplay predict`, the least and the most."""
    each = [Decimal(row["CPU seconds"]) for row in rows(BENCHMARKS / "predict.csv") if row["network"] != "numpy alone"]
    return f"{format_number(min(each), 2)} to {format_number(max(each), 2)} s"


def answer(network: str, numbers: str) -> str:
    row = single_row(rows_where(BENCHMARKS / "predict.csv", network=network, **{"numbers of a picture": numbers}))
    return format_number(row["CPU seconds"], 2)


def interpreter() -> str:
    return format_number(single_row(rows_where(BENCHMARKS / "predict.csv", network="numpy alone"))["CPU seconds"], 2)
