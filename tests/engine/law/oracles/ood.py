"""Pictures that were not learned, in plain Python integers and fractions: docs/law.md section 14, step by step."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

from tests.engine.law.numbers import key, nearest, random_bits, round_shift
from tests.engine.law.oracles import sums as of_sums
from tests.engine.law.oracles.sums import Matrix, Sums

CURVE = [(1, 209), (2, 189), (5, 166), (10, 148), (20, 125), (30, 109), (50, 84)]


def scaled(v: int, g: int, x: int) -> int:
    down, less = max(v.bit_length() - 30, 0), max(g.bit_length() - 30, 0)
    product = round_shift(v, down) * round_shift(g, less)
    shift = -(x + 16 + down + less)
    if product and product.bit_length() - shift > 46:
        return 2**46 if product > 0 else -(2**46)
    return nearest(Fraction(product) / Fraction(2) ** shift) if shift <= 62 else 0


def drawn(v: int, count: int, k: int) -> int:
    return v - nearest(Fraction(k * v, count + k))


class Measure:
    """The factor, and lengths under it."""

    def __init__(self, sums: Sums, parts: list[int], constants: list[int]) -> None:
        counts, class_sums, _ = sums
        self.n, self.d = sum(counts), len(class_sums[0])
        self.f = min(31, 44 - self.n.bit_length())
        matrix = of_sums.scatter(sums, self.f)
        before = [max(matrix[i][i], 0) for i in range(self.d)]
        factor = of_sums.shrinkage(self.n, self.d, constants)
        of_sums.raise_diagonal(matrix, self.f, self.n, parts, [factor] * len(parts))
        starts = [sum(parts[:p]) for p in range(len(parts))]
        self.ridges = [matrix[i][i] - before[i] for i in starts]
        self.e = [(matrix[i][i].bit_length() + 1) // 2 for i in range(self.d)]
        self.lower = of_sums.factor(matrix, self.e)
        self.mu = [nearest(Fraction(sum(s[i] for s in class_sums), self.n)) for i in range(self.d)]

    def squares(self, y: list[int]) -> tuple[int, int]:
        """q and x."""
        k = max((v * 2**32).bit_length() - p for v, p in zip(y, self.e, strict=True))
        room = 20
        while (q := sum(v * v for v in self.whole(y, k - room))) > 2**60:
            room -= 4
        return q, 2 * (k - room) - 64

    def whole(self, y: list[int], shift: int) -> list[int]:
        """z without the 16 bits behind its point."""
        high: list[int] = []
        low: list[int] = []
        for j, row in enumerate(self.lower):
            h = round_shift(y[j] * 2**32, self.e[j] + shift - 30)
            fine = round_shift(sum(row[i] * low[i] for i in range(j)), 16)
            pair = of_sums.quotient(h - sum(row[i] * high[i] for i in range(j)) - fine, row[j])
            high, low = [*high, pair[0]], [*low, pair[1]]
        return high


def shrunk(sums: Sums, weights: Matrix, biases: list[int], mu: list[int], k: int) -> tuple[Matrix, list[int]]:
    """Section 13, "Shrunk means"."""
    counts, class_sums, _ = sums
    found: Matrix = []
    shifted: list[int] = []
    for n, s, w, b in zip(counts, class_sums, weights, biases, strict=True):
        if not n:
            found, shifted = [*found, w], [*shifted, b]
            continue
        b += nearest(Fraction(k * apart(n, s, w, mu), 2 * (n + k)))
        found, shifted = [*found, [drawn(v, n, k) for v in w]], [*shifted, drawn(b, n, k)]
    return found, shifted


def apart(n: int, s: list[int], w: list[int], mu: list[int]) -> int:
    whole = [nearest(Fraction(v - n * m, n)) for v, m in zip(s, mu, strict=True)]
    rest = [nearest(Fraction((v - n * m - q * n) * 2**16, n)) for v, m, q in zip(s, mu, whole, strict=True)]
    return sum(v * q for v, q in zip(w, whole, strict=True)) + round_shift(
        sum(v * q for v, q in zip(w, rest, strict=True)), 16
    )


def answering(sums: Sums, parts: list[int], shrinkage: list[int]) -> tuple[Matrix, list[int], int, int]:
    """The solution with shrunk means: (weights, biases, exponent, left out)."""
    n, d = sum(sums[0]), len(sums[1][0])
    lambdas = [of_sums.shrinkage(n, d, shrinkage)] * len(parts)
    plain, unshrunk, exponent, dropped_features = of_sums.solve(sums, parts, lambdas)
    mu = [nearest(Fraction(sum(s[i] for s in sums[1]), n)) for i in range(d)]
    return *shrunk(sums, plain, unshrunk, mu, shrinkage[3]), exponent, dropped_features


def ood(
    sums: Sums, parts: list[int], pictures: Matrix, share: list[int], shrinkage: list[int] | None = None
) -> list[Any]:
    """[F, r, D, T, w, b_0, strangeness of each picture, limit]."""
    counts, class_sums, _ = sums
    constants = shrinkage or of_sums.EXACT
    measure, pulled = Measure(sums, parts, constants), constants[3]
    n, d, mu = measure.n, measure.d, measure.mu
    weights, biases, exponent, dropped_features = answering(sums, parts, constants)
    fitted, start = (d - dropped_features) * 2**16, 0
    for p, length in enumerate(parts):
        total = 0
        for j in range(32):
            words = [random_bits(key(0, j, p), i) for i in range(d)]
            signs = [(1 if words[i] >= 2**31 else -1) if start <= i < start + length else 0 for i in range(d)]
            q, x = measure.squares(signs)
            total += min(scaled(q, measure.ridges[p], x), length * 2**16)
        fitted, start = fitted - round_shift(total, 5), start + length
    big = n * 2**16
    fitted = max(0, min(fitted, big - big // 16))
    u = max(big.bit_length() - 38, 0)
    r = nearest(Fraction(big // 2**u * 2**24, (big - fitted) // 2**u))
    expected = round_shift(round_shift(fitted * r, 24) * r, 24)
    w = [nearest(Fraction(sum(m * row[i] for m, row in zip(counts, weights, strict=True)), n)) for i in range(d)]
    a = [nearest(Fraction(sum(drawn((s[i] - m * mu[i]) * 2**8, m, pulled)
                              for m, s in zip(counts, class_sums, strict=True)), n))
         for i in range(d)]  # fmt: skip
    length = round_shift(sum(v * q for v, q in zip(w, a, strict=True)), 8)
    bias = -sum(v * m for v, m in zip(w, mu, strict=True)) - nearest(Fraction(length, 2))
    each = [m * max(0, min(scaled(drawn(apart(m, s, row, mu), m, pulled), n, exponent), 2**31 - 1))
            for m, s, row in zip(counts, class_sums, weights, strict=True) if m]  # fmt: skip
    separation = max(nearest(Fraction(sum(each), n)) - scaled(length, n, exponent), 0)
    temperature = max(isqrt(9 * round_shift(separation * r, 24) * 2**12), 2**16)
    is_ood = []
    for picture in pictures:
        q, power = measure.squares([v - m for v, m in zip(picture, mu, strict=True)])
        best = max(of_sums.scores(weights, biases, [picture])[0])
        middle = sum(v * number for v, number in zip(w, picture, strict=True)) + bias
        away = scaled(q, n, power + measure.f)
        is_ood.append(round_shift(away, 3) - scaled(4 * best - 3 * middle, n, exponent - 2))
    return [fitted, r, expected, temperature, w, bias, is_ood, limit(expected, Fraction(*share))]


def limit(expected: int, share: Fraction) -> int:
    asked = nearest(share * 2**16)
    points = [(nearest(Fraction(p * 2**16, 100)), nearest(Fraction(c * 2**16, 1000))) for p, c in CURVE]
    c = points[0][1] if asked < points[0][0] else points[-1][1]
    for (low, high), (after, next_high) in zip(points, points[1:], strict=False):
        if low <= asked < after:
            c = high + nearest(Fraction((next_high - high) * (asked - low), after - low))
    return nearest(Fraction(expected * c, 2**16))
