"""docs/instead.md's tables."""

from __future__ import annotations

from decimal import Decimal

from bitreplay import zoo
from figures.committed import EXPERIMENTS, Row, format_number, rows, rows_where, single_row, table

PAGE = "docs/instead.md"
ROWS = EXPERIMENTS / "instead.csv"
PRIOR = EXPERIMENTS / "prior.csv"
INT8 = EXPERIMENTS / "int8_peer.csv"
PHOTOGRAPHS = EXPERIMENTS / "photographs.csv"
SETS = {"caltech101": "Caltech-101", "flowers102": "flowers", "kitchenware": "kitchenware", "scenes": "scenes",
        "fruits36r": "fruit and vegetables"}  # fmt: skip
CONTESTANTS = {
    "EfficientNet-Lite0, float, discriminant": ("efficientnet-lite0", "discriminant"),
    "EfficientNet-Lite0, float, softmax regression": ("efficientnet-lite0", "softmax regression"),
    "EfficientNet-Lite0, float, nearest class mean": ("efficientnet-lite0", "nearest class mean"),
    "EfficientNet-Lite0, int8, discriminant": ("efficientnet-lite0 int8", "discriminant"),
    "EfficientNet-Lite0, int8, softmax regression": ("efficientnet-lite0 int8", "softmax regression"),
    "EfficientNet-Lite0, int8, nearest class mean": ("efficientnet-lite0 int8", "nearest class mean"),
    "`quicknet@2` at 192, `exact`": ("quicknet@2", "exact"),
    "`quicknet@2` at 192, `exact`, `n_components=256`": ("quicknet@2", "exact, 256 components"),
    "`quicknet@2` at 192, `exact`, `n_components=128`": ("quicknet@2", "exact, 128 components"),
    "`quicknet@1` at 192, `exact`": ("quicknet@1", "exact"),
    "`react_tiny` at 32, `exact`": ("react_tiny", "exact"),
}


def _row(name: str, network: str, head: str, each: str) -> Row:
    return single_row(rows_where(ROWS, set=name, network=network, head=head, pictures_a_class=each))


def _accuracies(network: str, head: str, each: str) -> list[Decimal]:
    return [Decimal(_row(name, network, head, each)["accuracy"]) for name in SETS]


def _mean(network: str, head: str, each: str) -> Decimal:
    """Of the sets."""
    return sum(_accuracies(network, head, each), Decimal()) / len(SETS)


def accuracy(each: str) -> str:
    """Of every set, and their mean."""
    lines = []
    for title, (network, head) in CONTESTANTS.items():
        values = [*_accuracies(network, head, each), _mean(network, head, each)]
        lines.append([title, *(format_number(value, 1) for value in values)])
    return table(["", *SETS.values(), "mean"], lines)


def few() -> str:
    """Means of the sets by the number of pictures."""
    lines = []
    for title, (network, head) in CONTESTANTS.items():
        means = [_mean(network, head, each) for each in ("5", "10", "20", "40")]
        lines.append([title, *(format_number(mean, 1) for mean in means)])
    return table(["pictures per class", "5", "10", "20", "40"], lines)


def tested() -> str:
    return f"{sum(int(row['tested']) for row in rows(ROWS) if _is_first(row)):,}"


def _is_first(row: Row) -> bool:
    return (row["network"], row["head"], row["pictures_a_class"]) == ("quicknet@2", "exact", "5")


def behind(each: str, peer: str = "efficientnet-lite0") -> str:
    """Points that `quicknet@2` has less than EfficientNet-Lite0 with the same discriminant, mean of the sets."""
    return format_number(_mean(peer, "discriminant", each) - _mean("quicknet@2", "exact", each), 1)


def behind_int8(each: str) -> str:
    return behind(each, "efficientnet-lite0 int8")


def ranges() -> str:
    """How far int8 features are from those in float, by the way in which ranges are chosen."""
    lines = [[row["ranges"], format_number(100 * Decimal(row["error"]), 2)] for row in rows(INT8)]
    return table(["range of an activation", "error in percent"], lines)


def pictures() -> str:
    """Of every set, and where the digest begins."""
    lines = [
        [title, *(f"{int(row[part]):,}" for part in ("train", "test")), f"`{row['digest'][:12]}`"]
        for name, title in SETS.items()
        for row in rows_where(PHOTOGRAPHS, set=name)
    ]
    return table(["set", "to learn from", "to test", "digest"], lines)


def megabytes(name: str) -> str:
    return format_number(Decimal(zoo.find(name).path.stat().st_size) / 10**6, 1)


def _mean_of_rule(pictures: str, rule: str, each: str) -> Decimal:
    """Of the sets."""
    found = [rows_where(PRIOR, pictures=pictures, set=name, rule=rule, pictures_a_class=each) for name in SETS]
    return sum((Decimal(single_row(one)["accuracy"]) for one in found), Decimal()) / len(SETS)


def rules(pictures: str) -> str:
    """Means of the sets for each rule of experiments/prior.py, by the number of pictures."""
    names = dict.fromkeys(row["rule"] for row in rows_where(PRIOR, pictures=pictures))
    lines = [
        [name, *(format_number(_mean_of_rule(pictures, name, each), 1) for each in ("5", "10", "20", "40"))]
        for name in names
    ]
    return table(["pictures per class", "5", "10", "20", "40"], lines)
