"""docs/learner.md's figures."""

from __future__ import annotations

from decimal import Decimal

from figures.committed import BENCHMARKS, MODELS, Row, few, found, groceries, mean, only_row, rows, table, told, weights

PAGE = "docs/learner.md"
NETWORKS = ("react18", "bireal18", "quicknet")


def _final(own: list[Row]) -> str:
    return told(mean(row["final"] for row in own)) if own else ""


def replay(model: str, min_steps: str) -> str:
    return _final(groceries(model, "replay", min_steps=min_steps))


def rates() -> str:
    titles = {rate: rate for rate in ("1/50", "1/20", "1/5", "1")} | {"fitted": "fitted: 1/18 and 1/2.8 at 40 steps"}
    models = ("bireal18", "react18")
    lines = [
        [title, *(_final(groceries(m, "replay", learning_rate=rate)) for m in models)] for rate, title in titles.items()
    ]
    return table(["start", "Bi-Real-18", "ReAct-18"], lines)


def cwr(rate: str) -> str:
    return _final(groceries("bireal18", "cwr", learning_rate=rate))


def moving_weights(rate: str) -> str:
    """ReAct-18 at 8/8/16; `fitted` starts at 1/10, the most that is allowed."""
    return told(only_row(groceries("react18", "replay", bits="8/8/16", learning_rate=rate))["final"])


def strategies() -> str:
    lines = []
    for title in ("Bi-Real-18", "ReAct-18", "QuickNet", "QuickNetLarge", "VGG-Small"):
        model = MODELS[title]
        own = groceries(model, "replay")
        each = ", ".join(told(row["final"]) for row in own)
        others = [_final(groceries(model, strategy)) for strategy in ("cwr", "naive", "joint")]
        line = [f"{title} `{weights(model).replay_layers[-1]}`", _final(own), each, *others]
        lines.append([*line, told(mean(row["seconds_learn"] for row in own), 0)])
    return table(
        ["model, replay layer", "1-bit replay", "each", "BNN+CWR*", "naive", "joint", "seconds of replay"], lines
    )


def others_before() -> str:
    return told(mean(row["others_before"] for row in few("bireal18", "replay", 5)))


def few_pictures() -> str:
    lines: list[list[object]] = []
    for pictures in (5, 10, 20):
        own = few("bireal18", "replay", pictures)
        names = ("new_accuracy", "others_after", "taken_for_new", "seconds")
        lines.append([pictures, *(told(mean(row[name] for row in own)) for name in names)])
    return table(["pictures", "new class", "others after", "taken for the new class", "seconds"], lines)


def lost() -> str:
    """By the other classes."""
    each = [
        mean(
            Decimal(row["others_before"]) - Decimal(row["others_after"]) for row in few("bireal18", "replay", pictures)
        )
        for pictures in (5, 10, 20)
    ]
    return f"{told(min(each))} to {told(max(each))}"


def refused() -> str:
    own = few("bireal18", "replay", 0)
    titles = {"known_refused": "of the 13 known classes (test set)", "far_refused": "of no fruit at all (CIFAR-10)",
              "new_refused": "of the fourteenth fruit"}  # fmt: skip
    lines = [[title, told(mean(row[name] for row in own)) + " %"] for name, title in titles.items()]
    return table(["pictures", "refused"], lines)


def watermelon() -> str:
    own = [row for row in few("bireal18", "replay", 0) if row["held"] == "Watermelon"]
    return told(only_row(own)["new_refused"], 0)


def _micro(network: str, at_once: str) -> Row:
    return only_row(found(BENCHMARKS / "micro_batches.csv", network=network, micro_batch_size=at_once))


def arena(network: str, at_once: str) -> str:
    return told(Decimal(_micro(network, at_once)["arena bytes"]) / 2**20) + " MiB"


def parts() -> str:
    lines = []
    for at_once, title in {"whole": "all 160", "8": "8", "1": "1"}.items():
        times = [_micro(network, at_once)["CPU seconds a step"] for network in NETWORKS]
        lines.append([title, *(arena(network, at_once) for network in NETWORKS), *times])
    header = ["samples at once", "arena, ReAct-18", "Bi-Real-18", "QuickNet", "seconds a step, ReAct-18"]
    return table([*header, "Bi-Real-18", "QuickNet"], lines)


def answers() -> str:
    """CPU seconds of `bitreplay predict`, the least and the most."""
    each = [Decimal(row["CPU seconds"]) for row in rows(BENCHMARKS / "predict.csv") if row["network"] != "numpy alone"]
    return f"{told(min(each), 2)} to {told(max(each), 2)} s"


def interpreter() -> str:
    return told(only_row(found(BENCHMARKS / "predict.csv", network="numpy alone"))["CPU seconds"], 2)
