"""Learning by sums in plain Python integers and fractions: an oracle that shares no code with the engine.

Entry by entry and row by row, in the order of docs/law.md section 13; `exact` is the discriminant itself, as fractions.
"""

from __future__ import annotations

from fractions import Fraction

from tests.engine.law.numbers import nearest, round_shift, saturate

Matrix = list[list[int]]
Sums = tuple[list[int], Matrix, list[int]]
ABSENT = -(2**62)


def add(sums: Sums, pictures: Matrix, labels: list[int], sign: int = 1) -> Sums:
    counts, class_sums, products = [list(sums[0]), [list(row) for row in sums[1]], list(sums[2])]
    for x, c in zip(pictures, labels, strict=True):
        counts[c] += sign
        class_sums[c] = [s + sign * v for s, v in zip(class_sums[c], x, strict=True)]
        triangle = [x[i] * x[j] for i in range(len(x)) for j in range(i + 1)]
        products = [g + sign * p for g, p in zip(products, triangle, strict=True)]
    return counts, class_sums, products


def empty(n_features: int, classes: int) -> Sums:
    return [0] * classes, [[0] * n_features for _ in range(classes)], [0] * (n_features * (n_features + 1) // 2)


def forget(sums: Sums, row: int) -> Sums:
    """Without a class whose own products were not kept: s s^T / n of it is taken out, rounded where it is no whole
    number; its scatter stays."""
    counts, class_sums, products = sums
    n, s = counts[row], class_sums[row]
    q = [nearest(Fraction(value, n)) for value in s]
    r = [value - n * whole for value, whole in zip(s, q, strict=True)]
    shares = [
        s[i] * q[j] + q[i] * r[j] + nearest(Fraction(r[i] * r[j], n)) for i in range(len(s)) for j in range(i + 1)
    ]
    left = [g - share for g, share in zip(products, shares, strict=True)]
    return [*counts[:row], *counts[row + 1 :]], [*class_sums[:row], *class_sums[row + 1 :]], left


def merge_since(ours: Sums, theirs: Sums, base: Sums) -> Sums:
    """Of two devices that began as one state."""
    counts, products = ([a + b - c for a, b, c in zip(*parts, strict=True)] for parts in
                        ((ours[0], theirs[0], base[0]), (ours[2], theirs[2], base[2])))  # fmt: skip
    rows = zip(ours[1], theirs[1], base[1], strict=True)
    return counts, [[a + b - c for a, b, c in zip(*row, strict=True)] for row in rows], products


EXACT = [1, 1, 4, 8]


def shrinkage(n: int, d: int, constants: list[int] | None = None) -> Fraction:
    """lambda; the constants are cap, the factor's terms, and the pictures of shrunk means."""
    cap, top, bottom, _ = constants or EXACT
    return max(min(Fraction(cap), Fraction(top * d, bottom * n)), Fraction(1, 1024))


def scatter(sums: Sums, f: int) -> Matrix:
    """n S 2^f: rows of the lower triangle."""
    counts, class_sums, products = sums
    d = len(class_sums[0])
    found = []
    for i in range(d):
        row = []
        for j in range(i + 1):
            total = Fraction(products[i * (i + 1) // 2 + j])
            for n, s in zip(counts, class_sums, strict=True):
                if n:
                    qi, qj = nearest(Fraction(s[i], n)), nearest(Fraction(s[j], n))
                    ri, rj = s[i] - qi * n, s[j] - qj * n
                    total -= s[i] * qj + qi * rj + Fraction(ri * nearest(Fraction(rj * 2**f, n)), 2**f)
            row.append(int(total * 2**f))
            assert row[-1] == total * 2**f
        found.append(row)
    return found


def raise_diagonal(matrix: Matrix, f: int, n: int, parts: list[int], lambdas: list[Fraction]) -> None:
    end = 0
    for length, factor in zip(parts, lambdas, strict=True):
        part, end = range(end, end + length), end + length
        for i in part:
            matrix[i][i] = max(matrix[i][i], 0)
        mean = sum(matrix[i][i] for i in part) // length
        ridge = max(int(mean * factor), 1) if mean else n * 2**f
        for i in part:
            matrix[i][i] += ridge


def factor(matrix: Matrix, e: list[int]) -> Matrix:
    """L with 30 bits behind the point; a row that is left out is 0."""
    found: Matrix = []
    for i, values in enumerate(matrix):
        a = [round_shift(saturate(v, -(2 ** (e[i] + e[j])), 2 ** (e[i] + e[j])), e[i] + e[j] - 60)
             for j, v in enumerate(values)]  # fmt: skip
        row: list[int] = []
        squares = 0
        for j in range(i):
            rest = a[j] - sum(row[k] * found[j][k] for k in range(j))
            row.append(nearest(Fraction(rest, found[j][j])) if found[j][j] else 0)
            squares += row[-1] ** 2
            if squares > a[i]:
                break
        pivot = a[i] - squares
        root = int_root(pivot) if pivot >= 2**36 else 0
        found.append([*row, root] if root else [0] * (i + 1))
    return found


def int_root(x: int) -> int:
    """The largest r with r^2 <= x."""
    low, high = 0, 2**40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**2 <= x else (low, middle)
    return low


def quotient(rest: int, root: int) -> tuple[int, int]:
    """rest / root as an integer and 16 bits more."""
    if root == 0:
        return 0, 0
    high = nearest(Fraction(rest, root))
    return high, nearest((Fraction(rest, root) - high) * 2**16)


def forward(lower: Matrix, h: list[int]) -> list[int] | None:
    """z with 16 bits behind the point; none if it does not fit."""
    high: list[int] = []
    low: list[int] = []
    for j, row in enumerate(lower):
        fine = round_shift(sum(row[k] * low[k] for k in range(j)), 16)
        pair = quotient(h[j] - sum(row[k] * high[k] for k in range(j)) - fine, row[j])
        high, low = [*high, pair[0]], [*low, pair[1]]
        if sum(v * v for v in high) > 2**60:
            return None
    return [v * 2**16 + y for v, y in zip(high, low, strict=True)]


def backward(lower: Matrix, z: list[int]) -> list[int] | None:
    """w with 16 bits behind the point; none if it does not fit."""
    d = len(lower)
    high, low = [0] * d, [0] * d
    for j in reversed(range(d)):
        fine = round_shift(sum(lower[k][j] * low[k] for k in range(j + 1, d)), 16)
        rest = z[j] * 2**14 - sum(lower[k][j] * high[k] for k in range(j + 1, d)) - fine
        high[j], low[j] = quotient(rest, lower[j][j])
        if sum(v * v for v in high) * d > 2**62:
            return None
    return [v * 2**16 + y for v, y in zip(high, low, strict=True)]


def mean_about(s: int, mu: int, n: int) -> int:
    """s / n - mu with 32 bits behind the point."""
    whole = nearest(Fraction(s, n) - mu)
    return whole * 2**32 + nearest((Fraction(s, n) - mu - whole) * 2**32)


def solve(sums: Sums, parts: list[int], lambdas: list[Fraction] | None = None) -> tuple[Matrix, list[int], int, int]:
    """(weights, biases, exponent, left out)."""
    counts, class_sums, _ = sums
    n, d = sum(counts), len(class_sums[0])
    f = min(31, 44 - n.bit_length())
    matrix = scatter(sums, f)
    raise_diagonal(matrix, f, n, parts, lambdas or [shrinkage(n, d)] * len(parts))
    e = [(matrix[i][i].bit_length() + 1) // 2 for i in range(d)]
    lower = factor(matrix, e)
    mu = [nearest(Fraction(sum(s[i] for s in class_sums), n)) for i in range(d)]
    found: dict[int, tuple[list[int], int]] = {}
    for c, count in enumerate(counts):
        if count == 0:
            continue
        means = [mean_about(class_sums[c][i], mu[i], count) for i in range(d)]
        k = max(m.bit_length() - p for m, p in zip(means, e, strict=True))
        room, z = 20, None
        while z is None:
            z = forward(lower, [round_shift(m, p + k - room - 30) for m, p in zip(means, e, strict=True)])
            room -= 4 if z is None else 0
        shift, w = 0, None
        while w is None:
            w = backward(lower, [round_shift(v, shift) for v in z])
            shift += 4 if w is None else 0
        found[c] = w, 48 + room - k - shift
    points = [p + e[i] + 30 - v.bit_length() for w, p in found.values() for i, v in enumerate(w) if v]
    exponent = min(points) if points else 0
    weights, biases = [[0] * d for _ in counts], [ABSENT] * len(counts)
    for c, (w, p) in found.items():
        weights[c] = [round_shift(v, p + e[i] - exponent) for i, v in enumerate(w)]
        whole = [nearest(Fraction(class_sums[c][i], counts[c]) + mu[i]) for i in range(d)]
        rest = [class_sums[c][i] + (mu[i] - whole[i]) * counts[c] for i in range(d)]
        part = [nearest(Fraction(r * 2**16, counts[c])) for r in rest]
        doubled = sum(v * q for v, q in zip(weights[c], whole, strict=True))
        doubled += round_shift(sum(v * q for v, q in zip(weights[c], part, strict=True)), 16)
        biases[c] = -round_shift(doubled, 1)
    return weights, biases, f - exponent, sum(row[-1] == 0 for row in lower)


def scores(weights: Matrix, biases: list[int], pictures: Matrix) -> Matrix:
    return [[sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(weights, biases, strict=True)]
            for x in pictures]  # fmt: skip


def exact(sums: Sums, parts: list[int], lambdas: list[Fraction] | None = None) -> list[list[Fraction]]:
    """A^-1 (m_c - mu) of the classes with pictures, as fractions, by elimination."""
    counts, class_sums, products = sums
    n, d = sum(counts), len(class_sums[0])
    there = [c for c, count in enumerate(counts) if count]
    total = [[Fraction(products[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)]) for j in range(d)] for i in range(d)]
    for c in there:
        s = class_sums[c]
        total = [[total[i][j] - Fraction(s[i] * s[j], counts[c]) for j in range(d)] for i in range(d)]
    a = [[v / n for v in row] for row in total]
    end = 0
    for length, factor_ in zip(parts, lambdas or [shrinkage(n, d)] * len(parts), strict=True):
        part, end = range(end, end + length), end + length
        mean = sum((a[i][i] for i in part), Fraction(0)) / length
        for i in part:
            a[i][i] += factor_ * mean or 1
    mu = [nearest(Fraction(sum(s[i] for s in class_sums), n)) for i in range(d)]
    rows = [a[i] + [Fraction(class_sums[c][i], counts[c]) - mu[i] for c in there] for i in range(d)]
    for i in range(d):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k in range(d):
            if k != i:
                rows[k] = [v - rows[k][i] * u for v, u in zip(rows[k], rows[i], strict=True)]
    return [[rows[i][d + at] for i in range(d)] for at in range(len(there))]
