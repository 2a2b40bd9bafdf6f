"""Random cases of clipped sign, RSign and latent weights."""

from __future__ import annotations

from tests.engine.law.case import Case, Held
from tests.engine.law.random.binary import PEAK, geometry, other
from tests.engine.law.random.draw import DTYPE, Draw

ALIGNED = {8: 8, 16: 0, 32: 8}


def words(d: Draw) -> tuple[int, int, int]:
    return d.height, d.width, -(-d.channels // 64)


def pack_signs_clipped(d: Draw) -> Case:
    tensors = {"x": d.activations(), "bits": d.empty("uint64", words(d)), "mask": d.empty("uint64", words(d))}
    return d.case("pack_signs_clipped", tensors, zero=d.zero(), limit=d.number(0, 2 ** (d.forward - 2)))


def wide_gradient(d: Draw) -> tuple[Held, int]:
    bits = d.random.choice((20, 31, 36))
    return d.held("int64" if bits > 31 else "int32", d.map, 1 - 2**bits, 2**bits - 1), bits


def clipped_sign_input_grad(d: Draw) -> Case:
    g, bits = wide_gradient(d)
    tensors, attributes = other(d)
    tensors |= {"g": g, "e": d.exponents(g), "mask": d.words((d.height, d.width), d.channels),
                "gx": d.empty(DTYPE[d.backward], d.map), "ex": d.empty("int32", ())}  # fmt: skip
    return d.case("clipped_sign_input_grad", tensors, factor=d.number(1, PEAK), shift=d.number(0, 50), bound=bits + 26,
                  bits=d.backward, **attributes)  # fmt: skip


def unpack_signs(d: Draw) -> Case:
    tensors = {"bits": d.words((d.height, d.width), d.channels), "x": d.empty("int8", d.map)}
    return d.case("unpack_signs", tensors, channels=d.channels)


def thresholds(d: Draw) -> Held:
    return d.held("int32", (d.channels,), 1 - 2**30, 2**30 - 1, per_sample=False)


def point(d: Draw) -> int:
    return d.random.randint(0, {8: 12, 16: 12, 32: 4}[d.forward])


def pack_signs_above(d: Draw) -> Case:
    at, zero = point(d), d.zero()
    held = thresholds(d)
    x = d.activations()
    # A threshold at an activation of its channel: equal is +1.
    held.values[0] = (x.values[0][0][0][0] - zero) << at
    tensors = {"x": x, "threshold": held, "bits": d.empty("uint64", words(d))}
    return d.case("pack_signs_above", tensors, zero=zero, point=at)


def slope(d: Draw) -> dict[str, int]:
    return {"zero": d.zero(), "point": point(d), "peak": d.random.randint(PEAK // 2, PEAK),
            "slope_mantissa": d.random.randint(2**30, 2**31 - 1), "slope_shift": d.random.randint(8, 40)}  # fmt: skip


def rsign_input_grad(d: Draw) -> Case:
    g, bits = wide_gradient(d)
    tensors, attributes = other(d)
    tensors |= {"g": g, "e": d.exponents(g), "x": d.activations(), "threshold": thresholds(d),
                "gx": d.empty(DTYPE[d.backward], d.map), "ex": d.empty("int32", ())}  # fmt: skip
    return d.case("rsign_input_grad", tensors, peak_shift=d.number(0, 45), bound=bits + 26, bits=d.backward,
                  **slope(d), **attributes)  # fmt: skip


def rsign_param_grad(d: Draw) -> Case:
    g, bits = wide_gradient(d)
    bound = bits + 26 + (d.height * d.width).bit_length()
    down = max(bound - 62, 0)
    tensors: dict[str, Held | None] = {
        "g": g, "e": d.exponents(g), "x": d.activations(), "threshold": thresholds(d),
        "p": d.empty("int64", (d.channels,), False), "pe": d.empty("int32", (1,), False),
    }  # fmt: skip
    return d.case("rsign_param_grad", tensors, down=down, bound=bound - down, **slope(d))


def latents(d: Draw, outputs: int, kernel: int, bits: int) -> Held:
    shape = (outputs, kernel, kernel)
    if bits != 4:
        return d.held(DTYPE[bits], (*shape, d.channels), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, per_sample=False)
    held = d.held("uint8", (*shape, (d.channels + 1) // 2), 0, 255, per_sample=False)
    for output in held.values:
        for row in output:
            for pair in row:
                pair[-1] %= 16 if d.channels % 2 else 256
    return held


def latent_signs(d: Draw) -> Case:
    outputs, kernel, bits = d.random.randint(1, 4), d.random.choice((1, 3)), d.random.choice((4, 8, 16, 32))
    width = -(-d.channels // 64)
    tensors = {
        "latent": latents(d, outputs, kernel, bits),
        "w": d.empty("uint64", (outputs, kernel, kernel, width), False),
    }
    return d.case("latent_signs", tensors, channels=d.channels, bits=bits)


def latent_update(d: Draw) -> Case:
    d.channels = d.random.choice((1, 2, 5, 9, 65))
    kernel, stride, pad, rows, columns = geometry(d)
    outputs, bits = d.random.choice((1, 2, 9) if d.channels < 10 else (1, 2)), d.random.choice((4, 8, 16, 32))
    g = d.gradient((rows, columns, outputs))
    tensors: dict[str, Held | None] = {
        "latent": latents(d, outputs, kernel, bits), "g": g, "e": d.exponents(g),
        "x": d.words((d.height, d.width), d.channels),
    }  # fmt: skip
    return d.case("latent_update", tensors, channels=d.channels, stride=stride, pad=pad, padding=d.random.randint(0, 1),
                  bits=bits, up=ALIGNED[d.backward], mantissa=d.random.randint(2**30, 2**31 - 1),
                  shift=d.random.randint(-40, 40), number=d.random.randint(0, 100))  # fmt: skip
