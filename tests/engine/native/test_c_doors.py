"""The C interface refuses what can be refused: null pointers, rates out of range, arenas that no tensor uses."""

from __future__ import annotations

import ctypes
import struct
from ctypes import POINTER, byref, c_char_p, c_size_t, c_void_p

import numpy as np
import pytest

from bitreplay.core import interface
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.program import Program, ProgramError
from tests.engine import networks
from tests.engine.native.test_native_corrupt import sealed

BAD_ARGUMENT, MISALIGNED, UNKNOWN_PATH = 3, 4, 6
ARENA_AT, SAMPLES_AT, FIRST_SHAPE_AT = 32, 16, 68


@pytest.fixture(scope="module")
def core():
    core = ctypes.CDLL(str(native.LIBRARY))  # without declared types: any pointer may be null
    for name in ("initial_parameters", "isa"):
        getattr(core, f"br_program_{name}").restype = c_void_p
    for name in ("parameter_bytes", "arena_bytes"):
        getattr(core, f"br_program_{name}").restype = ctypes.c_uint64
    return core


@pytest.fixture
def machine():
    return native.NativeMachine(networks.tail((2, 2, 8), Bits(), 2))


def test_nothing_in_place_of_a_program_is_refused(core):
    error, handle, memory = ctypes.create_string_buffer(b"?", 256), c_void_p(1), interface.br_memory()
    memory.arena = 1
    assert core.br_program_open(None, c_size_t(64), byref(handle), error, c_size_t(256)) == BAD_ARGUMENT
    assert handle.value is None and error.value == b"no program: its bytes are a null pointer"
    assert core.br_program_plan(None, c_size_t(64), 1, byref(memory), None, c_size_t(256)) == BAD_ARGUMENT
    assert memory.arena == 0
    assert core.br_program_open(None, c_size_t(0), None, None, c_size_t(0)) == BAD_ARGUMENT
    for name in ("max_samples", "parameter_bytes", "arena_bytes", "workers"):
        assert getattr(core, f"br_program_{name}")(None) == 0, name
    for name in ("initial_parameters", "isa"):
        assert getattr(core, f"br_program_{name}")(None) is None, name
    memory.arena = 1
    core.br_program_memory(None, byref(memory))
    assert memory.arena == 0
    core.br_program_close(None)
    args = interface.br_run_args(1, 0, 1, 0, 0)
    assert core.br_run(None, 1, None, None, byref(args)) == BAD_ARGUMENT
    assert core.br_worker_run(None) == BAD_ARGUMENT


def test_nothing_in_place_of_other_arguments_is_refused(core, machine):
    handle, info = machine._opened.handle, (ctypes.c_char * 64)()
    image = machine.program.image
    where = c_void_p(image.ctypes.data)
    assert core.br_program_open(where, c_size_t(len(image)), None, None, c_size_t(0)) == BAD_ARGUMENT
    assert core.br_program_open(where, c_size_t(8), byref(c_void_p()), None, c_size_t(256)) == 1
    assert core.br_program_plan(where, c_size_t(len(image)), 1, None, None, c_size_t(0)) == BAD_ARGUMENT
    assert core.br_program_tensor(handle, None, info) == BAD_ARGUMENT
    assert core.br_program_tensor(handle, c_char_p(b"logits"), None) == BAD_ARGUMENT
    core.br_program_memory(handle, None)
    assert core.br_isa_supported(None) == 0 and core.br_set_isa(None) == UNKNOWN_PATH
    assert core.br_operation(c_size_t(0), POINTER(interface.br_operation_info)()) == 0


def test_regions_that_are_missing_or_crooked_are_refused(core, machine):
    handle, args = machine._opened.handle, interface.br_run_args(1, 0, 1, 0, 0)
    parameters, arena = (machine.regions[name].ctypes.data for name in ("parameter", "arena"))
    for number in range(native.STEP + 1):
        assert core.br_run(handle, number, None, c_void_p(arena), byref(args)) == BAD_ARGUMENT
        assert core.br_run(handle, number, c_void_p(parameters), None, byref(args)) == BAD_ARGUMENT
        assert core.br_run(handle, number, c_void_p(parameters), c_void_p(arena), None) == BAD_ARGUMENT
        assert core.br_run(handle, number, c_void_p(parameters + 8), c_void_p(arena), byref(args)) == MISALIGNED
        assert core.br_run(handle, number, c_void_p(parameters), c_void_p(arena + 8), byref(args)) == MISALIGNED


@pytest.mark.parametrize("mantissa, fits", [(2**31 - 1, True), (1 - 2**31, True), (2**31, False), (-(2**31), False)])
def test_a_rate_has_a_mantissa_below_2_to_31(machine, mantissa, fits):
    networks.feed([machine], 2, seed=0)
    run = native.Run(2, rate_mantissa=mantissa, rate_shift=31)
    if fits:
        machine.run_step(run)
    else:
        with pytest.raises(ValueError, match="an argument is null or out of range"):
            machine.run_step(run)


def with_arena(program: Program, size: int) -> bytes:
    data = bytearray(program.to_bytes())
    struct.pack_into("<Q", data, ARENA_AT, size)
    return sealed(data)


def test_an_arena_that_no_tensor_uses_is_refused():
    """A file of some kilobytes could ask for 32 TiB otherwise."""
    program = networks.tail((2, 2, 8), Bits(), 2)
    most = max(tensor.offset + tensor.bytes(2) for tensor in program.tensors if tensor.region == "arena")
    for size in (2 * most + 4096 + 1, 1 << 39, 1 << 45):
        data = with_arena(program, size)
        with pytest.raises(ProgramError, match="sizes in its header are|asks for an arena of [0-9]+ bytes"):
            native.OpenedProgram(np.frombuffer(data, np.uint8).copy(), 1)
        with pytest.raises(ProgramError, match=f"asks for an arena of {size} bytes, but its tensors take {most}"):
            Program.from_bytes(data)
    native.OpenedProgram(np.frombuffer(with_arena(program, 2 * most + 4096), np.uint8).copy(), 1)


def test_a_tensor_beyond_2_to_40_bytes_is_refused():
    data = bytearray(networks.tail((2, 2, 8), Bits(), 2).to_bytes())
    struct.pack_into("<I", data, SAMPLES_AT, 1 << 20)
    struct.pack_into("<Q", data, ARENA_AT, 1 << 41)
    struct.pack_into("<III", data, FIRST_SHAPE_AT, 1 << 10, 1 << 10, 1)
    with pytest.raises(ProgramError, match="sizes in its header are out of range"):
        native.OpenedProgram(np.frombuffer(sealed(data), np.uint8).copy(), 1)
