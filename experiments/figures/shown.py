"""Figures that several pages show; a page's module imports those that it has."""

from __future__ import annotations

import json
from decimal import Decimal

from figures import committed
from figures.committed import BENCHMARKS, EXPERIMENTS, Row, digest, finals, forgotten, found, mean, only, only_row, told


def exact(data: str, model: str) -> str:
    return told(committed.exact(data, model)["final"])


def gradients(data: str, model: str, strategy: str) -> str:
    """Mean over the seeds."""
    return told(mean(finals(data, model, strategy)))


def state(data: str, model: str, digits: str = "1", feature_layers: str = "") -> str:
    row = committed.exact(data, model, **{"feature_layers": feature_layers} if feature_layers else {})
    return told(Decimal(row["state_bytes"]) / 10**6, int(digits)) + " MB"


def _small(feature_layers: str) -> Row:
    asked = {"data": "cifar10", "digest": digest("react18"), "axes": "principal", "pictures": "50000"}
    return only_row(found(EXPERIMENTS / "projection.csv", n_components=feature_layers, **asked))


def small(feature_layers: str) -> str:
    """ReAct-18 on CIFAR-10, projected to so many."""
    return told(_small(feature_layers)["accuracy"])


def small_state(feature_layers: str) -> str:
    row = _small(feature_layers)
    size = Decimal(row["products_bytes"]) + Decimal(row["class_sums_bytes"])
    return told(size / 1000, 0) + " KB" if size < 10**5 else told(size / 10**6, 2) + " MB"


def small_axes(feature_layers: str) -> str:
    return told(Decimal(_small(feature_layers)["projection_bytes"]) / 1000, 0) + " KB"


def small_loss(feature_layers: str) -> str:
    """Points less than with all numbers."""
    whole = committed.exact("cifar10", "react18")["final"]
    return told(Decimal(whole) - Decimal(_small(feature_layers)["accuracy"]))


def making(feature_layers: str, digits: str) -> str:
    """Megabytes in which a discriminant of ten classes is made."""
    size = only(row["work_bytes"] for row in found(BENCHMARKS / "sums.csv", n_features=feature_layers, classes="10"))
    return told(Decimal(size) / 10**6, int(digits))


def step_memory() -> str:
    row = only_row(found(BENCHMARKS / "bench_avx512.json", question="memory"))
    return f"{told(row['ours'])} MiB, PyTorch {told(row['theirs'])}"


def forgetting(data: str, strategy: str) -> str:
    return forgotten(data, strategy)


def demo(strategy: str) -> str:
    """Of the last experience, as `bitreplay demo --json` printed it."""
    printed = json.loads((EXPERIMENTS / "demo.json").read_text())
    share = printed["joint"] if strategy == "joint" else printed["rows"][-1]["accuracy"][strategy]
    return told(100 * Decimal(str(share)))
