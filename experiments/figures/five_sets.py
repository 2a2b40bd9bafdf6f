"""The rows of instead.py: accuracies on five sets of photographs that no network has seen."""

from __future__ import annotations

from decimal import Decimal

from bitreplay import zoo
from figures.committed import EXPERIMENTS, Row, rows_where, single_row

ROWS = EXPERIMENTS / "instead.csv"
SETS = {"caltech101": "Caltech-101", "flowers102": "flowers", "kitchenware": "kitchenware", "scenes": "scenes",
        "fruits36r": "fruit and vegetables"}  # fmt: skip


def _row(name: str, network: str, head: str, each: str) -> Row:
    """Of a network, or of one at another size than its own, such as efficientnet_lite0:160."""
    network, _, size = network.partition(":")
    found = rows_where(ROWS, set=name, network=network, head=head, pictures_a_class=each)
    return single_row([row for row in found if row["size"] == size] if size else _at_its_own(found, network))


def _at_its_own(found: list[Row], network: str) -> list[Row]:
    """Where a network was asked at several sizes, the rows at its own."""
    if len(found) < 2:
        return found
    return [row for row in found if row["size"] == str(zoo.find(network).size)]


def accuracies(network: str, head: str, each: str) -> list[Decimal]:
    return [Decimal(_row(name, network, head, each)["accuracy"]) for name in SETS]


def mean_of(network: str, head: str, each: str) -> Decimal:
    """Of the sets."""
    return sum(accuracies(network, head, each), Decimal()) / len(SETS)
