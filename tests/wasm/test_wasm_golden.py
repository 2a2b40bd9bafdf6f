"""A training run ends in the same bytes in WebAssembly as on this machine."""

from __future__ import annotations

import hashlib
import os

import pytest

from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from tests.engine import networks
from tests.wasm.engines import SETS, Engine, Node, chromium, needs_wasm

STEPS = int(os.environ.get("BITREPLAY_GOLDEN_STEPS", "1000"))
SAMPLES, MINIBATCHES = 4, 5
WIDTHS = [Bits(8, binary, other) for binary in (1, 4, 8) for other in (8, 16, 32)] + [Bits(16, 1, 16), Bits(32, 16, 32)]


def check(engine: Engine, where: str, bits: Bits, record_property) -> None:
    program = networks.tail((3, 3, 40), bits, SAMPLES, seed=9)
    machine = native.NativeMachine(program)
    inputs = b""
    for step in range(STEPS):
        networks.feed([machine], SAMPLES, seed=step % MINIBATCHES)
        if step < MINIBATCHES:
            inputs += machine.read("latents", SAMPLES).tobytes() + machine.read("labels", SAMPLES).tobytes()
        machine.run_step(networks.run_of(SAMPLES, step))
    right = machine.regions["parameter"].tobytes()
    run = networks.run_of(SAMPLES, 0)
    arguments = (STEPS, SAMPLES, run.seed, run.rate_mantissa, run.rate_shift)
    for isa in SETS:
        record_property("path", f"{isa} in {where}")
        parameters = engine.call(isa, "golden", [program.to_bytes(), inputs], arguments)
        assert hashlib.sha256(parameters).hexdigest() == hashlib.sha256(right).hexdigest(), isa
    record_property("figure", f"{bits}: {STEPS} steps in {where} end in {hashlib.sha256(right).hexdigest()[:16]}")


@needs_wasm
@pytest.mark.parametrize("bits", WIDTHS, ids=str)
def test_many_steps_end_in_the_same_state_in_node(bits, tmp_path, record_property):
    check(Node(tmp_path), "Node", bits, record_property)


@needs_wasm
def test_many_steps_end_in_the_same_state_in_chromium(record_property):
    with chromium() as engine:
        for bits in (Bits(8, 1, 16), Bits(8, 8, 8)):
            check(engine, "Chromium", bits, record_property)
