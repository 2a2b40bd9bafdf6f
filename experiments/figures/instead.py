"""docs/instead.md's tables."""

from __future__ import annotations

from decimal import Decimal

from bitreplay import zoo
from figures.committed import EXPERIMENTS, Row, format_number, rows, rows_where, single_row, table
from figures.five_sets import ROWS, SETS, accuracies, mean_of
from figures.shared import ahead, ahead_int8, megabytes

PAGE = "docs/instead.md"
__all__ = ["ahead", "ahead_int8", "megabytes"]
PRIOR = EXPERIMENTS / "prior.csv"
INT8 = EXPERIMENTS / "int8_peer.csv"
CHOICE = EXPERIMENTS / "feature_choice.csv"
PHOTOGRAPHS = EXPERIMENTS / "photographs.csv"
DEFAULT = "efficientnet_lite0"
CHOICE_SETS = ("clothes", "gestures", "groceries81", "traffic_signs")
CONTESTANTS = {
    "EfficientNet-Lite0, float, discriminant": ("efficientnet-lite0", "discriminant"),
    "EfficientNet-Lite0, float, softmax regression": ("efficientnet-lite0", "softmax regression"),
    "EfficientNet-Lite0, float, nearest class mean": ("efficientnet-lite0", "nearest class mean"),
    "EfficientNet-Lite0, int8, discriminant": ("efficientnet-lite0 int8", "discriminant"),
    "EfficientNet-Lite0, int8, softmax regression": ("efficientnet-lite0 int8", "softmax regression"),
    "EfficientNet-Lite0, int8, nearest class mean": ("efficientnet-lite0 int8", "nearest class mean"),
    "`efficientnet_lite0` at 192, `exact`": (DEFAULT, "exact"),
    "`efficientnet_lite0` at 160, `exact`": (f"{DEFAULT}:160", "exact"),
    "`efficientnet_lite0` at 192, `exact`, without its prior": (DEFAULT, "exact, all features"),
    "`efficientnet_lite0` at 192, `exact`, `n_components=256`": (DEFAULT, "exact, 256 components"),
    "`efficientnet_lite0` at 192, `exact`, `n_components=128`": (DEFAULT, "exact, 128 components"),
    "`quicknet@2` at 192, `exact`": ("quicknet@2", "exact"),
    "`quicknet@2` at 192, `exact`, `n_components=256`": ("quicknet@2", "exact, 256 components"),
    "`quicknet@2` at 192, `exact`, `n_components=128`": ("quicknet@2", "exact, 128 components"),
    "`quicknet@1` at 192, `exact`": ("quicknet@1", "exact"),
    "`efficientnet_tiny` at 64, `exact`": ("efficientnet_tiny", "exact"),
    "`efficientnet_tiny` at 64, `exact`, `n_components=64`": ("efficientnet_tiny", "exact, 64 components"),
    "`react_tiny` at 32, `exact`": ("react_tiny", "exact"),
    "`react_tiny` at 32, `exact`, `n_components=64`": ("react_tiny", "exact, 64 components"),
}


def accuracy(each: str) -> str:
    """Of every set, and their mean."""
    lines = []
    for title, (network, head) in CONTESTANTS.items():
        values = [*accuracies(network, head, each), mean_of(network, head, each)]
        lines.append([title, *(format_number(value, 1) for value in values)])
    return table(["", *SETS.values(), "mean"], lines)


def few() -> str:
    """Means of the sets by the number of pictures."""
    lines = []
    for title, (network, head) in CONTESTANTS.items():
        means = [mean_of(network, head, each) for each in ("5", "10", "20", "40")]
        lines.append([title, *(format_number(mean, 1) for mean in means)])
    return table(["pictures per class", "5", "10", "20", "40"], lines)


def tested() -> str:
    return f"{sum(int(row['tested']) for row in rows(ROWS) if _is_first(row)):,}"


def _is_first(row: Row) -> bool:
    return (row["network"], row["head"], row["pictures_a_class"]) == ("quicknet@2", "exact", "5")


def least_gain(each: str) -> str:
    """The set where it is least ahead of EfficientNet-Lite0 in floating point, and by how much; negative if behind."""
    pairs = zip(accuracies(DEFAULT, "exact", each), accuracies("efficientnet-lite0", "discriminant", each), strict=True)
    gains = {title: ours - theirs for title, (ours, theirs) in zip(SETS.values(), pairs, strict=True)}
    name = min(gains, key=lambda title: gains[title])
    return f"{format_number(gains[name], 1)} points, on {name}"


def axes_megabytes(name: str) -> str:
    return format_number(Decimal(zoo.find(name).companion("projection").stat().st_size) / 10**6, 1)


def choices() -> str:
    """Means of the five sets for each choice of features, on training pictures, by how many were learned."""
    return _choices(tuple(SETS), ("5", "10", "20"))


def detail_choices() -> str:
    """The same of the four sets that are for choices alone."""
    return _choices(CHOICE_SETS, ("5", "10", "20", "40"))


def _choices(sets: tuple[str, ...], learned: tuple[str, ...]) -> str:
    found = [row for row in rows(CHOICE) if row["set"] in sets]
    lines = []
    for network, features, count in dict.fromkeys((row["network"], row["features"], row["count"]) for row in found):
        means = []
        for each in learned:
            chosen = [
                Decimal(row["accuracy"])
                for row in rows_where(CHOICE, network=network, features=features, pictures_a_class=each)
                if row["set"] in sets
            ]
            assert len(chosen) == len(sets), (network, features, each)
            means.append(sum(chosen, Decimal()) / len(sets))
        lines.append([f"`{network}`", features, f"{int(count):,}", *(format_number(mean, 1) for mean in means)])
    return table(["network", "features", "count", f"{learned[0]} learned", *learned[1:]], lines)


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
