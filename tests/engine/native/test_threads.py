"""Threads change no bit: every path, every list, every operation; long runs, forks, overlapping runs."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import threading

import numpy as np
import pytest

from bitreplay.engine import layers as layers
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.program import ProgramError
from bitreplay.engine.reference import ReferenceMachine
from tests.engine import networks
from tests.engine.paths.every_case import EVERY
from tests.engine.paths.one_record import check

STEP = ("forward", "backward", "update", "prepare")
THREADS = (1, 2, 3)


@pytest.fixture(params=native.available_isas())
def path(request):
    before = native.isa()
    native.set_isa(request.param)
    yield request.param
    native.set_isa(before)


# More samples than a block of a chain holds, and numbers of them that leave a rest.
@pytest.mark.parametrize("bits", [Bits(8, 1, 16), Bits(8, 4, 8), Bits(16, 8, 16), Bits(32, 32, 32)], ids=str)
@pytest.mark.parametrize("samples", [1, 2, 8, 19])
def test_every_byte_equals_the_reference_whatever_the_threads(path, samples, bits):
    program = networks.tail((3, 4, 70), bits, 19, seed=5)
    reference = ReferenceMachine(program)
    machines = [native.NativeMachine(program, threads) for threads in THREADS]
    for step in range(2):
        networks.feed([reference, *machines], samples, seed=step)
        for name in STEP:
            reference.run(name, networks.run_of(samples, step))
            for machine in machines:
                machine.run(name, networks.run_of(samples, step))
                where = (machine.threads, step, name)
                arena = machine.regions["arena"][: program.arena_bytes]
                assert np.array_equal(reference.regions["arena"], arena), where
                assert np.array_equal(reference.regions["parameter"], machine.regions["parameter"]), where


def test_a_backbone_equals_the_reference_whatever_the_threads(path):
    program = networks.backbone(8, 65, Bits(8), 19)
    images = np.random.default_rng(3).integers(0, 256, (19, 8, 8, 3), dtype=np.uint8)
    reference = ReferenceMachine(program)
    reference.write("images", images)
    reference.run("forward", networks.run_of(19, 0))
    for threads in THREADS:
        machine = native.NativeMachine(program, threads)
        machine.write("images", images)
        machine.run("forward", networks.run_of(19, 0))
        networks.forget_sums(reference, machine)
        assert np.array_equal(reference.regions["arena"], machine.regions["arena"][: program.arena_bytes]), threads


@pytest.mark.parametrize("kernel", EVERY)
def test_an_operation_cut_among_threads_equals_the_reference(kernel, path, monkeypatch):
    monkeypatch.setenv("BITREPLAY_THREADS", "3")
    cases = list(EVERY[kernel]())
    for case in cases[:: max(1, len(cases) // 8)]:
        check(case, path)


def state_after(machine, samples: int, steps: int) -> str:
    for step in range(steps):
        networks.feed([machine], samples, seed=step % 5)
        machine.run_step(networks.run_of(samples, step))
    return hashlib.sha256(machine.regions["parameter"].tobytes()).hexdigest()


@pytest.mark.parametrize("bits", [Bits(8, 1, 16), Bits(8, 8, 16), Bits(8, 4, 8), Bits(8, 1, 32)], ids=str)
def test_a_golden_run_ends_alike(path, bits):
    program = networks.tail((3, 3, 40), bits, 20, seed=9)
    ends = {state_after(native.NativeMachine(program, threads), 20, 300) for threads in THREADS}
    assert len(ends) == 1
    starts = {state_after(native.NativeMachine(program, threads), 20, 10) for threads in THREADS}
    assert starts == {state_after(native.SlowMachine(program), 20, 10)} and starts != ends


def _in_child(machine, samples, answers) -> None:
    answers.put(state_after(machine, samples, 20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system has no fork.")
def test_a_forked_child_works_alone():
    program = networks.tail((3, 3, 40), Bits(8, 8, 16), 20, seed=9)
    machine = native.NativeMachine(program, 3)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(machine, 20, answers))
    child.start()
    found = answers.get()
    child.join(60)
    assert child.exitcode == 0
    assert found == state_after(machine, 20, 20) == state_after(native.NativeMachine(program, 1), 20, 20)


def test_runs_that_overlap_do_not_disturb_one_another():
    """One opened program, two runs at a time in regions of their own: one of them has the helpers."""
    program = networks.tail((3, 3, 40), Bits(8, 8, 16), 20, seed=9)
    owner = native.NativeMachine(program, 3)
    sharing = [owner.sibling(), owner.sibling()]
    found: list[str] = []
    runs = [threading.Thread(target=lambda m=m: found.append(state_after(m, 20, 100))) for m in sharing]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert found == [state_after(native.NativeMachine(program, 1), 20, 100)] * 2


def test_the_number_of_threads_is_checked(monkeypatch):
    program = networks.tail((2, 2, 8), Bits(), 2)
    for threads in (0, 65):
        with pytest.raises(ProgramError, match=f"1 to 64 threads, not {threads}"):
            native.NativeMachine(program, threads)
    monkeypatch.setenv("BITREPLAY_THREADS", "2")
    assert native.NativeMachine(program).threads == 2 and native.NativeMachine(program, 1).threads == 1
    for text in ("0", "65", "many", "-1"):
        monkeypatch.setenv("BITREPLAY_THREADS", text)
        with pytest.raises(ValueError, match=f"BITREPLAY_THREADS must be a number from 1 to 64, got '{text}'"):
            native.machine(program)


def test_threads_end_with_their_machine():
    before = set(threading.enumerate())
    machine = native.NativeMachine(networks.tail((2, 2, 8), Bits(), 2), 5)
    mine = set(threading.enumerate()) - before
    assert len(mine) == 4 and all(thread.is_alive() and thread.daemon for thread in mine)
    del machine
    for thread in mine:
        thread.join(10)
    assert not any(thread.is_alive() for thread in mine)


def test_scratch_for_threads_is_planned():
    program = networks.tail((4, 4, 64), Bits(8, 8, 16), 4)
    plans = [native.footprint(program, threads) for threads in (1, 2, 16)]
    assert plans[0].scratch <= plans[1].scratch < plans[2].scratch
    assert native.NativeMachine(program, 16).footprint == plans[2]
