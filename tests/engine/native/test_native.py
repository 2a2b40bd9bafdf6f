"""The native core equals the reference bit for bit: every tensor after every list, and after a thousand steps."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from bitreplay.core import interface
from bitreplay.engine import layers as layers
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import LISTS
from bitreplay.engine.reference import ReferenceMachine
from tests.engine import networks

PATHS = native.available_isas()
STEP = ("forward", "backward", "update", "prepare")
# Channels around the word, maps around the kernel, minibatches that do not fill the program.
SHAPES = [
    ((4, 4, 1), 2, 2), ((1, 1, 63), 2, 1), ((5, 3, 64), 5, 5), ((4, 4, 65), 2, 2), ((5, 3, 65), 5, 2),
    ((4, 4, 128), 1, 1), ((2, 7, 131), 3, 3),
]  # fmt: skip
WIDTHS = [Bits(8, 1, 8), Bits(8, 1, 16), Bits(8, 1, 32), Bits(16, 1, 16), Bits(32, 1, 32)]


@pytest.fixture(params=PATHS)
def path(request):
    native.set_isa(request.param)
    return request.param


def assert_equal(reference, machine, samples, where):
    for tensor in reference.program.tensors:
        assert np.array_equal(reference.view(tensor, samples), machine.view(tensor, samples)), (where, tensor.name)
    size = reference.program.arena_bytes
    assert np.array_equal(reference.regions["arena"], machine.regions["arena"][:size]), where


@pytest.mark.parametrize("bits", WIDTHS, ids=str)
@pytest.mark.parametrize("shape, most, samples", SHAPES)
def test_every_tensor_equals_the_reference_after_every_list(path, shape, most, samples, bits):
    program = networks.tail(shape, bits, most, seed=sum(shape))
    reference, machine = ReferenceMachine(program), native.NativeMachine(program)
    assert machine.isa == path
    assert_equal(reference, machine, samples, "prepare")
    for step in range(3):
        networks.feed([reference, machine], samples, seed=step)
        for name in STEP:
            reference.run(name, networks.run_of(samples, step))
            machine.run(name, networks.run_of(samples, step))
            assert_equal(reference, machine, samples, (step, name))


@pytest.mark.parametrize("latent_bits", [2, 4, 8, 16])
@pytest.mark.parametrize("padding", ["zero", "one"])
def test_other_codes_and_padding(path, latent_bits, padding):
    program = networks.tail((3, 4, 70), Bits(16, 1, 16), 3, latent_bits=latent_bits, padding=padding)
    reference, machine = ReferenceMachine(program), native.NativeMachine(program)
    networks.feed([reference, machine], 3, seed=1)
    for name in STEP:
        reference.run(name, networks.run_of(3, 0))
        machine.run(name, networks.run_of(3, 0))
        assert_equal(reference, machine, 3, name)


@pytest.mark.parametrize("forward", [8, 16, 32])
@pytest.mark.parametrize("channels, latent_bits", [(5, 1), (32, 2), (65, 8)])
def test_a_backbone_equals_the_reference(path, forward, channels, latent_bits):
    program = networks.backbone(8, channels, Bits(forward), 2, latent_bits)
    reference, machine = ReferenceMachine(program), native.NativeMachine(program)
    images = np.random.default_rng(3).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    for one in (reference, machine):
        one.write("images", images)
        one.run("forward", networks.run_of(2, 0))
    networks.forget_sums(reference, machine)
    assert_equal(reference, machine, 2, "forward")


def digest(machine) -> str:
    return hashlib.sha256(machine.regions["parameter"].tobytes()).hexdigest()


def train(machine, steps: int) -> str:
    for step in range(steps):
        networks.feed([machine], 4, seed=step % 5)
        machine.run_step(networks.run_of(4, step))
    return digest(machine)


@pytest.fixture(scope="module")
def golden():
    program = networks.tail((3, 3, 40), Bits(8, 1, 16), 4, seed=9)
    return program, train(native.SlowMachine(program), 1000)


def test_a_thousand_steps_end_in_the_reference_state(path, golden):
    program, expected = golden
    machine = native.NativeMachine(program)
    before = digest(machine)
    assert before != expected
    assert train(machine, 1000) == expected


CHILD = """
from bitreplay.engine import native
from bitreplay.engine.builder import Bits
from tests.engine import networks
from tests.engine.native.test_native import train
print(native.isa(), train(native.NativeMachine(networks.tail((3, 3, 40), Bits(8, 1, 16), 4, seed=9)), 200))
"""


@pytest.mark.parametrize("name", PATHS)
def test_two_processes_give_the_same_hash(name):
    root = Path(__file__).resolve().parents[3]
    environment = os.environ | {"BITREPLAY_ISA": name}
    command = [sys.executable, "-c", CHILD]
    first, second = (subprocess.check_output(command, cwd=root, env=environment, text=True) for _ in range(2))
    assert first == second and first.split()[0] == name


def test_an_unknown_path_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="'mmx' cannot be used here; available: .*scalar"):
        native.set_isa("mmx")
    code = CHILD.replace("native.isa(), ", "")
    environment = os.environ | {"BITREPLAY_ISA": "mmx"}
    root = Path(__file__).resolve().parents[3]
    failed = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True)
    assert failed.returncode != 0 and "BITREPLAY_ISA is mmx; built here: scalar" in failed.stderr


def test_the_operation_tables_agree():
    info, found = interface.br_operation_info(), {}
    index = 0
    while native.library().br_operation(index, ctypes.byref(info)):
        rows = tuple(text.decode() for text in (info.reads, info.writes, info.attributes))
        found[info.name.decode()] = (info.code, *rows)
        index += 1
    expected = {
        name: (entry.code, " ".join(entry.reads), " ".join(entry.writes), " ".join(entry.attributes))
        for name, entry in OPERATIONS.items()
    }
    assert found == expected


def test_a_label_that_is_no_class_is_refused():
    machine = native.NativeMachine(networks.tail((2, 2, 8), Bits(), 2))
    networks.feed([machine], 2, seed=0)
    machine.write("labels", np.array([0, 5], np.int32))
    machine.run("forward", networks.run_of(2, 0))
    with pytest.raises(ValueError, match="a label is not one of the program's classes"):
        machine.run("backward", networks.run_of(2, 0))


@pytest.mark.parametrize("samples", [0, -1, 3])
def test_a_minibatch_that_does_not_fit_is_refused(samples):
    machine = native.NativeMachine(networks.tail((2, 2, 8), Bits(), 2))
    for name in LISTS:
        with pytest.raises(ValueError, match="an argument is null or out of range"):
            machine.run(name, networks.run_of(samples, 0))


def test_without_the_library_the_reference_serves_and_says_so(monkeypatch):
    def missing():
        raise OSError("no such file")

    program = networks.tail((2, 2, 8), Bits(), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = native.machine(program)
    monkeypatch.setattr(native, "library", missing)
    with pytest.warns(RuntimeWarning, match="no such file.*NumPy reference.*slower"):
        slow = native.machine(program)
    for step in range(2):
        networks.feed([fast, slow], 2, seed=step)
        fast.run_step(networks.run_of(2, step))
        slow.run_step(networks.run_of(2, step))
    assert digest(fast) == digest(slow)
