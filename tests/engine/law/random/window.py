"""Random cases of the layers that slide a window."""

from __future__ import annotations

from tests.engine.law.case import Case, Held
from tests.engine.law.random.activation import ends, multiplier
from tests.engine.law.random.affine import BOUND
from tests.engine.law.random.draw import DTYPE, Draw


def slide(d: Draw, largest: int = 3) -> tuple[int, dict[str, int], int, int]:
    """window, {stride, pad}, output rows, output columns; the last row or column may reach outside by one more."""
    window = d.random.randint(1, largest)
    stride, pad = d.random.randint(1, 3), d.random.randint(0, window // 2)
    after = pad + d.random.randint(0, min(1, window - 1 - pad))
    rows, columns = ((size + pad + after - window) // stride + 1 for size in (d.height, d.width))
    if min(rows, columns) < 1:
        return slide(d, 1)
    return window, {"stride": stride, "pad": pad}, rows, columns


def gradient_of(d: Draw, shape: tuple[int, ...]) -> dict[str, Held | None]:
    g = d.gradient(shape)
    return {"g": g, "e": d.exponents(g), "gx": d.empty(DTYPE[d.backward], d.map), "ex": d.empty("int32", ())}


def max_pool(d: Draw) -> Case:
    d.channels = min(d.channels, 5)
    window, geometry, rows, columns = slide(d)
    x = d.activations()
    if d.random.random() < 0.5:
        # Few different values, so that the largest is often not the only one.
        x = d.held(DTYPE[d.forward], d.map, -1, 1)
    place = d.empty("uint8", (rows, columns, d.channels)) if d.random.random() < 0.5 else None
    tensors = {"x": x, "y": d.empty(DTYPE[d.forward], (rows, columns, d.channels)), "place": place}
    return d.case("max_pool", tensors, window=window, x_zero=d.zero(), **geometry, **multiplier(d), **ends(d))


def max_pool_input_grad(d: Draw) -> Case:
    d.channels = min(d.channels, 5)
    window, geometry, rows, columns = slide(d)
    tensors = gradient_of(d, (rows, columns, d.channels))
    tensors["place"] = d.held("uint8", (rows, columns, d.channels), 0, window * window - 1)
    return d.case("max_pool_input_grad", tensors, window=window, bits=d.backward, **geometry, **multiplier(d))


def kernel_of(d: Draw, window: int) -> Held:
    return d.held("int32", (window, window), 0, 4, per_sample=False)


def filter_pool(d: Draw) -> Case:
    d.channels = min(d.channels, 5)
    window, geometry, rows, columns = slide(d)
    tensors = {"x": d.activations(), "kernel": kernel_of(d, window),
               "y": d.empty(DTYPE[d.forward], (rows, columns, d.channels))}  # fmt: skip
    return d.case("filter_pool", tensors, x_zero=d.zero(), **geometry, **multiplier(d), **ends(d))


def filter_pool_input_grad(d: Draw) -> Case:
    d.channels = min(d.channels, 5)
    window, geometry, rows, columns = slide(d)
    tensors = gradient_of(d, (rows, columns, d.channels)) | {"kernel": kernel_of(d, window)}
    return d.case("filter_pool_input_grad", tensors, bits=d.backward, **geometry, **multiplier(d))


def weights(d: Draw, shape: tuple[int, ...]) -> Held:
    limit = 2 ** BOUND[d.forward] - 1
    return d.held(DTYPE[d.forward], shape, -limit, limit, per_sample=False)


def masters(d: Draw, shape: tuple[int, ...]) -> Held:
    return d.held("int32", shape, 1 - 2**31, 2**31 - 1, per_sample=False)


def conv_operand(d: Draw) -> Case:
    shape = d.random.choice(((2, 3, 3, 5), (3, 1, 1, 7), (65, 3, 3)))
    held = masters(d, shape)
    if d.random.random() < 0.5:
        held.values[0] = d.held("int32", shape[1:], -3, 3, per_sample=False).values
    tensors = {"weights": held, "operand": d.empty(DTYPE[d.forward], shape, False),
               "exponents": d.empty("int32", (shape[0],), False)}  # fmt: skip
    return d.case("conv_operand", tensors, bits=d.forward)


def forward(d: Draw, operation: str, shape: tuple[int, ...], outputs: int, rows: int, columns: int,
            geometry: dict[str, int]) -> Case:  # fmt: skip
    terms = int(shape[1]) ** 2 * (shape[3] if len(shape) == 4 else 1)
    bound = (2 * BOUND[d.forward] + 1) + terms.bit_length()
    tensors: dict[str, Held | None] = {
        "x": d.activations(), "w": weights(d, shape), "sums": d.empty("int32", (rows, columns, outputs))
    }  # fmt: skip
    attributes = {"x_zero": d.zero(), "down": max(bound - 30, 0)}
    if operation.startswith("learned"):
        tensors["exponents"] = d.held("int32", (outputs,), 0, 8, per_sample=False)
        attributes |= {"down": attributes["down"] + d.random.randint(0, 10), "limit": 2 ** d.random.randint(20, 31) - 1}
    return d.case(operation, tensors, **attributes, **geometry)


def learned_conv(d: Draw) -> Case:
    d.channels, outputs = min(d.channels, 5), d.random.randint(1, 4)
    window, geometry, rows, columns = slide(d)
    return forward(d, "learned_conv", (outputs, window, window, d.channels), outputs, rows, columns, geometry)


def depthwise_conv(d: Draw) -> Case:
    window, geometry, rows, columns = slide(d)
    return forward(d, "depthwise_conv", (d.channels, window, window), d.channels, rows, columns, geometry)


def learned_depthwise(d: Draw) -> Case:
    window, geometry, rows, columns = slide(d)
    return forward(d, "learned_depthwise", (d.channels, window, window), d.channels, rows, columns, geometry)


def input_grad(d: Draw, operation: str, shape: tuple[int, ...], outputs: int, rows: int, columns: int,
               geometry: dict[str, int]) -> Case:  # fmt: skip
    tensors = gradient_of(d, (rows, columns, outputs)) | {"w": weights(d, shape), "exponents": None}
    used = BOUND[d.backward] + BOUND[d.forward] + (outputs * shape[1] ** 2).bit_length()
    if d.random.random() < 0.5:
        tensors["exponents"] = d.held("int32", (outputs,), 0, 30, per_sample=False)
    return d.case(
        operation, tensors, room=min(62 - used, 30), down=d.random.randint(0, 30), bits=d.backward, **geometry
    )


def integer_conv_input_grad(d: Draw) -> Case:
    d.channels, outputs = min(d.channels, 5), d.random.randint(1, 4)
    window, geometry, rows, columns = slide(d)
    return input_grad(d, "integer_conv_input_grad", (outputs, window, window, d.channels), outputs, rows, columns,
                      geometry)  # fmt: skip


def depthwise_conv_input_grad(d: Draw) -> Case:
    window, geometry, rows, columns = slide(d)
    return input_grad(d, "depthwise_conv_input_grad", (d.channels, window, window), d.channels, rows, columns, geometry)


def update(d: Draw, operation: str, shape: tuple[int, ...], outputs: int, rows: int, columns: int,
           geometry: dict[str, int]) -> Case:  # fmt: skip
    g = d.gradient((rows, columns, outputs))
    tensors: dict[str, Held | None] = {"weights": masters(d, shape), "g": g, "e": d.exponents(g), "x": d.activations()}
    bound = BOUND[d.backward] + BOUND[d.forward] + 2 + (rows * columns).bit_length()
    return d.case(operation, tensors, x_zero=d.zero(), bound=bound, mantissa=d.random.randint(2**30, 2**31 - 1),
                  shift=d.random.randint(-20, 40), number=d.random.randint(0, 100), **geometry)  # fmt: skip


def learned_conv_update(d: Draw) -> Case:
    d.channels, outputs = min(d.channels, 5), d.random.randint(1, 4)
    window, geometry, rows, columns = slide(d)
    return update(d, "learned_conv_update", (outputs, window, window, d.channels), outputs, rows, columns, geometry)


def learned_depthwise_update(d: Draw) -> Case:
    d.channels = min(d.channels, 5)
    window, geometry, rows, columns = slide(d)
    return update(d, "learned_depthwise_update", (d.channels, window, window), d.channels, rows, columns, geometry)
