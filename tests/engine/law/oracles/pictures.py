"""Picture fitting in fractions: an oracle that shares no code with data/pictures/."""

from __future__ import annotations

import math
from fractions import Fraction

Picture = list[list[list[int]]]  # rows, columns, colours


def axis_weights(length: int, side: int) -> list[dict[int, Fraction]]:
    """The definition in rational numbers: for each output pixel the share of every input pixel."""
    rows: list[dict[int, Fraction]] = []
    for i in range(side):
        row: dict[int, Fraction] = {}
        if side > length:
            centre = Fraction(2 * i + 1, 2) * Fraction(length, side) - Fraction(1, 2)
            left = math.floor(centre)
            for j, share in ((left, 1 - (centre - left)), (left + 1, centre - left)):
                j = min(max(j, 0), length - 1)
                row[j] = row.get(j, Fraction(0)) + share
        else:
            low, high = Fraction(i * length, side), Fraction((i + 1) * length, side)
            for j in range(length):
                row[j] = max(Fraction(0), min(high, Fraction(j + 1)) - max(low, Fraction(j))) * side / length
        rows.append({j: share for j, share in row.items() if share})
    return rows


def resized(image: Picture, side: int) -> Picture:
    """Weighted mean along both axes, halves up."""
    vertical, horizontal = axis_weights(len(image), side), axis_weights(len(image[0]), side)
    colours = range(len(image[0][0]))

    def mean(rows: dict[int, Fraction], columns: dict[int, Fraction], colour: int) -> int:
        total = sum(a * b * image[i][j][colour] for i, a in rows.items() for j, b in columns.items())
        return math.floor(total + Fraction(1, 2))

    return [[[mean(rows, columns, c) for c in colours] for columns in horizontal] for rows in vertical]


def fit(picture: Picture, side: int) -> Picture:
    """The middle square, resized; an odd surplus leaves one pixel more at the bottom or the right."""
    height, width = len(picture), len(picture[0])
    least = min(height, width)
    top, left = (height - least) // 2, (width - least) // 2
    return resized([row[left : left + least] for row in picture[top : top + least]], side)
