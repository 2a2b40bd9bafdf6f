"""Oracles of the head and the loss."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.engine.law.arrays import Nested, flat, shape_of
from tests.engine.law.numbers import (
    descend,
    key,
    merge,
    nearest,
    quantise,
    random_bits,
    round_shift,
    saturate,
    step_multiplier,
)
from tests.engine.law.oracles.binary import stored

LOWEST_LOGIT = -(2**31)
LOG2_E = 1549082005
EXP2 = (1073741824, -744261114, 257941163, -59596395, 10324651, -1425731, 158139, -11624)


def exp_minus(t: int) -> int:
    """e^(-t / 2^16) in units of 2^-30."""
    if t > 40 * 2**16:
        return 0
    whole, part = divmod(round_shift(t * LOG2_E, 16), 2**30)
    value = 0
    for coefficient in reversed(EXP2):
        value = round_shift(value * part, 30) + coefficient
    return round_shift(value, whole)


def probabilities(logits: list[int]) -> list[int]:
    """Softmax over the live logits in units of 2^-30, each rounded to nearest."""
    top = max(logits)
    weights = [exp_minus(top - logit) if logit > LOWEST_LOGIT else 0 for logit in logits]
    total = sum(weights)
    return [nearest(Fraction(weight * 2**30, total)) for weight in weights]


def cross_entropy(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    written: dict[str, Nested] = {"g": [], "e": [], "p_label": []}
    for n in range(run.samples):
        row, label = probabilities(t.logits[n]), t.labels[n]
        written["p_label"].append(row[label])
        row[label] = -sum(p for c, p in enumerate(row) if c != label)
        values, exponent = quantise(row, -46, a.bits)
        written["g"].append(values)
        written["e"].append(exponent)
    return written


def dense_operand(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    columns = len(t.weights[0]) - 1
    values, exponent = quantise([w for row in t.weights for w in row[:-1]], 0, a.bits)
    rows = [values[c * columns : (c + 1) * columns] for c in range(len(t.weights))]
    return {"operand": rows, "exponent": [max(exponent, 0)]}


def dense(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def logit(n: int, c: int) -> int:
        if not t.active[c]:
            return LOWEST_LOGIT
        total = sum((x - a.x_zero) * w for x, w in zip(flat(t.x[n]), t.operand[c], strict=True))
        scaled = round_shift(round_shift(total, a.down) * a.mantissa, a.shift - a.down - t.exponent[0])
        return saturate(scaled + round_shift(t.weights[c][-1], a.bias_shift), LOWEST_LOGIT + 1, 2**31 - 1)

    return {"logits": [[logit(n, c) for c in range(len(t.weights))] for n in range(run.samples)]}


def dense_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = []
    for n in range(run.samples):
        sums = [sum(g * row[f] for g, row in zip(t.g[n], t.operand, strict=True)) for f in range(len(t.operand[0]))]
        exponent = t.e[n] + t.exponent[0] + a.down - a.shift
        exact.append(([round_shift(s, a.down) * a.mantissa for s in sums], exponent))
    return stored(exact, a.bits, shape_of(t.gx))


def dense_param_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    rows = []
    for n in range(run.samples):
        features = [x - a.x_zero for x in flat(t.x[n])] + [1]
        rows.append([g * x for g in t.g[n] for x in features])
    totals, exponent = merge(rows, t.e, a.bound)
    columns = len(totals) // len(t.g[0])
    return {"gw": [totals[i : i + columns] for i in range(0, len(totals), columns)], "ge": [exponent]}


def dense_update(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    rate = (run.rate_mantissa, run.rate_shift)
    step = step_multiplier(a.mantissa, a.shift, rate, run.samples)
    bias_step = step_multiplier(a.bias_mantissa, a.bias_shift, rate, run.samples)
    columns = len(t.weights[0])
    rows = []
    for c, row in enumerate(t.weights):
        new = []
        for f, master in enumerate(row):
            random = random_bits(key(run.seed, run.step, a.number), c * columns + f)
            chosen = bias_step if f == columns - 1 else step
            new.append(descend(master, t.gw[c][f], t.ge[0], chosen, random))
        rows.append(new)
    return {"weights": rows}
