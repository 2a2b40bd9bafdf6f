"""Figures that several pages have; the module of a page imports those that it needs."""

from __future__ import annotations

import json
from decimal import Decimal

import grid
import tables
import worth

from bitreplay import zoo
from bitreplay.planning.plan import plan
from bitreplay.settings import Settings
from figures import committed
from figures.committed import (
    BENCHMARKS,
    EXPERIMENTS,
    Row,
    bench,
    digest,
    finals,
    forgetting_range,
    format_number,
    mean,
    rows_where,
    single_row,
    single_value,
    weights,
)
from figures.five_sets import mean_of


def exact(data: str, model: str, feature_layers: str = "") -> str:
    """With the most features that there are rows of, or with these layers'."""
    fields = {"feature_layers": feature_layers} if feature_layers else {}
    return format_number(committed.exact(data, model, **fields)["final"])


def whole(data: str) -> str:
    """The default network on all pictures of a set, with all features of its layers."""
    return exact(data, zoo.DEFAULT)


def fruit(name: str) -> str:
    """All training photographs of the shipped fruit, whatever their order."""
    return exact("groceries", name)


def gradients(data: str, model: str, strategy: str) -> str:
    """Mean over the seeds."""
    return format_number(mean(finals(data, model, strategy)))


def state(data: str, model: str, digits: str = "1", feature_layers: str = "") -> str:
    row = committed.exact(data, model, **{"feature_layers": feature_layers} if feature_layers else {})
    return format_number(Decimal(row["state_bytes"]) / 10**6, int(digits)) + " MB"


def _small(n_components: str) -> Row:
    fields = {"data": "cifar10", "digest": digest("react18"), "axes": "principal", "pictures": "50000"}
    return single_row(rows_where(EXPERIMENTS / "projection.csv", n_components=n_components, **fields))


def small(n_components: str) -> str:
    """The accuracy of ReAct-18 on CIFAR-10 with so many components."""
    return format_number(_small(n_components)["accuracy"])


def small_state(n_components: str) -> str:
    row = _small(n_components)
    size = Decimal(row["products_bytes"]) + Decimal(row["class_sums_bytes"])
    return format_number(size / 1000, 0) + " KB" if size < 10**5 else format_number(size / 10**6, 2) + " MB"


def small_axes(n_components: str) -> str:
    return format_number(Decimal(_small(n_components)["projection_bytes"]) / 1000, 0) + " KB"


def small_loss(n_components: str) -> str:
    """Points less than with all features."""
    all_features = committed.exact("cifar10", "react18")["final"]
    return format_number(Decimal(all_features) - Decimal(_small(n_components)["accuracy"]))


def making(n_features: str, digits: str) -> str:
    """Megabytes in which a discriminant of ten classes is made."""
    size = single_value(
        row["work_bytes"] for row in rows_where(BENCHMARKS / "sums.csv", n_features=n_features, classes="10")
    )
    return format_number(Decimal(size) / 10**6, int(digits))


def step_memory() -> str:
    row = single_row(rows_where(BENCHMARKS / "bench_avx512.json", question="memory"))
    return f"{format_number(row['ours'])} MiB, PyTorch {format_number(row['theirs'])}"


def forward_ms(isa: str) -> str:
    """Milliseconds of Bi-Real-18 for one picture on a server's core."""
    row = bench(f"bench_steps_{isa}.json", "Bi-Real-18 forward, one 32x32 image", "PyTorch fp32")
    return format_number(row["ours"])


def minibatch_memory(model: str) -> str:
    """The arena of a step of 160 samples, the method's minibatch."""
    rows = rows_where(BENCHMARKS / "micro_batches.csv", network=model, micro_batch_size="whole")
    return format_number(Decimal(single_row(rows)["arena bytes"]) / 10**6) + " MB"


def at_work(model: str, strategy: str) -> str:
    """Megabytes that a process took above its base while it learned ten classes and answered."""
    row = single_row(rows_where(BENCHMARKS / "at_work.csv", network=model, strategy=strategy))
    return format_number(Decimal(row["peak above base"]) / 10**6, 0)


def planned_there(model: str, strategy: str) -> str:
    """Megabytes that were planned for the process of `at_work`, on its instruction set."""
    row = single_row(rows_where(BENCHMARKS / "at_work.csv", network=model, strategy=strategy))
    return format_number(Decimal(row["planned bytes"]) / 10**6, 0)


def planned(model: str) -> str:
    """Megabytes of RAM that `bitreplay plan` counts for ten classes, answers included; some tenths differ between
    instruction sets."""
    return format_number(Decimal(plan(weights(model), Settings(), 10).ram) / 10**6, 0)


def tuned_replay(data: str) -> str:
    """Without augmentation, at the gain that is best on held-out pictures; of ReAct-18 and of Bi-Real-18."""
    every = tables.Rows(grid.rows())
    finals_of = [every.of(worth.at_best(model, "replay", data)).final for model in tables.MODELS]
    return " and ".join(format_number(Decimal(str(value))) for value in finals_of)


def ahead(each: str, peer: str = "efficientnet-lite0") -> str:
    """Points that the default network has more than EfficientNet-Lite0 in floating point with the same discriminant,
    mean of the sets; negative where it has less."""
    return format_number(mean_of(zoo.DEFAULT, "exact", each) - mean_of(peer, "discriminant", each), 1)


def ahead_int8(each: str) -> str:
    return ahead(each, "efficientnet-lite0 int8")


def start_up(network: str, d: str) -> str:
    """CPU seconds of `bitreplay predict` with one picture."""
    row = single_row(rows_where(BENCHMARKS / "predict.csv", **{"network": network, "numbers of a picture": d}))
    return format_number(row["CPU seconds"], 2)


def forgetting(data: str, strategy: str) -> str:
    return forgetting_range(data, strategy)


def demo(strategy: str) -> str:
    """Of the last experience, as `bitreplay demo --json` printed it."""
    printed = json.loads((EXPERIMENTS / "demo.json").read_text())
    share = printed["joint"] if strategy == "joint" else printed["rows"][-1]["accuracy"][strategy]
    return format_number(100 * Decimal(str(share)))


def megabytes(name: str) -> str:
    return format_number(Decimal(zoo.find(name).path.stat().st_size) / 10**6, 1)


def five(network: str, each: str = "40") -> str:
    """The mean of the five sets of docs/instead.md; of the peer in floating point with the same discriminant."""
    return format_number(mean_of(network, "discriminant" if network == "efficientnet-lite0" else "exact", each), 1)
