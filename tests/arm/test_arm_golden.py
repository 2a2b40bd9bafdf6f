"""A training run ends in the same bytes on ARM as on this machine."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest

from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from tests.arm.emulator import PATHS, needs_arm, train
from tests.engine import networks

STEPS = int(os.environ.get("BITREPLAY_GOLDEN_STEPS", "1000"))
SAMPLES, MINIBATCHES = 4, 5
WIDTHS = [Bits(8, binary, other) for binary in (1, 4, 8) for other in (8, 16, 32)] + [Bits(16, 1, 16), Bits(32, 16, 32)]


@needs_arm
@pytest.mark.parametrize("bits", WIDTHS, ids=str)
def test_many_steps_end_in_the_same_state(bits, tmp_path, record_property):
    program = networks.tail((3, 3, 40), bits, SAMPLES, seed=9)
    machine = native.NativeMachine(program)
    before = hashlib.sha256(machine.regions["parameter"].tobytes()).hexdigest()
    minibatches = []
    for step in range(STEPS):
        networks.feed([machine], SAMPLES, seed=step % MINIBATCHES)
        if step < MINIBATCHES:
            minibatches.append((machine.read("latents", SAMPLES), machine.read("labels", SAMPLES)))
        machine.run_step(networks.run_of(SAMPLES, step))
    expected = hashlib.sha256(machine.regions["parameter"].tobytes()).hexdigest()
    assert expected != before
    for path in PATHS:
        record_property("path", f"{path} on ARM")
        parameters = train(path, tmp_path, program, minibatches, networks.run_of(SAMPLES, 0), STEPS)
        assert hashlib.sha256(parameters).hexdigest() == expected, path
    record_property("figure", f"{bits}: {STEPS} steps on ARM end in {expected[:16]}")


@needs_arm
@pytest.mark.parametrize("each", [1, 3])
def test_minibatches_in_parts_end_in_the_same_state(each, tmp_path, record_property):
    graph, steps = networks.tail_graph((3, 3, 40), np.random.default_rng(9)), STEPS // 10
    whole, parts = (
        compile_tail(graph, networks.REPLAY_LAYER, Bits(), count, 5, in_parts=count == each)
        for count in (SAMPLES, each)
    )
    machine, minibatches = native.NativeMachine(whole), []
    for step in range(steps):
        networks.feed([machine], SAMPLES, seed=step % MINIBATCHES)
        minibatches.append((machine.read("latents", SAMPLES), machine.read("labels", SAMPLES)))
        machine.run_step(networks.run_of(SAMPLES, step))
    for path in PATHS:
        record_property("path", f"{path} on ARM")
        parameters = train(path, tmp_path, parts, minibatches[:MINIBATCHES], networks.run_of(SAMPLES, 0), steps)
        assert parameters == machine.regions["parameter"].tobytes(), path
