"""Random cases of the head and the loss."""

from __future__ import annotations

from tests.engine.law.case import Case, Held
from tests.engine.law.random.draw import DTYPE, Draw

BOUND = {8: 7, 16: 15, 32: 23}


def dense_operand(d: Draw) -> Case:
    d.samples = 1
    classes, features, limit = d.random.randint(1, 4), d.channels, 2 ** d.random.randint(0, 31) - 1
    tensors: dict[str, Held | None] = {
        "weights": d.held("int32", (classes, features + 1), -limit, limit, per_sample=False),
        "operand": d.empty(DTYPE[d.forward], (classes, features), False),
        "exponent": d.empty("int32", (1,), False),
    }
    return d.case("dense_operand", tensors, bits=d.forward)


def operand(d: Draw, classes: int) -> dict[str, Held | None]:
    limit = 2 ** BOUND[d.forward] - 1
    return {
        "operand": d.held(DTYPE[d.forward], (classes, d.channels), -limit, limit, per_sample=False),
        "exponent": d.held("int32", (1,), 0, 31 - BOUND[d.forward], per_sample=False),
    }


def dense(d: Draw) -> Case:
    classes = d.random.randint(1, 5)
    tensors = operand(d, classes) | {
        "x": d.activations((1, 1, d.channels)),
        "weights": d.held("int32", (classes, d.channels + 1), 1 - 2**31, 2**31 - 1, per_sample=False),
        "active": d.held("uint8", (classes,), 0, 1, per_sample=False),
        "logits": d.empty("int32", (classes,)),
    }
    bound = 2 * BOUND[d.forward] + 1 + d.channels.bit_length()
    return d.case("dense", tensors, x_zero=d.zero(), down=max(bound - 31, 0), bias_shift=12,
                  mantissa=d.random.randint(2**30, 2**31 - 1), shift=d.random.randint(45, 66))  # fmt: skip


def dense_input_grad(d: Draw) -> Case:
    classes = d.random.randint(1, 9)
    g = d.gradient((classes,))
    tensors = operand(d, classes) | {
        "g": g,
        "e": d.exponents(g),
        "gx": d.empty(DTYPE[d.backward], (1, 1, d.channels)),
        "ex": d.empty("int32", ()),
    }
    bound = BOUND[d.backward] + BOUND[d.forward] + classes.bit_length()
    return d.case("dense_input_grad", tensors, down=max(bound - 31, 0), mantissa=d.random.randint(2**30, 2**31 - 1),
                  shift=d.random.randint(40, 66), bits=d.backward)  # fmt: skip


def dense_param_grad(d: Draw) -> Case:
    classes = d.random.randint(1, 5)
    g = d.gradient((classes,))
    tensors: dict[str, Held | None] = {
        "g": g,
        "e": d.exponents(g),
        "x": d.activations((1, 1, d.channels)),
        "gw": d.empty("int64", (classes, d.channels + 1), False),
        "ge": d.empty("int32", (1,), False),
    }
    bound = BOUND[d.backward] + BOUND[d.forward] + 1
    return d.case("dense_param_grad", tensors, x_zero=d.zero(), bound=bound)


def dense_update(d: Draw) -> Case:
    shape = (d.random.randint(1, 4), d.random.randint(2, 9))
    tensors: dict[str, Held | None] = {
        "weights": d.held("int32", shape, 1 - 2**31, 2**31 - 1, per_sample=False),
        "gw": d.held("int64", shape, 1 - 2**62, 2**62 - 1, per_sample=False),
        "ge": d.held("int32", (1,), -130, -60, per_sample=False),
    }
    return d.case("dense_update", tensors, mantissa=d.random.randint(2**30, 2**31 - 1), shift=d.random.randint(-10, 10),
                  bias_mantissa=2**30, bias_shift=d.random.randint(-14, 0), number=d.random.randint(0, 99))  # fmt: skip


def cross_entropy(d: Draw) -> Case:
    classes = d.random.randint(2, 9)
    spread = 2 ** d.random.randint(1, 31) - 1
    logits = d.held("int32", (classes,), -spread, spread)
    for row in logits.values:
        for c in range(classes - 1):
            row[c] = -(2**31) if d.random.random() < 0.2 else row[c]
    tensors: dict[str, Held | None] = {
        "logits": logits,
        "labels": d.held("int32", (), 0, classes - 1),
        "g": d.empty(DTYPE[d.backward], (classes,)),
        "e": d.empty("int32", ()),
        "p_label": d.empty("int32", ()),
    }
    return d.case("cross_entropy", tensors, bits=d.backward)
