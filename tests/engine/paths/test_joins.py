"""A convolution whose sums go straight into a BatchNorm: the bits of both, at the edge of mapped memory.

Three records: a convolution, its affine, and a clip whose result lies where the sums lay, so that the core may join the
first two (core/src/machine/joins.h).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from bitreplay.engine import native
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, ProgramError, Record, Tensor
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.paths.one_record import GuardedMachine
from tests.engine.paths.operands import numbers

FILL = 0x5A
SAMPLES = 3
# height, width, kernel, stride, pad, height and width of the result
ONE, THREE, FIVE = (1, 1, 0), (3, 2, 1), (5, 1, 2)
GEOMETRY = [(5, 5, *ONE, 5, 5), (1, 1, *ONE, 1, 1), (3, 7, *ONE, 3, 7), (7, 6, *THREE, 4, 3), (4, 5, 3, 1, 1, 4, 5)]
DEPTHWISE = [
    (4, 5, 3, 1, 1, 4, 5),
    (9, 7, *THREE, 5, 4),
    (5, 5, *FIVE, 5, 5),
    (7, 9, 5, 2, 2, 4, 5),
    (6, 6, 3, 2, 0, 3, 3),
]
LARGEST = (1 << 31) - 1


def joined(rng: np.random.Generator, kind: str, geometry: tuple, channels: int, outputs: int, shift: int,
           residual: bool, last: str, x_type: type = np.int8, placeless: bool = False,
           **changed: int) -> tuple[Program, dict]:  # fmt: skip
    """The program and the first contents of its tensors; `last` lies at the end of the arena. The sums lie where the
    result of the clip does, or nowhere."""
    height, width, kernel, stride, pad, out_h, out_w = geometry
    depthwise = kind == "depthwise_conv"
    w = numbers(rng, np.int8, (channels, kernel, kernel) if depthwise else (outputs, kernel, kernel, channels))
    if channels == 160:  # products of bytes fit 16 bits
        w //= 6
    # Sums of some 2^15 taps^(1/2) become bytes; in half of the cases some are ties, on both sides of 0.
    a = numbers(rng, np.int32, (outputs,), min(max((1 << shift) // 5000, 1), LARGEST))
    b = numbers(rng, np.int64, (outputs,), 1 << min(shift + 7, 60))
    if rng.random() < 0.5:
        a[::3], b[::3] = 1 << max(shift - 7, 0) if shift < 38 else 1 << 30, 1 << (shift - 1)
    b[::2] = -b[::2]
    constants = {"w": w, "a": a, "b": b}
    shapes = {"x": (height, width, channels), "y": (out_h, out_w, outputs), "sums": (out_h, out_w, outputs)}
    types = {"x": x_type, "y": np.int8, "sums": np.int32}
    if residual:
        shapes["residual"], types["residual"] = shapes["y"], np.int8
    tensors, at, offsets = [], 64, {"saturated": 0}
    for name in sorted(shapes, key=lambda name: name == last):
        size = int(np.prod(shapes[name])) * SAMPLES * np.dtype(types[name]).itemsize
        if name == last:
            at += -size % 64
        offsets[name], at = at, -(-(at + size) // 64) * 64
    image: list[np.ndarray] = []
    constant_at: dict[str, int] = {}
    for name, array in constants.items():
        constant_at[name] = sum(len(part) for part in image)
        raw = array.reshape(-1).view(np.uint8)
        image.append(np.concatenate([raw, np.zeros(-len(raw) % 64, np.uint8)]))
    for name, shape in shapes.items():
        region, offset = ("passing", 0) if placeless and name == "sums" else ("arena", offsets[name])
        tensors.append(Tensor(name, region, np.dtype(types[name]), shape, True, offset))
    tensors.append(Tensor("saturated", "arena", np.dtype(np.int64), (1,), False, 0))
    tensors.append(Tensor("z", "arena", np.dtype(np.int8), shapes["y"], True, offsets["sums"]))
    for name, array in constants.items():
        tensors.append(Tensor(name, "constant", array.dtype, array.shape, False, constant_at[name]))
    at_name = {tensor.name: number for number, tensor in enumerate(tensors)}

    def record(operation: str, roles: dict[str, str], attributes: dict[str, int]) -> Record:
        entry = OPERATIONS[operation]
        ids = tuple(at_name[roles[role]] if role in roles else -1 for role in entry.tensors)
        return Record(operation, "forward", ids, tuple(attributes[name] for name in entry.attributes))

    zero = 0 if x_type is np.int16 else changed.pop("x_zero", -128)
    conv = {"x_zero": zero, "stride": stride, "pad": pad, "down": 0}
    affine = {"x_zero": 0, "shift": shift, "y_zero": -100, "low": -128, "high": 127, "residual_zero": -7,
              "residual_factor": int(1.7 * 2 ** min(shift, 38))} | changed  # fmt: skip
    clip = {"x_zero": 0, "mantissa": 1 << 30, "shift": 30, "y_zero": 0, "low": -60, "high": 90}
    roles = {"x": "sums", "a": "a", "b": "b", "y": "y", "saturated": "saturated"}
    records = [
        record(kind, {"x": "x", "w": "w", "sums": "sums"}, conv),
        record("affine", roles | ({"residual": "residual"} if residual else {}), affine),
        record("clip", {"x": "y", "y": "z"}, clip),
    ]
    contents = {"x": numbers(rng, x_type, (SAMPLES, *shapes["x"]))}
    if residual:
        contents["residual"] = numbers(rng, np.int8, (SAMPLES, *shapes["y"]))
    return Program(SAMPLES, tensors, records, at, at, np.zeros(0, np.uint8), np.concatenate(image)), contents


def check(program: Program, contents: dict, path: str) -> bool:
    """Equal to the reference; whether sums were left out."""
    native.set_isa(path)
    reference, machine = ReferenceMachine(program), GuardedMachine(program)
    assert machine.isa == path
    for memory in (reference, machine):
        memory.regions["arena"][64:] = FILL
        for name, content in contents.items():
            memory.write(name, content)
        memory.run("forward", Run(SAMPLES, seed=7, step=3, rate_mantissa=1 << 30, rate_shift=30))
    for name in ("y", "z", "x", "saturated"):
        assert np.array_equal(reference.read(name, SAMPLES), machine.read(name, SAMPLES)), (path, name)
    if program.tensor("sums").region == "passing":
        return True
    return bool((machine.view(program.tensor("sums"), SAMPLES).view(np.uint8)[-1, -1] == FILL).all())


@pytest.fixture(params=native.available_isas())
def path(request):
    before = native.isa()
    yield request.param
    native.set_isa(before)


@pytest.mark.parametrize("last", ["x", "y", "residual"])
def test_joined_convolutions_equal_the_reference(path, last):
    rng, left_out, count = np.random.default_rng(41), 0, 0
    sizes = [(16, 16), (3, 9), (4, 24), (20, 32), (8, 33), (40, 48), (5, 80), (12, 7), (160, 40)]
    for number, (geometry, (channels, outputs)) in enumerate(product(GEOMETRY, sizes)):
        x_type, shift = (np.int16 if number % 5 == 4 else np.int8), (20, 29, 31, 32, 33, 36, 41)[number % 7]
        left_out += check(*joined(rng, "integer_conv", geometry, channels, outputs, shift,
                                  number % 3 == 0 or last == "residual", last, x_type), path)  # fmt: skip
        count += 1
    assert left_out > count / 2 or path not in JOINING


def test_sums_without_a_place_equal_the_reference(path):
    rng = np.random.default_rng(43)
    for number, (geometry, (channels, outputs)) in enumerate(product(GEOMETRY, [(16, 16), (3, 9), (70, 130)])):
        x_type, shift = (np.int16, np.int8, np.int8)[number % 3], (20, 31, 36, 51)[number % 4]
        check(*joined(rng, "integer_conv", geometry, channels, outputs, shift, number % 2 == 0, "y", x_type,
                      placeless=True), path)  # fmt: skip
    for number, (geometry, channels) in enumerate(product(DEPTHWISE, (3, 16, 80))):
        check(*joined(rng, "depthwise_conv", geometry, channels, channels, (20, 31, 36, 51)[number % 4],
                      number % 2 == 0, "y", placeless=True, x_zero=(-128, 3, 127)[number % 3]), path)  # fmt: skip


@pytest.mark.parametrize("between", [False, True])
def test_sums_without_a_place_must_go_straight_into_the_next_record(between):
    program, _ = joined(np.random.default_rng(44), "integer_conv", GEOMETRY[0], 16, 16, 30, False, "y", placeless=True)
    conv, affine, clip = program.records
    program.records[:] = [conv, clip, affine] if between else [affine, clip]
    with pytest.raises(ProgramError, match="without a place"):
        Program.from_bytes(program.to_bytes())
    with pytest.raises(ProgramError, match="without a place"):
        native.NativeMachine(program)


@pytest.mark.parametrize("last", ["x", "y", "residual"])
def test_joined_depthwise_convolutions_equal_the_reference(path, last):
    rng, left_out = np.random.default_rng(42), 0
    for number, (geometry, channels) in enumerate(product(DEPTHWISE, (8, 16, 80, 96))):
        shift = (20, 26, 29, 31, 32, 33, 36)[number % 7]
        left_out += check(*joined(rng, "depthwise_conv", geometry, channels, channels, shift, last == "residual", last,
                                  x_zero=(-128, 3, 127)[number % 3]), path)  # fmt: skip
    assert left_out >= 12 or path not in JOINING or last == "residual"


def tied_programs(shift: int, tied: int) -> Iterator[tuple[Program, dict]]:
    """One sum of each of the first `tied` outputs lies half a unit below a whole number, whatever its slope."""
    rng = np.random.default_rng([44, shift, tied])
    for _ in range(8):
        program, contents = joined(rng, "integer_conv", GEOMETRY[0], 8, 40, shift, False, "y")
        places = {name: program.tensor(name) for name in ("w", "a", "b")}
        w, a, b = (program.constants[t.offset : t.offset + t.bytes(1)].view(t.dtype) for t in places.values())
        a[:] = numbers(rng, np.int32, a.shape, (1 << shift) // 5000)
        sums = (contents["x"].astype(np.int64) + 128).reshape(-1, 8) @ w.reshape(40, 8).T.astype(np.int64)
        own = sums[rng.integers(0, len(sums), 40), np.arange(40)]
        b[:tied] = (-own * a - (1 << (shift - 1)) - rng.integers(-20, 20, 40) * (1 << shift))[:tied]
        yield program, contents


@pytest.mark.parametrize("shift", [29, 32, 36])
@pytest.mark.parametrize("tied", [1, 5, 40])
def test_a_tie_of_any_slope_is_found(path, shift, tied):
    for program, contents in tied_programs(shift, tied):
        assert check(program, contents, path) or path not in JOINING


@pytest.mark.parametrize("changed", [
    {"x_zero": 1 << 14}, {"residual_factor": 1 << 40}, {"residual_zero": 257}, {"y_zero": 1 << 20}, {"low": -900},
    {"low": 5, "high": 5}, {"high": 900}, {"shift": 19}, {"shift": 51}, {"shift": 62},
], ids=str)  # fmt: skip
def test_what_does_not_fit_is_run_apart(path, changed):
    changed = dict(changed)
    shift = changed.pop("shift", 33)
    check(*joined(np.random.default_rng(43), "integer_conv", GEOMETRY[2], 12, 20, shift, True, "y", **changed), path)


def clipped_programs(last: str) -> Iterator[tuple[Program, dict]]:
    """A ReLU of 16-bit sums and the affine behind it, as QuickNet has them; what cannot be joined is run apart."""
    rng = np.random.default_rng(45)
    bounds = [(0, 1 << 32), (-50, 70), (-(1 << 40), 0), (-(1 << 15), (1 << 15) - 1), (40000, 50000), (0, 1 << 32)]
    for number, (channels, (low, high)) in enumerate(product((1, 16, 33, 64, 520), bounds)):
        shape, size = (3, 5, channels), 15 * channels * SAMPLES
        shift, zero, scale = (17, 24, 27)[number % 3], (0, 3)[number % 7 == 6], (0, 1)[number % 11 == 10]
        at = [64 + -(-8 * size // 64) * 64 * place for place in range(4)]
        offsets = dict(zip(sorted(("x", "sums", "y", "residual"), key=lambda name: name == last), at, strict=True))
        offsets[last] = at[3] + -size * (2 if last == "x" else 1) % 64
        constants = np.zeros(64 * channels, np.uint8)
        constants[: 4 * channels].view(np.int32)[:] = numbers(rng, np.int32, (channels,), (1 << shift) // 100)
        constants[8 * channels : 16 * channels].view(np.int64)[:] = numbers(rng, np.int64, (channels,), 1 << shift)
        tensors = [Tensor("x", "arena", np.dtype(np.int16), shape, True, offsets["x"]),
                   Tensor("sums", "arena", np.dtype(np.int16), shape, True, offsets["sums"]),
                   Tensor("residual", "arena", np.dtype(np.int8), shape, True, offsets["residual"]),
                   Tensor("y", "arena", np.dtype(np.int8), shape, True, offsets["y"]),
                   Tensor("z", "arena", np.dtype(np.int8), shape, True, offsets["sums"]),
                   Tensor("saturated", "arena", np.dtype(np.int64), (1,), False, 0),
                   Tensor("a", "constant", np.dtype(np.int32), (channels,), False, 0),
                   Tensor("b", "constant", np.dtype(np.int64), (channels,), False, 8 * channels)]  # fmt: skip
        residual = 2 if number % 2 or last == "residual" else -1
        records = [Record("clip", "forward", (0, 1), (zero, 1 << 8, 8 + scale, 0, low, high)),
                   Record("affine", "forward", (1, 6, 7, residual, 3, 5), (0, shift, 4, -128, 127, -7, 1 << shift)),
                   Record("clip", "forward", (3, 4), (0, 1 << 30, 30, 0, -60, 90))]  # fmt: skip
        arena = max(tensor.offset + tensor.bytes(SAMPLES) for tensor in tensors if tensor.region == "arena")
        program = Program(SAMPLES, tensors, records, arena, arena, np.zeros(0, np.uint8), constants)
        contents = {"x": numbers(rng, np.int16, (SAMPLES, *shape), 3000),
                    "residual": numbers(rng, np.int8, (SAMPLES, *shape))}  # fmt: skip
        yield program, contents


@pytest.mark.parametrize("last", ["x", "y", "residual"])
def test_a_clip_before_a_batchnorm_equals_the_reference(path, last):
    left_out = [check(program, contents, path) for program, contents in clipped_programs(last)]
    assert sum(left_out) > len(left_out) / 2 or path not in JOINING


JOINING = ("avx2", "avxvnni", "avx512")
