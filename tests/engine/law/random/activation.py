"""Random cases of RPReLU, clip, addition, concatenation and of learned numbers."""

from __future__ import annotations

from tests.engine.law.case import Case, Held
from tests.engine.law.random.affine import BOUND
from tests.engine.law.random.draw import DTYPE, Draw


def numbers(d: Draw, dtype: str, limit: int) -> Held:
    return d.held(dtype, (d.channels,), -limit, limit, per_sample=False)


def ends(d: Draw) -> dict[str, int]:
    limit = 2 ** BOUND[d.forward]
    return {"y_zero": d.zero(), "low": -limit, "high": limit - 1}


def learned_operand(d: Draw) -> Case:
    dtype, bits = d.random.choice((("int32", 30), ("int64", 61)))
    tensors = {"master": numbers(d, "int32", 2**31 - 1), "operand": d.empty(dtype, (d.channels,), False)}
    return d.case("learned_operand", tensors, mantissa=d.random.randint(2**30, 2**31 - 1),
                  shift=d.random.randint(0, 50), limit=2 ** d.random.randint(10, bits) - 1)  # fmt: skip


def learned_update(d: Draw) -> Case:
    tensors: dict[str, Held | None] = {
        "master": numbers(d, "int32", 2**31 - 1), "p": numbers(d, "int64", 2**62),
        "pe": d.held("int32", (3,), -110, -20, per_sample=False),
    }  # fmt: skip
    return d.case("learned_update", tensors, mantissa=d.random.randint(2**30, 2**31 - 1),
                  shift=d.random.randint(-20, 40), at=d.random.randint(0, 2),
                  number=d.random.randint(0, 100))  # fmt: skip


def slopes(d: Draw) -> tuple[dict[str, Held | None], dict[str, int]]:
    """What the three operations of RPReLU share."""
    point = {8: 12, 16: 12, 32: 3}[d.forward]
    z_bits = {8: 8, 16: 16, 32: 25}[d.forward] + point + 2
    bits = min(31, 60 - z_bits)
    tensors: dict[str, Held | None] = {
        "x": d.activations(),
        "s": numbers(d, "int32", 2 ** (z_bits - 1) - 1),
        "b": numbers(d, "int32", 2**bits - 1),
    }
    zero = d.zero()
    # A shift at an activation of its channel: z = 0 takes the slope b.
    tensors["s"].values[0] = (tensors["x"].values[0][0][0][0] - zero) << point  # type: ignore[union-attr]
    return tensors, {"x_zero": zero, "point": point, "one": d.random.randint(2 ** (bits - 4), 2 ** (bits - 3))}


def rprelu(d: Draw) -> Case:
    tensors, attributes = slopes(d)
    tensors |= {"o": numbers(d, "int64", 2**60), "y": d.empty(DTYPE[d.forward], d.map),
                "saturated": d.held("int64", (1,), 0, 1000, per_sample=False)}  # fmt: skip
    return d.case("rprelu", tensors, shift=d.random.randint(0, 55), **attributes, **ends(d))


def rprelu_input_grad(d: Draw) -> Case:
    tensors, attributes = slopes(d)
    g = d.gradient()
    tensors |= {"g": g, "e": d.exponents(g), "gx": d.empty(DTYPE[d.backward], d.map), "ex": d.empty("int32", ())}
    return d.case("rprelu_input_grad", tensors, shift=d.random.randint(0, 45), bits=d.backward, **attributes)


def rprelu_param_grad(d: Draw) -> Case:
    tensors, attributes = slopes(d)
    g, whole = d.gradient(), d.random.random() < 0.5
    tensors |= {"g": g, "e": d.exponents(g), "pe": d.empty("int32", (3,), False)}
    tensors |= {role: d.empty("int64", (d.channels,), False) if whole or role == "pb" else None
                for role in ("ps", "pb", "po")}  # fmt: skip
    bound = BOUND[d.backward] + (d.height * d.width).bit_length()
    z_bits = {8: 8, 16: 16, 32: 25}[d.forward] + attributes["point"] + 2
    slope_down, z_down = max(bound + 31 - 62, 0), max(bound + z_bits - 62, 0)
    return d.case("rprelu_param_grad", tensors, slope_down=slope_down, slope_bound=bound + 31 - slope_down,
                  z_down=z_down, z_bound=bound + z_bits - z_down, g_bound=bound, **attributes)  # fmt: skip


def multiplier(d: Draw) -> dict[str, int]:
    """Any ratio of scales, or none."""
    if d.random.random() < 0.25:
        return {"mantissa": 1, "shift": 0}
    return {"mantissa": d.random.randint(2**30, 2**31 - 1), "shift": d.random.randint(26, 36)}


def clip(d: Draw) -> Case:
    tensors = {"x": d.activations(), "y": d.empty(DTYPE[d.forward], d.map)}
    limit = 2 ** BOUND[d.forward]
    low = d.number(-limit, limit - 1)
    return d.case("clip", tensors, x_zero=d.zero(), y_zero=d.zero(), low=low, high=d.number(low, limit - 1),
                  **multiplier(d))  # fmt: skip


def clip_input_grad(d: Draw) -> Case:
    g, limit = d.gradient(), 2 ** BOUND[d.forward]
    tensors: dict[str, Held | None] = {
        "g": g, "e": d.exponents(g), "x": d.activations(), "gx": d.empty(DTYPE[d.backward], d.map),
        "ex": d.empty("int32", ()),
    }  # fmt: skip
    above = d.random.choice((-(2**32), d.number(-limit, limit - 1)))
    below = d.random.choice((2**32, d.number(max(above, -limit), limit - 1)))
    return d.case("clip_input_grad", tensors, above=above, below=below, bits=d.backward, **multiplier(d))


def add(d: Draw) -> Case:
    tensors = {"a": d.activations(), "b": d.activations(), "y": d.empty(DTYPE[d.forward], d.map),
               "saturated": d.held("int64", (1,), 0, 1000, per_sample=False)}  # fmt: skip
    return d.case("add", tensors, a_zero=d.zero(), a_factor=d.number(1, 2**30), b_zero=d.zero(),
                  b_factor=d.number(1, 2**30), shift=d.random.randint(20, 34), **ends(d))  # fmt: skip


def affine_fine(d: Draw) -> Case:
    up = d.random.randint(1, 15)
    tensors: dict[str, Held | None] = {
        "x": d.held("int16", d.map, -4608, 4608), "a": numbers(d, "int32", 2**31 - 1),
        "b": numbers(d, "int64", 2**61 - 1),
        "residual": d.activations(), "y": d.empty(DTYPE[d.forward], d.map),
        "saturated": d.held("int64", (1,), 0, 1000, per_sample=False),
    }  # fmt: skip
    return d.case("affine_fine", tensors, x_zero=0, shift=d.random.randint(20, 57), residual_zero=d.zero(),
                  residual_factor=d.number(1, 2**30), up=up, limit=(2**61 - 1) >> up, **ends(d))  # fmt: skip


def concat(d: Draw) -> Case:
    before, after = d.random.randint(0, 3), d.random.randint(0, 3)
    tensors = {"x": d.activations(), "y": d.activations((d.height, d.width, before + d.channels + after))}
    return d.case("concat", tensors, first=before, x_zero=d.zero(), **multiplier(d), **ends(d))


def concat_input_grad(d: Draw) -> Case:
    before, after = d.random.randint(0, 3), d.random.randint(0, 3)
    g = d.gradient((d.height, d.width, before + d.channels + after))
    tensors: dict[str, Held | None] = {
        "g": g, "e": d.exponents(g), "gx": d.empty(DTYPE[d.backward], d.map), "ex": d.empty("int32", ())
    }  # fmt: skip
    return d.case("concat_input_grad", tensors, first=before, bits=d.backward, **multiplier(d))
