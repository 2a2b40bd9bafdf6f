"""Damaged and malicious programs: the native reader answers with an error and never reads or writes outside."""

from __future__ import annotations

import ctypes
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from bitreplay.core import interface
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.program import Program
from tests.engine import networks

HEADER, TENSOR, MARK = 64, 72, 0xA5


@pytest.fixture(scope="module")
def program() -> Program:
    return networks.tail((2, 2, 65), Bits(8, 1, 16), 2, latent_bits=2)


def sealed(data: bytes | bytearray) -> bytes:
    """The same bytes with a checksum that fits them."""
    return bytes(data[:12]) + struct.pack("<I", zlib.crc32(data[16:])) + bytes(data[16:])


def open_native(data: bytes) -> str:
    """The error of the native reader, or "" if the program opens and all its lists run."""
    core = native.library()
    raw = np.zeros(len(data) // 8 + 1, np.uint64)
    raw.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    handle, error = ctypes.c_void_p(), ctypes.create_string_buffer(256)
    if core.br_program_open(raw.ctypes.data, len(data), ctypes.byref(handle), error, len(error)):
        assert not handle.value and error.value
        return error.value.decode()
    try:
        arena_bytes, parameter_bytes = core.br_program_arena_bytes(handle), struct.unpack_from("<Q", data, 40)[0]
        if arena_bytes < 1 << 24:
            arena, parameters = framed(arena_bytes), framed(parameter_bytes)
            args = interface.br_run_args(1, 1, 1, 1 << 30, 35)
            for number in (0, 1, 2, 3, native.STEP):
                core.br_run(handle, number, parameters.ctypes.data + 64, arena.ctypes.data + 64, ctypes.byref(args))
            for frame in (arena, parameters):
                assert (frame[:64] == MARK).all() and (frame[-64:] == MARK).all()
    finally:
        core.br_program_close(handle)
    return ""


def framed(size: int) -> np.ndarray:
    """64 marked bytes, `size` zeros from an address that is a multiple of 64, 64 marked bytes."""
    raw = np.full(size + 192, MARK, np.uint8)
    start = -raw.ctypes.data % 64
    frame = raw[start : start + size + 128]
    frame[64:-64] = 0
    return frame


def test_the_whole_program_opens(program):
    assert open_native(program.to_bytes()) == ""


@pytest.mark.parametrize("fix", [False, True], ids=["as is", "checksum fixed"])
def test_every_truncation_is_refused(program, fix):
    data = program.to_bytes()
    ends = {*range(0, 200), *range(200, len(data), 97), len(data) - 1}
    for end in sorted(ends):
        cut = data[:end]
        assert open_native(sealed(cut) if fix and end >= 16 else cut), f"{end} of {len(data)} bytes were accepted"


def test_a_changed_byte_is_noticed(program):
    data = bytearray(program.to_bytes())
    data[len(data) // 2] ^= 1
    assert "checksum" in open_native(bytes(data))


def test_flipped_bits_with_a_fitting_checksum_never_lead_outside(program):
    """What is accepted runs, between marked bytes that stay untouched."""
    data, rng = program.to_bytes(), np.random.default_rng(0)
    tables = len(data) - len(program.parameters) - len(program.constants)
    accepted = 0
    for _ in range(4000):
        damaged = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            damaged[int(rng.integers(16, tables))] ^= 1 << int(rng.integers(0, 8))
        accepted += open_native(sealed(damaged)) == ""
    assert 0 < accepted < 4000


def with_field(data: bytes, at: int, layout: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(layout, changed, at, value)
    return sealed(changed)


@pytest.mark.parametrize(
    "at, layout, value, message",
    [
        (8, "<I", 2, "version 2"),
        (16, "<I", 0, "sizes in its header are out of range"),
        (16, "<I", 1 << 31, "sizes in its header are out of range"),
        (20, "<I", 1 << 31, "sizes in its header are out of range"),
        (24, "<I", 1 << 31, "sizes in its header are out of range"),
        (32, "<Q", 1 << 63, "sizes in its header are out of range"),
        (40, "<Q", 1 << 63, "sizes in its header are out of range"),
        (48, "<Q", (1 << 64) - 8, "sizes in its header are out of range"),
        (HEADER, "<B", 3, "without a place"),
        (HEADER, "<B", 4, "unknown region"),
        (HEADER + 1, "<B", 7, "unknown region, type"),
        (HEADER + 3, "<B", 5, "unknown region, type or shape"),
        (HEADER + 4, "<I", 0, "no elements"),
        (HEADER + 4, "<I", (1 << 32) - 1, "outside its region"),
        (HEADER + 20, "<Q", (1 << 64) - 64, "outside its region"),
        (HEADER + 20, "<Q", 4, "not aligned"),
    ],
)
def test_fields_that_lie_are_refused_by_name(program, at, layout, value, message):
    assert program.tensors[0].dtype == np.uint64
    assert message in open_native(with_field(program.to_bytes(), at, layout, value))


def test_writing_to_a_constant_is_refused(program):
    constant = next(n for n, t in enumerate(program.tensors) if t.name == "add_1.mean")
    records = list(program.records)
    at = next(i for i, r in enumerate(records) if r.operation == "batchnorm_fold")
    records[at] = replace(records[at], tensors=(*records[at].tensors[:4], constant, records[at].tensors[5]))
    assert "writes to a constant" in open_native(replace(program, records=records).to_bytes())


def test_writing_over_an_operand_is_refused(program):
    tensors = list(program.tensors)
    a = next(n for n, t in enumerate(tensors) if t.name == "add_1.a")
    b = next(n for n, t in enumerate(tensors) if t.name == "add_1.b")
    tensors[a] = replace(tensors[a], offset=tensors[b].offset)
    assert "writes over another" in open_native(replace(program, tensors=tensors).to_bytes())


def test_an_unknown_operation_is_refused(program):
    data = program.to_bytes()
    at = HEADER + TENSOR * len(program.tensors)
    assert "operation 9999, which this version does not know" in open_native(with_field(data, at, "<I", 9999))
