"""docs/exact.md's figures."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import fig_bytes

from figures import committed
from figures.committed import (
    BENCHMARKS,
    EXPERIMENTS,
    MODELS,
    Row,
    digest,
    few,
    finals,
    forgetting_range,
    format_number,
    mean,
    rows,
    rows_where,
    runs,
    single_row,
    single_value,
    table,
    title_of,
    weights,
)
from figures.shared import start_up, tuned_replay

PAGE = "docs/exact.md"
__all__ = ["start_up", "tuned_replay"]
LINES = ("head", "head+add_12", "head+add_12+add_11/4")
SETS = {
    "CIFAR-10": ("cifar10", ("ReAct-18", "Bi-Real-18", "VGG-Small")),
    "CIFAR-100 (re-split, see [results.md](results.md))": ("cifar100", ("ReAct-18", "Bi-Real-18")),
    "groceries, 14 classes": (
        "groceries",
        ("QuickNet", "QuickNetLarge", "ReAct-18", "Bi-Real-18", "VGG-Small", "react_tiny"),
    ),
}
AXES = {"principal, one unit (these)": "principal, spread 45",
        "principal, each scaled to the same deviation": "principal, whitened",
        "those that tell the pre-training's classes apart": "within 1", "random signs": "signs"}  # fmt: skip


def feature_layers() -> str:
    each = [(title, committed.exact("groceries", model)) for title, model in MODELS.items()]
    lines = [
        [title_of(title), f"`{row['feature_layers']}`", format_number(row["n_features"], 0)] for title, row in each
    ]
    return table(["model", "feature layers", "features (d)"], lines)


KNOWN_SETS = {
    "groceries": ("quicknet@2", "quicknet@1", "react18", "bireal18"),
    "cifar10": ("react18", "bireal18"),
    "cifar100": ("react18", "bireal18"),
}
SET_TITLES = {"groceries": "groceries", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100 (re-split)"}


def known_methods() -> str:
    """What is answered rightly at the end, by known methods on the very features that `exact` has."""
    lines = []
    for data, networks in KNOWN_SETS.items():
        for number, network in enumerate(networks):
            line = ["" if number else SET_TITLES[data], f"`{network}`"]
            line.append(format_number(committed.exact(data, network)["final"]))
            for method in ("ncm", "icarl", "slda", "joint"):
                found = rows_where(EXPERIMENTS / "baselines.csv", data=data, digest=digest(network), method=method)
                line.append(format_number(single_row(found)["final"]) if found else "")
            lines.append(line)
    header = ["set", "network", "`exact`", "nearest class mean", "iCaRL's", "Deep SLDA", "joint softmax regression"]
    return table(header, lines)


def orders() -> str:
    """How many settings of network, features and set have rows of three orders of the classes, with one hash each."""
    hashes: dict[tuple[str, ...], list[str]] = {}
    for row in rows(EXPERIMENTS / "exact.csv"):
        key = tuple(row[name] for name in ("data", "digest", "feature_layers", "pictures"))
        hashes.setdefault(key, []).append(row["hash"])
    assert all(len(set(each)) == 1 for each in hashes.values())
    return str(sum(len(each) == 3 for each in hashes.values()))


def _choice(data: str, layers: str) -> Row:
    path = EXPERIMENTS / "exact_choice.jsonl"
    return single_row(rows_where(path, question="layers", data=data, model="react18", feature_layers=layers))


def _counts(layers: str) -> str:
    """The same layers as counts of ones; the head has no signs."""
    return layers.replace("+", "+ones:")


def chosen() -> str:
    lines = []
    for layers in ("head", "head+add_12", "head+add_12+add_11", "head+add_12+add_11/4"):
        row = _choice("npz", layers)
        counts = (
            "" if layers == "head" else format_number(_choice("npz", _counts(layers))["accuracy_by_factor"]["0.25"])
        )
        lines.append(
            [f"`{layers}`", format_number(row["d"], 0), format_number(row["accuracy_by_factor"]["0.25"]), counts]
        )
    return table(["feature layers", "features (d)", "means", "counts of ones of the 1-bit code"], lines)


def chosen_cifar10() -> str:
    layers = ("head", "head+add_12", "head+add_12+add_11", "head+add_12+add_11/4")
    return _join([_choice("cifar10", each)["accuracy_by_factor"]["0.25"] for each in layers])


def counts_cifar10() -> str:
    layers = ("head+add_12", "head+add_12+add_11", "head+add_12+add_11/4")
    return _join([_choice("cifar10", _counts(each))["accuracy_by_factor"]["0.25"] for each in layers])


def _join(values: Sequence[Decimal]) -> str:
    *first, last = (format_number(value) for value in values)
    return f"{', '.join(first)} and {last}"


def factors() -> str:
    """lambda's factor in the last row."""
    by = _choice("npz", LINES[-1])["accuracy_by_factor"]
    return ", ".join(format_number(by[factor]) for factor in ("0.0625", "0.25", "1", "4"))


def towards_the_mean() -> str:
    """By k, the weight of the mean."""
    lines = []
    for k in (0, 5, 8, 20):
        matches = {
            row["shown"]: row["mean"] for row in rows_where(EXPERIMENTS / "exact_choice.jsonl", model="bireal18", k=k)
        }
        lines.append([k, *(format_number(matches[shown]) for shown in (5, 10, 20))])
    return table(["k", "5", "10", "20"], lines)


def accuracy() -> str:
    lines = []
    for title, (data, names) in SETS.items():
        for at, name in enumerate(names):
            row = committed.exact(data, MODELS[name])
            about = f" (d = {row['n_features']}, state {_megabytes(row['state_bytes'], '2')})"
            line = [
                "" if at else title,
                title_of(name) + (about if name == "react_tiny" else ""),
                format_number(row["final"], 2),
            ]
            each = [finals(data, MODELS[name], strategy) for strategy in ("replay", "cwr")]
            lines.append([*line, *(format_number(mean(matches), 2) if matches else "" for matches in each)])
    return table(["set", "model", "exact", "1-bit replay", "BNN+CWR*"], lines)


def tuned_cwr(model: str) -> str:
    """CIFAR-100 at the gain that is best on held-out pictures."""
    return format_number(single_row(runs("cifar100", model, "cwr", gain="30", augment=False))["final"])


def joint(model: str) -> str:
    return format_number(mean(finals("cifar10", model, "joint")))


def _of_500(model: str, strategy: str) -> Decimal:
    return mean(row["final"] for row in runs("cifar10", model, strategy, images=500, augment=False))


def of_500(model: str, strategy: str) -> str:
    return format_number(_of_500(model, strategy))


def above_replay() -> str:
    each = sorted(_of_500(model, "exact") - _of_500(model, "replay") for model in ("react18", "bireal18"))
    return " to ".join(format_number(value) for value in each)


def forgetting() -> str:
    lines = []
    for title, data in (("CIFAR-10", "cifar10"), ("CIFAR-100 (re-split)", "cifar100")):
        for at, name in enumerate(("ReAct-18", "Bi-Real-18")):
            each = [forgetting_range(data, strategy, [MODELS[name]]) for strategy in ("exact", "replay", "cwr")]
            lines.append(["" if at else title, name, *each])
    return table(["set", "model", "exact", "1-bit replay", "BNN+CWR*"], lines)


def fewer() -> str:
    lines = []
    for layers in LINES:
        each = [
            committed.exact(data, "react18", feature_layers=layers) for data in ("cifar10", "cifar100", "groceries")
        ]
        size = _megabytes(each[0]["state_bytes"], "2" if layers == "head" else "1")
        finals_of = [format_number(row["final"], 2) for row in each]
        lines.append([f"`{layers}`", format_number(each[0]["n_features"], 0), *finals_of, size])
    return table(["feature layers", "features (d)", "CIFAR-10", "CIFAR-100", "groceries", "state, CIFAR-10"], lines)


def few_pictures() -> str:
    lines = []
    for pictures in (5, 10, 20):
        for at, (strategy, name) in enumerate(
            (("replay", "Bi-Real-18"), ("exact", "Bi-Real-18"), ("exact", "QuickNet"))
        ):
            matches = few(MODELS[name], strategy, pictures)
            each = [mean(row[what] for row in matches) for what in ("new_accuracy", "others_after")]
            lines.append(
                [
                    "" if at else pictures,
                    f"{strategy}, {title_of(name)}",
                    *(format_number(value) for value in (*each, mean(each))),
                ]
            )
    return table(["pictures shown", "", "new class", "others", "mean of both"], lines)


def seconds(part: str = "") -> str:
    """CIFAR-10's protocol with ReAct-18, the first order of the classes; a part of it, or all."""
    row = committed.exact("cifar10", "react18")
    parts = [f"seconds_{part}"] if part else ["seconds_network", "seconds_sums", "seconds_discriminants"]
    return format_number(sum(Decimal(row[name]) for name in parts), 0) + " s"


def replay_seconds() -> str:
    each = [row["cpu_seconds"] for row in runs("cifar10", "react18", "replay")]
    return f"{min(each)} to {max(each)} s"


def beside(strategy: str) -> str:
    return (
        format_number(
            single_row(rows_where(EXPERIMENTS / "exact_time.csv", model="react18", strategy=strategy))["cpu_seconds"], 0
        )
        + " s"
    )


def products(d: str) -> str:
    return format_number(2 * int(d) * (int(d) + 1), 0)


def class_sums(d: str, classes: str) -> str:
    return format_number(int(classes) * (4 * int(d) + 8), 0)


def work(d: str) -> str:
    """Bytes to make a discriminant in, with ten classes."""
    size = single_value(row["work_bytes"] for row in rows_where(BENCHMARKS / "sums.csv", n_features=d, classes="10"))
    if d == "128":
        return format_number(Decimal(size) / 1000, 0) + " KB"
    return _megabytes(size, "2" if d == "512" else "1")


def solving(d: str) -> str:
    """Seconds for a discriminant of ten classes on AVX-512."""
    row = single_row(rows_where(BENCHMARKS / "sums.csv", n_features=d, classes="10", isa="avx512"))
    return format_number(row["solve_s"], 2)


def _megabytes(size: str, digits: str) -> str:
    return format_number(Decimal(size) / 10**6, int(digits)) + " MB"


def model_file(name: str) -> str:
    return format_number(weights(name).path.stat().st_size, 0)


def latents() -> str:
    """Bytes of 30 a class, ten classes."""
    return format_number(single_value(row["memory_bytes"] for row in runs("cifar10", "react18", "replay")), 0)


def _projected(data: str, model: str, axes: str, count: int) -> Row:
    fields = {"data": data, "digest": digest(model), "axes": axes, "n_components": str(count), "pictures": "50000"}
    return single_row(rows_where(EXPERIMENTS / "projection.csv", **fields))


def _both(data: str, model: str, count: int) -> str:
    """With the axes, and with random signs in their place."""
    ours, random = (_projected(data, model, axes, count)["accuracy"] for axes in ("principal", "signs"))
    return f"{format_number(ours, 2)} ({format_number(random, 2)})"


def small_state() -> str:
    row = _projected("cifar10", "react18", "principal", 128)
    return format_number(int(row["products_bytes"]) + int(row["class_sums_bytes"]), 0)


def axes_bytes() -> str:
    return format_number(_projected("cifar10", "react18", "principal", 128)["projection_bytes"], 0)


def small() -> str:
    lines = []
    for count in (128, 256, 512, 1024):
        row = _projected("cifar10", "react18", "principal", count)
        sizes = [format_number(row[name], 0) for name in ("products_bytes", "class_sums_bytes", "projection_bytes")]
        lines.append(
            [format_number(count, 0), *(_both(data, "react18", count) for data in ("cifar10", "cifar100")), *sizes]
        )
    whole = [format_number(committed.exact(data, "react18")["final"], 2) for data in ("cifar10", "cifar100")]
    lines.append(["2,048, all", *whole, products("2048"), class_sums("2048", "10"), ""])
    return table(
        ["components", "CIFAR-10", "CIFAR-100", "products", "class sums and counts", "projection (flash)"], lines
    )


def small_others() -> str:
    models = ("bireal18", "react_tiny")
    lines = [[count, *(_both("cifar10", model, count) for model in models)] for count in (128, 256, 512)]
    return table(["components", "Bi-Real-18, CIFAR-10", "react_tiny, CIFAR-10"], lines)


def same_bytes() -> str:
    replay = [
        [name, format_number(size, 0), "", format_number(str(share))] for name, size, share in fig_bytes.replay_points()
    ]
    sums = [[name.replace("1024", "1,024").replace("2048", "2,048"), format_number(state, 0),
             format_number(flash, 0) if flash else "",
             format_number(str(share))] for name, state, flash, share in fig_bytes.sums_points()]  # fmt: skip
    return table(["kept", "bytes, state", "bytes, flash", "accuracy"], [*replay, *sums])


def axes() -> str:
    lines = []
    for title, way in AXES.items():
        matches = {
            (row["n_components"], row["pictures"]): row
            for row in rows_where(EXPERIMENTS / "projection_choice.csv", way=way)
        }
        settings = (("128", "300"), ("128", "25000"), ("512", "300"), ("512", "25000"))
        lines.append([title, *(format_number(matches[each]["accuracy"]) for each in settings)])
    return table(
        ["axes", "128 components, 30 per class", "128, 2,500 per class", "512, 30 per class", "512, 2,500 per class"],
        lines,
    )
