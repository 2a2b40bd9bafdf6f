"""The projection as the vector file calls it: an oracle in Python's integers; the reference's formula, its program and
the core's run of it together."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder
from bitreplay.engine.operations import Run
from bitreplay.engine.projection import ROOTS, Projection, emit
from bitreplay.engine.reference import ReferenceMachine
from tests import tiny
from tests.engine.law.numbers import round_shift
from tests.engine.law.sums_functions import same


def root(x: int) -> int:
    """The integer nearest to sqrt(64 (x + 127))."""
    (nearest,) = (r for r in range(128) if (2 * r - 1) * abs(2 * r - 1) <= 256 * (x + 127) < (2 * r + 1) ** 2)
    return nearest


def roots(x: Any) -> Any:
    return ROOTS[np.array(x, np.int8).view(np.uint8)].tolist()


def expected_projection(
    axes: Any, scales: Any, offsets: Any, shift: int, pictures: Any, rooted: bool = False
) -> Any:  # fmt: skip
    found = []
    for picture in pictures:
        x = [root(v) for v in picture] if rooted else picture
        products = [sum(a * b for a, b in zip(axis, x, strict=True)) for axis in axes]
        whole = [round_shift(s * p + o, shift) for s, p, o in zip(scales, products, offsets, strict=True)]
        found.append([max(-127, min(127, y)) for y in whole])
    return found


def projection_of(axes: Any, scales: Any, offsets: Any, shift: int, rooted: bool = False) -> Projection:
    return Projection("head", np.int8(axes), np.int32(scales), np.int64(offsets), shift, rooted)


def project(axes: Any, scales: Any, offsets: Any, shift: int, pictures: Any, rooted: bool = False) -> Any:
    projection, x = projection_of(axes, scales, offsets, shift, rooted), np.int8(pictures)
    builder = Builder(tiny.graph(), Bits(), len(x), "nothing")
    given = builder.hold(builder.buffer("x", np.int8, (1, 1, x.shape[1])))
    builder.hold(emit(builder, given, projection, "y"))
    program = builder.finish()
    found = [projection.of(x).tolist()]
    for machine in (ReferenceMachine(program), native.NativeMachine(program)):
        machine.write("x", x.reshape(len(x), 1, 1, -1))
        machine.run("forward", Run(len(x)))
        found.append(machine.read("y", len(x)).reshape(len(x), -1).tolist())
    return same(found)
