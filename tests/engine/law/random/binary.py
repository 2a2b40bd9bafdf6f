"""Random cases of the binary layers, the image's door and the integer convolution."""

from __future__ import annotations

from tests.engine.law.case import Case, Held
from tests.engine.law.random.draw import DTYPE, Draw

PEAK = 2**26


def pack_signs(d: Draw) -> Case:
    zero = d.zero()
    x = d.held(DTYPE[d.forward], d.map, max(zero - 2, -128), min(zero + 2, 127)) if abs(zero) < 100 else d.activations()
    bits = d.empty("uint64", (d.height, d.width, -(-d.channels // 64)))
    return d.case("pack_signs", {"x": x, "bits": bits}, zero=zero)


def geometry(d: Draw) -> tuple[int, int, int, int, int]:
    """kernel, stride, pad, output rows, output columns."""
    kernel, stride = d.random.choice(((1, 1), (3, 1), (3, 2), (1, 2)))
    pad = kernel // 2
    return kernel, stride, pad, (d.height + 2 * pad - kernel) // stride + 1, (d.width + 2 * pad - kernel) // stride + 1


def binary_conv(d: Draw) -> Case:
    kernel, stride, pad, rows, columns = geometry(d)
    outputs = d.random.randint(1, 4)
    tensors = {
        "x": d.words((d.height, d.width), d.channels),
        "w": d.words((outputs, kernel, kernel), d.channels, per_sample=False),
        "sums": d.empty("int16", (rows, columns, outputs)),
    }
    padding = d.random.randint(0, 1)
    return d.case("binary_conv", tensors, channels=d.channels, stride=stride, pad=pad, padding=padding)


def binary_conv_input_grad(d: Draw) -> Case:
    kernel, stride, pad, rows, columns = geometry(d)
    outputs = d.random.randint(1, 9)
    tensors = {
        "g": d.gradient((rows, columns, outputs)),
        "w": d.words((outputs, kernel, kernel), d.channels, per_sample=False),
        "gx": d.empty("int32" if d.backward < 32 else "int64", d.map),
    }
    return d.case("binary_conv_input_grad", tensors, channels=d.channels, stride=stride, pad=pad)


def other(d: Draw) -> tuple[dict[str, Held | None], dict[str, int]]:
    """The optional second term, absent half of the time."""
    if d.random.random() < 0.5:
        return {"other": None, "other_e": None}, {"other_factor": 0, "other_shift": 0, "other_bound": 0}
    gradient, bits = d.gradient(), d.random.randint(1, 30)
    bound = {8: 7, 16: 15, 32: 23}[d.backward] + bits
    factor = d.random.randint(2 ** (bits - 1), 2**bits - 1)
    attributes = {"other_factor": factor, "other_shift": d.random.randint(0, 30), "other_bound": bound}
    return {"other": gradient, "other_e": d.exponents(gradient)}, attributes


def sign_input_grad(d: Draw) -> Case:
    wide = d.random.choice((20, 31, 36))
    g = d.held("int64" if wide > 31 else "int32", d.map, 1 - 2**wide, 2**wide - 1)
    zero = d.zero()
    tensors, attributes = other(d)
    tensors |= {"g": g, "e": d.exponents(g), "x": d.activations(), "gx": d.empty(DTYPE[d.backward], d.map),
                "ex": d.empty("int32", ())}  # fmt: skip
    return d.case("sign_input_grad", tensors, zero=zero, peak=d.random.randint(PEAK // 2, PEAK), peak_shift=30,
                  slope_mantissa=d.random.randint(2**30, 2**31 - 1), slope_shift=d.random.randint(8, 30),
                  bound=wide + 26, bits=d.backward, **attributes)  # fmt: skip


def gradient_sum(d: Draw) -> Case:
    g = d.gradient()
    tensors, attributes = other(d)
    tensors |= {"g": g, "e": d.exponents(g), "gx": d.empty(DTYPE[d.backward], d.map), "ex": d.empty("int32", ())}
    factor = d.random.randint(1, 2**20)
    bound = {8: 7, 16: 15, 32: 23}[d.backward] + factor.bit_length()
    return d.case("gradient_sum", tensors, factor=factor, shift=d.random.randint(0, 30), bound=bound, bits=d.backward,
                  **attributes)  # fmt: skip


def image_table(d: Draw) -> Case:
    table = d.held("int16", (256, 3), -32768, 32767, per_sample=False)
    shape = (d.height, d.width, 3)
    tensors = {"image": d.held("uint8", shape, 0, 255), "table": table, "y": d.empty("int16", shape)}
    return d.case("image_table", tensors)


def integer_conv(d: Draw) -> Case:
    d.channels = min(d.channels, 5)
    kernel, stride, pad, rows, columns = geometry(d)
    outputs, limit = d.random.randint(1, 3), 2 ** ({8: 8, 16: 16, 32: 24}[d.forward] - 1) - 1
    tensors = {
        "x": d.activations(),
        "w": d.held(DTYPE[d.forward], (outputs, kernel, kernel, d.channels), -limit, limit, per_sample=False),
        "sums": d.empty("int32", (rows, columns, outputs)),
    }
    bound = 2 * (limit + 1) * limit * kernel * kernel * d.channels
    return d.case("integer_conv", tensors, x_zero=d.zero(), stride=stride, pad=pad,
                  down=max(bound.bit_length() - 30, 0))  # fmt: skip
