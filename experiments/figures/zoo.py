"""docs/zoo.md's tables: of each network the first generation."""

from __future__ import annotations

from decimal import Decimal

from bitreplay import zoo
from bitreplay.modelfile.projection_file import KIND, load
from bitreplay.planning.on_device import on_device
from bitreplay.settings import Settings
from figures.committed import (
    EXPERIMENTS,
    MODELS,
    Row,
    digest,
    exact,
    finals,
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
from figures.five_sets import mean_of
from figures.shared import five, fruit, megabytes, state, whole

PAGE = "docs/zoo.md"
__all__ = ["five", "fruit", "megabytes", "state", "whole"]
TITLES = {name: title for title, name in MODELS.items()}
STAGES = {
    "146": "62 + 84",
    "64": "53 + 11",
    "158": "31 + 17 + 110",
}  # epochs of runs that went on from another's weights


def board(name: str, what: str) -> str:
    """Of a network with 64 components and four classes on a Cortex-M4: kilobytes, or millions of instructions, which
    are a Cortex-M0+'s for m0."""
    target = "cortex-m0plus" if what == "m0" else "cortex-m4"
    planned = on_device(zoo.find(name), Settings(strategy="exact", n_components=64), 4, target)
    if what in ("flash", "ram"):
        return f"{getattr(planned, what) / 1e3:.0f}"
    return f"{planned.picture_instructions / 1e6:.0f}"


def sixty_four(network: str, each: str) -> str:
    """The mean of the five sets with 64 components."""
    return format_number(mean_of(network, "exact, 64 components", each), 1)


def prior_gain() -> str:
    """Of the default network on the five sets, by 5 to 40 pictures of a class."""
    heads = ("exact", "exact, all features")
    gains = [
        with_prior - without
        for with_prior, without in (
            [mean_of(zoo.DEFAULT, head, each) for head in heads] for each in ("5", "10", "20", "40")
        )
    ]
    low, high = (format_number(round(gain, 1) + 0, 1) for gain in (min(gains), max(gains)))  # + 0: no -0.0
    return f"{low} to {high}"


def _accuracy(name: str) -> Row:
    return single_row(rows_where(EXPERIMENTS / "zoo_accuracy.csv", digest=digest(name)))


def companion(name: str) -> str:
    """Axes and size of its projection."""
    file = load(path := zoo.find(name).path.with_name(f"{name}.{KIND}.safetensors"))
    return f"{len(file.projection.axes):,} axes, {format_number(Decimal(path.stat().st_size) / 10**6, 2)} MB"


def range_left_out(share: str) -> str:
    """Accuracy of ReAct-18 at 64x64 where ranges leave out this share of values at either end."""
    fields = {"left_out_at_either_end": share, "calibration_images": "500", "statistics": "run"}
    return single_row(rows_where(EXPERIMENTS / "zoo_ranges.csv", model="react18_64", **fields))["held_out_integer"]


def teacher(name: str) -> str:
    """Top-1 of the network that taught it."""
    return _shipped(name)["teacher_top1"]


def engine_gap(name: str) -> str:
    """What the engine gains or loses against the file in floating point; the words "at worst" are checked."""
    gaps = {title: Decimal(_accuracy(title)["integer_top1"]) - Decimal(_accuracy(title)["float_top1"])
            for title in _in_order()}  # fmt: skip
    if name == "react18" and gaps[name] != min(gaps.values()):
        raise LookupError(f"{name} is not the worst: {gaps}")
    return f"{format_number(abs(gaps[name]), 2)} points {'below' if gaps[name] < 0 else 'above'}"


def _trials(name: str) -> list[Row]:
    """Of its training runs, those that ship and others; those that only change the statistics are left out."""
    return [row for row in rows(EXPERIMENTS / "zoo_trials.csv") if row["model"].partition("@")[0] == name]


def _shipped(name: str) -> Row:
    """The training run of the first generation."""
    return next(row for row in _trials(name) if row["shipped"] == "yes")


def _in_order() -> list[str]:
    first = ["bireal18", "react18", "vgg_small", "quicknet", "quicknet_large", "react18_64", "react_tiny"]
    return first + sorted(_with_labels() - set(first))  # a network that is added shows up, or lacks its rows


def _with_labels() -> set[str]:
    """Networks whose first generation learned the labels of Tiny-ImageNet."""
    return {name for name in zoo.names() if zoo.find(f"{name}@1").about["training"]["data"] == "Tiny-ImageNet"}


def files() -> str:
    lines = []
    for name in _in_order():
        row, run, side, size = _accuracy(name), _shipped(name), weights(name).size, weights(name).path.stat().st_size
        rounded = f" ({run['rounded_top1']} with the rounding)" if run["rounded_top1"] else ""
        line = [title_of(name), f"{side}x{side}", STAGES.get(run["epochs"], run["epochs"]), row["noted_top1"] + rounded]
        line += [row["float_top1"], row["integer_top1"]]
        lines.append([*line, format_number(Decimal(size) / 10**6, 1 if size > 10**6 else 2) + " MB"])
    return table(
        ["model", "input", "epochs", "float, training run", "float, the file", "integer, q_f 8", "size"], lines
    )


def learned() -> str:
    first = ["react18", "react18_64", "bireal18", "vgg_small", "quicknet", "quicknet_large", "react_tiny"]
    lines = []
    for name in first + sorted(_with_labels() - set(first)):
        line: list[str] = [title_of(name)]
        for data in ("cifar10", "cifar100", "groceries"):
            matches = finals(data, name, "replay")
            line += [format_number(exact(data, name)["final"], 2), format_number(mean(matches)) if matches else ""]
        row = exact("groceries", name)
        line.append(format_number(single_value(run["final"] for run in runs("sessions", name, "exact")), 2))
        line.append(format_number(1000 * Decimal(row["seconds_network"]) / int(row["pictures"])))
        lines.append([*line, format_number(Decimal(row["state_bytes"]) / 10**6) + " MB"])
    return table(["model", "CIFAR-10, exact", "replay", "CIFAR-100 (re-split), exact", "replay", "groceries, exact",
                  "replay", "object sessions, exact", "ms per picture", "state, groceries"], lines)  # fmt: skip


def integer(name: str) -> str:
    return format_number(_accuracy(name)["integer_top1"])


def float_file(name: str) -> str:
    return format_number(_accuracy(name)["float_top1"])


def _above(name: str) -> Decimal:
    """The integers less the file in floating point."""
    row = _accuracy(name)
    return Decimal(row["integer_top1"]) - Decimal(row["float_top1"])


def rounding() -> str:
    others = max(abs(_above(name)) for name in _with_labels() - {"react18", "react_tiny"})
    below, above = format_number(-_above("react18"), 2), format_number(_above("react_tiny"), 2)
    return f"ReAct-18 {below}; `react_tiny` {above} above; the others at most {format_number(others, 2)}"


def best_exact() -> str:
    return ", ".join(
        format_number(max(Decimal(exact(data, name)["final"]) for name in _with_labels()))
        for data in ("cifar10", "cifar100", "groceries")
    )


def trials() -> str:
    lines = []
    for name in ("react18", "react18_64", "bireal18", "quicknet", "quicknet_large"):
        for row in _trials(name):
            ships = row["shipped"] == "yes"
            rounded = row["rounded_top1"] or (_accuracy(row["model"])["integer_top1"] if ships else "")
            measured = [row["train_top1"], rounded, row["cifar100_held_out_exact"], row["groceries_held_out_exact"]]
            line = [
                TITLES[name] + (", ships" if ships else ""),
                format_number(row["teacher_top1"]),
                _epochs(row["epochs"]),
            ]
            lines.append([*line, _views(row), *(format_number(each) if each else "" for each in measured)])
    return table(["", "teacher", "epochs", "views", "training views", "validation, rounded", "CIFAR-100 held out",
                  "groceries held out"], lines)  # fmt: skip


def _epochs(epochs: str) -> str:
    """Those of the run itself, where it went on from another's weights."""
    return "+ " + epochs.split(" + ")[1] if " + " in epochs else epochs


def _views(row: Row) -> str:
    share, _, until = row["blended"].partition(" until ")
    blended = f", {format_number(100 * Decimal(share), 0)} % blended" if share != "0" else ""
    return row["views"].replace(", features", " and features") + blended + (", plain at the end" if until else "")


def joint(name: str) -> str:
    return format_number(single_row(runs("cifar10", name, "joint"))["final"], 2)
