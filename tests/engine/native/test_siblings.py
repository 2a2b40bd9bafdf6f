"""Siblings: many threads on one opened program, each in an arena of its own, and the bits of a single thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.program import Program, ProgramError
from bitreplay.engine.reference import Memory, ReferenceMachine
from tests.engine import networks

SAMPLES = 3
KINDS = {
    "native": native.NativeMachine,
    "native, 3 threads": lambda program: native.NativeMachine(program, 3),
    "reference": native.SlowMachine,
}


@pytest.fixture(params=[Bits(8, 1, 16), Bits(8, 8, 16)], ids=str)
def program(request) -> Program:
    return networks.tail((3, 3, 40), request.param, 4, seed=9)


@pytest.fixture(params=KINDS)
def machine(request, program) -> Memory:
    return KINDS[request.param](program)


def logits(machine: Memory, seed: int) -> np.ndarray:
    networks.feed([machine], SAMPLES, seed)
    machine.run("forward", networks.run_of(SAMPLES, 0))
    return machine.read("logits", SAMPLES)


def learn(machine, steps: range) -> None:
    for step in steps:
        networks.feed([machine], SAMPLES, seed=step)
        machine.run_step(networks.run_of(SAMPLES, step))


def test_a_sibling_has_its_own_arena_and_parameters_and_shares_the_rest(machine):
    learn(machine, range(3))
    other = machine.sibling()
    assert type(other) is type(machine) and other.program is machine.program
    assert other.regions["constant"] is machine.regions["constant"]
    assert np.array_equal(logits(other, 5), logits(machine, 5))
    before = machine.regions["parameter"].copy()
    learn(other, range(3, 6))
    assert np.array_equal(machine.regions["parameter"], before)
    learn(machine, range(3, 6))
    assert np.array_equal(machine.regions["parameter"], other.regions["parameter"])
    assert not np.array_equal(machine.regions["parameter"], before)


def test_native_siblings_share_what_was_opened(program):
    machine = native.NativeMachine(program)
    other = machine.sibling().sibling()
    assert other._opened is machine._opened and other.isa == machine.isa and other.threads == machine.threads
    expected = logits(machine, 1)
    del machine
    assert np.array_equal(logits(other, 1), expected)  # the program is open until its last machine is gone


def test_an_adopted_snapshot_is_the_state_that_it_was_taken_from(machine):
    answering = machine.sibling()
    learn(machine, range(2))
    whole, expected = machine.snapshot(), logits(machine, 5)
    learn(machine, range(2, 4))
    assert not np.array_equal(logits(machine, 5), expected)
    answering.adopt(whole)
    assert np.array_equal(logits(answering, 5), expected)
    for name in ("backward", "update"):
        with pytest.raises(ValueError, match=f"'{name}' would change parameters that were adopted"):
            answering.run(name, networks.run_of(SAMPLES, 0))
    with pytest.raises(ValueError, match="would change parameters that were adopted"):
        answering.run_step(networks.run_of(SAMPLES, 0))
    assert np.array_equal(whole, answering.regions["parameter"])
    for wrong in (whole[:-1], whole.view(np.int8), np.zeros(len(whole) + 8, np.uint8)[1 : len(whole) + 1]):
        with pytest.raises(ValueError, match=f"must be a snapshot of {len(whole)} bytes"):
            answering.adopt(wrong)


@pytest.mark.parametrize("threads", [1, 3])
def test_eight_threads_answer_while_another_learns(program, threads):
    """Every answer is that of a whole state, and what is learned is what an undisturbed machine learns."""
    steps, seeds = 40, 4
    alone, states, answers = native.NativeMachine(program, 1), [], []
    for step in range(steps):
        states.append(alone.snapshot())
        answers.append([logits(alone, 100 + seed) for seed in range(seeds)])
        learn(alone, range(step, step + 1))
    machine = native.NativeMachine(program, threads)
    published = [(0, machine.snapshot())]

    def answer(number: int) -> int:
        sibling, wrong = siblings[number], 0
        for turn in range(60):
            step, whole = published[-1]
            sibling.adopt(whole)
            wrong += not np.array_equal(logits(sibling, 100 + turn % seeds), answers[step][turn % seeds])
        return wrong

    def teach() -> None:
        for step in range(steps):
            learn(machine, range(step, step + 1))
            if step + 1 < steps:
                published.append((step + 1, machine.snapshot()))

    siblings = [machine.sibling() for _ in range(8)]
    with ThreadPoolExecutor(9) as pool:
        found = [pool.submit(answer, number) for number in range(8)]
        pool.submit(teach).result()
        assert [wrong.result() for wrong in found] == [0] * 8
    assert np.array_equal(machine.regions["parameter"], alone.regions["parameter"])
    assert all(np.array_equal(whole, states[step]) for step, whole in published)


def test_a_forward_pass_that_writes_parameters_is_refused(program):
    """Siblings may run forward on the same parameters, whatever a program's file says."""
    records = [replace(r, list="forward") if r.operation == "dense_update" else r for r in program.records]
    data = replace(program, records=records).to_bytes()
    with pytest.raises(ProgramError, match="dense_update in forward writes a parameter"):
        Program.from_bytes(data)
    with pytest.raises(ProgramError, match="dense_update writes to a parameter before the backward pass"):
        native.OpenedProgram(np.frombuffer(data, np.uint8).copy(), 1)


def test_the_reference_machine_has_siblings_too(program):
    machine = ReferenceMachine(program)
    assert np.array_equal(logits(machine.sibling(), 2), logits(machine, 2))
