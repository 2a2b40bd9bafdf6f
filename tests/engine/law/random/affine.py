"""Random cases of BatchNorm, average pooling and the level code."""

from __future__ import annotations

from tests.engine.law.arrays import Nested
from tests.engine.law.case import Case, Held
from tests.engine.law.random.draw import DTYPE, Draw

BOUND = {8: 7, 16: 15, 32: 23}


def batchnorm_fold(d: Draw) -> Case:
    names = ("gamma", "beta", "mean", "factor")
    limits = {"gamma": 2**31 - 1, "beta": 2**31 - 1, "mean": 2**30 - 1, "factor": 2**30 - 1}
    tensors: dict[str, Held | None] = {
        name: d.held("int32", (d.channels,), -limits[name], limits[name], per_sample=False) for name in names
    }
    tensors |= {"a": d.empty("int32", (d.channels,), False), "b": d.empty("int64", (d.channels,), False)}
    return d.case("batchnorm_fold", tensors, a_shift=d.random.randint(29, 40),
                  a_limit=2 ** d.random.randint(20, 31) - 1, mean_shift=d.random.randint(0, 12),
                  beta_mantissa=d.random.randint(2**30, 2**31 - 1),
                  beta_shift=d.random.randint(0, 45))  # fmt: skip


def affine(d: Draw) -> Case:
    bits = d.random.choice((8, 16, 31))
    dtype = {8: "int8", 16: "int16", 31: "int32"}[bits]
    a_limit = 2 ** min(31, 60 - bits) - 1
    tensors: dict[str, Held | None] = {
        "x": d.held(dtype, d.map, 1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1),
        "a": d.held("int32", (d.channels,), -a_limit, a_limit, per_sample=False),
        "b": d.held("int64", (d.channels,), -(2**58), 2**58, per_sample=False),
        "residual": d.activations() if d.random.random() < 0.5 else None,
        "y": d.empty(DTYPE[d.forward], d.map),
        "saturated": d.held("int64", (1,), 0, 1000, per_sample=False),
    }
    limit = 2 ** BOUND[d.forward]
    return d.case("affine", tensors, x_zero=d.number(-128, 127), shift=d.random.randint(0, 57), y_zero=d.zero(),
                  low=-limit, high=limit - 1, residual_zero=d.number(-128, 127),
                  residual_factor=d.random.randint(1, 2**30))  # fmt: skip


def affine_input_grad(d: Draw) -> Case:
    g = d.gradient()
    tensors: dict[str, Held | None] = {
        "g": g,
        "e": d.exponents(g),
        "a": d.held("int32", (d.channels,), 1 - 2**31, 2**31 - 1, per_sample=False),
        "gx": d.empty(DTYPE[d.backward], d.map),
        "ex": d.empty("int32", ()),
    }
    return d.case("affine_input_grad", tensors, shift=d.random.randint(0, 40), bits=d.backward)


def affine_param_grad(d: Draw) -> Case:
    g, sums = d.gradient(), d.held("int16", d.map, -4608, 4608)
    tensors: dict[str, Held | None] = {"g": g, "e": d.exponents(g), "x": sums}
    tensors |= {name: d.empty("int64", (d.channels,), False) for name in ("p", "q")}
    tensors["pe"] = d.empty("int32", (1,), False)
    x_zero = d.number(-100, 100)
    bound = BOUND[d.backward] + (4708 * d.height * d.width).bit_length() + d.random.randint(1, 13)
    return d.case("affine_param_grad", tensors, x_zero=x_zero, bound=bound)


def batchnorm_update(d: Draw) -> Case:
    mean_shift = d.random.randint(0, 12)
    p = 2 ** (61 - mean_shift) - 1
    tensors: dict[str, Held | None] = {
        "gamma": d.held("int32", (d.channels,), 1 - 2**31, 2**31 - 1, per_sample=False),
        "beta": d.held("int32", (d.channels,), 1 - 2**31, 2**31 - 1, per_sample=False),
        "p": d.held("int64", (d.channels,), -p, p, per_sample=False),
        "q": d.held("int64", (d.channels,), -(2**31), 2**31, per_sample=False),
        "pe": d.held("int32", (1,), -110, -60, per_sample=False),
        "mean": d.held("int32", (d.channels,), 1 - 2**30, 2**30 - 1, per_sample=False),
        "factor": d.held("int32", (d.channels,), 1 - 2**30, 2**30 - 1, per_sample=False),
    }
    return d.case("batchnorm_update", tensors, mean_shift=mean_shift, gamma_mantissa=d.random.randint(2**30, 2**31 - 1),
                  gamma_shift=d.random.randint(0, 40), beta_mantissa=d.random.randint(2**30, 2**31 - 1),
                  beta_shift=d.random.randint(-10, 10), number=d.random.randint(0, 100))  # fmt: skip


def average_pool(d: Draw) -> Case:
    window_h, window_w = d.random.randint(1, d.height), d.random.randint(1, d.width)
    limit = 2 ** BOUND[d.forward]
    tensors: dict[str, Held | None] = {
        "x": d.activations(),
        "y": d.empty(DTYPE[d.forward], (d.height // window_h, d.width // window_w, d.channels)),
    }
    return d.case("average_pool", tensors, window_h=window_h, window_w=window_w, x_zero=d.zero(),
                  mantissa=d.random.randint(2**30, 2**31 - 1), shift=d.random.randint(30, 36),
                  y_zero=d.zero(), low=-limit, high=limit - 1)  # fmt: skip


def average_pool_input_grad(d: Draw) -> Case:
    window_h, window_w = d.random.randint(1, d.height), d.random.randint(1, d.width)
    g = d.gradient((d.height // window_h, d.width // window_w, d.channels))
    tensors: dict[str, Held | None] = {"g": g, "e": d.exponents(g), "gx": d.empty(DTYPE[d.backward], d.map)}
    tensors["ex"] = d.empty("int32", ())
    return d.case("average_pool_input_grad", tensors, window_h=window_h, window_w=window_w,
                  shift=d.random.randint(30, 36), mantissa=d.random.randint(2**30, 2**31 - 1),
                  bits=d.backward)  # fmt: skip


def replay_layer(d: Draw) -> tuple[int, dict[str, int], int]:
    """Bits of the code, attributes, words of a pixel."""
    bits, significant = d.random.choice((1, 2, 4, 8, 16)), BOUND[d.forward] + 1
    attributes = {"bits": bits, "low": -(2 ** (significant - 1)), "cut": max(significant - bits, 0)}
    return bits, attributes, bits * -(-d.channels // 64)


def encode_latents(d: Draw) -> Case:
    bits, attributes, words = replay_layer(d)
    x = d.activations()
    tensors: dict[str, Held | None] = {
        "x": x,
        "thresholds": None,
        "code": d.empty("uint64", (d.height, d.width, words)),
    }
    if bits <= 4:
        rows = [sorted(d.number(-100, 100) for _ in range(2**bits - 1)) for _ in range(d.channels)]
        rows[0][0] = x.values[0][0][0][0]
        tensors["thresholds"] = Held("int32", False, [sorted(row) for row in rows])
    return d.case("encode_latents", tensors, **attributes)


def decode_latents(d: Draw) -> Case:
    bits, attributes, _ = replay_layer(d)
    planes = [d.words((d.height, d.width), d.channels).values for _ in range(bits)]
    used = min(bits, BOUND[d.forward] + 1)
    none = d.empty("uint64", (d.height, d.width, -(-d.channels // 64))).values
    planes = planes[:used] + [none] * (bits - used)
    rows = range(d.height), range(d.width)
    code: Nested = [
        [[[word for p in planes for word in p[n][i][j]] for j in rows[1]] for i in rows[0]] for n in range(d.samples)
    ]
    tensors: dict[str, Held | None] = {"code": Held("uint64", True, code), "values": None,
                                       "x": d.empty(DTYPE[d.forward], d.map)}  # fmt: skip
    if bits <= 4:
        tensors["values"] = d.held("int32", (d.channels, 2**bits), -128, 127, per_sample=False)
    return d.case("decode_latents", tensors, **attributes)
