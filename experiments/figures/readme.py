"""README.md's figures."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from networks import published

from bitreplay import zoo
from bitreplay.data.groceries import groceries
from bitreplay.learner import Learner
from bitreplay.settings import Settings
from figures import committed, shared
from figures.committed import (
    EXPERIMENTS,
    MODELS,
    bench,
    digest,
    finals,
    format_number,
    mean,
    rows_where,
    runs,
    single_row,
    single_value,
    table,
    title_of,
)
from figures.five_sets import mean_of
from figures.shared import (
    at_work,
    demo,
    forgetting,
    fruit,
    minibatch_memory,
    planned_there,
    small_axes,
    step_memory,
    tuned_replay,
    whole,
)

PAGE = "README.md"
__all__ = ["at_work", "demo", "forgetting", "fruit", "minibatch_memory", "planned_there", "small_axes", "step_memory",
           "tuned_replay", "whole"]  # fmt: skip
SETS = {"CIFAR-10, 2 classes at a time": ("cifar10", ("ReAct-18", "Bi-Real-18")),
        "CIFAR-100 (re-split), 10 at a time": ("cifar100", ("ReAct-18", "Bi-Real-18")),
        "groceries, 2 at a time": ("groceries", ("QuickNet", "ReAct-18"))}  # fmt: skip
TUNED: dict[str, dict[str, object]] = {"cifar10": {"images": 500, "gain": "10"}, "cifar100": {"gain": "30"}}
HEADER = ["set", "model", "exact (state)", "exact, 128 components", "1-bit replay (latents)", "BNN+CWR* (tuned)",
          "joint training, 1-bit latents", "joint regression, features of exact"]  # fmt: skip


def results() -> str:
    """Accuracies with the bytes kept beside them, every method on the same network."""
    lines = []
    for title, (data, names) in SETS.items():
        for at, name in enumerate(names):
            model = MODELS[name]
            lines.append(["" if at else title, title_of(name), _exact(data, model), _components(data, model),
                          _replay(data, model), _cwr(data, model), _mean(finals(data, model, "joint")),
                          _mean(_regression(data, model))])  # fmt: skip
    return table(HEADER, lines)


def _exact(data: str, model: str) -> str:
    return f"{shared.exact(data, model)} ({shared.state(data, model)})"


def _components(data: str, model: str) -> str:
    fields = {"axes": "principal", "n_components": "128"}
    found = rows_where(EXPERIMENTS / "projection.csv", data=data, digest=digest(model), **fields)
    if not found:
        return ""
    row = max(found, key=lambda row: int(row["pictures"]))
    size = Decimal(row["products_bytes"]) + Decimal(row["class_sums_bytes"])
    return f"{format_number(row['accuracy'])} ({format_number(size / 1000, 0)} KB)"


def _replay(data: str, model: str) -> str:
    accuracy = _mean(finals(data, model, "replay"))
    if data == "groceries":
        size = _stored_photographs() * _latent_bytes(model)
    else:
        size = single_value(row["memory_bytes"] for row in runs(data, model, "replay"))
    return f"{accuracy} ({format_number(Decimal(size) / 10**6)} MB)"


def _stored_photographs() -> int:
    """30 of each kind of fruit, or as many as there are."""
    return int(np.minimum(np.bincount(groceries().train_labels), Settings().memory_per_class).sum())


def _latent_bytes(model: str) -> int:
    """Of one stored latent of the last replay layer."""
    learner = Learner.from_pretrained(published(model), strategy="replay")
    return learner.encode(np.zeros((1, 32, 32, 3), np.uint8)).nbytes


def _cwr(data: str, model: str) -> str:
    usual = _mean(finals(data, model, "cwr"))
    if data not in TUNED:
        return usual
    tuned = [Decimal(row["final"]) for row in runs(data, model, "cwr", augment=False, **TUNED[data])]
    return f"{usual} ({_mean(tuned)})"


def _regression(data: str, model: str) -> list[Decimal]:
    found = rows_where(EXPERIMENTS / "baselines.csv", data=data, digest=digest(model), method="joint")
    return [Decimal(row["final"]) for row in found]


def known(method: str) -> str:
    """Accuracies of a known method in the order of the table's lines."""
    lines = [(data, MODELS[name]) for data, names in SETS.values() for name in names]
    found = [rows_where(EXPERIMENTS / "baselines.csv", data=d, digest=digest(m), method=method) for d, m in lines]
    return ", ".join(format_number(single_row(matches)["final"]) for matches in found)


def usual_choice() -> str:
    """Means of the five sets of docs/instead.md: the default network, and the one that it began as."""
    contestants = {
        "`efficientnet_lite0` with `exact`: integers, 192x192": (zoo.DEFAULT, "exact"),
        "EfficientNet-Lite0, ImageNet weights: float32, 224x224": ("efficientnet-lite0", "discriminant"),
        "the same in int8 (ONNX Runtime), head in floating point": ("efficientnet-lite0 int8", "discriminant"),
    }
    lines = [[title, *(format_number(mean_of(network, head, each), 1) for each in ("5", "10", "20", "40"))]
             for title, (network, head) in contestants.items()]  # fmt: skip
    return table(["network", "5", "10", "20", "40"], lines)


def _mean(values: list[Decimal]) -> str:
    return format_number(mean(values)) if values else ""


def forward() -> str:
    work = "Bi-Real-18 forward, one 32x32 image"
    peers = {"PyTorch fp32": "PyTorch fp32", "best PyTorch": "PyTorch bf16", "ONNX Runtime int8": "ONNX Runtime int8"}
    rows = {peer: bench("bench_steps_avx512.json", work, peer) for peer in peers}
    others = ", ".join(f"{peers[peer]} {format_number(row['theirs'])}" for peer, row in rows.items())
    compiled = bench("bench_avx512.json", work, "best PyTorch")
    beside = f"{format_number(compiled['theirs'])} beside {format_number(compiled['ours'], 2)} of ours"
    return f"{format_number(rows['PyTorch fp32']['ours'], 2)} ms, {others}; compiled PyTorch, an earlier run, {beside}"


def default_ms() -> str:
    """Of the default network and of ONNX Runtime's int8, a picture each, on a server's core."""
    work = "`efficientnet_lite0` forward, one 192x192 image"
    rows = [bench(f"bench_whole_{isa}.json", work, "EfficientNet-Lite0 at 224, ONNX Runtime int8")
            for isa in ("avx512", "avx2")]  # fmt: skip
    ours, theirs = ([format_number(row[whose]) for row in rows] for whose in ("ours", "theirs"))
    return f"{' ms on AVX-512 and '.join(ours)} on AVX2, ONNX Runtime's int8 at 224x224 {' and '.join(theirs)}"


def whole_cifar10() -> str:
    """Network, sums and discriminants, of the first order of the classes."""
    row = committed.exact("cifar10", "react18")
    parts = [Decimal(row[name]) for name in ("seconds_network", "seconds_sums", "seconds_discriminants")]
    return format_number(sum(parts, Decimal()), 0) + " s"
