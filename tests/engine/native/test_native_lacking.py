"""A library that lacks an operation: the reference serves and says so. Other faults stay faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.graph import Fixed, Node
from bitreplay.engine.program import ProgramError
from tests.engine import networks


def test_an_operation_that_the_library_lacks_runs_in_the_reference(monkeypatch):
    program = networks.tail((2, 2, 8), Bits(), 2)
    known = native.known_operations()
    assert {record.operation for record in program.records} <= known
    monkeypatch.setattr(native, "known_operations", lambda: known - {"dense"})
    with pytest.warns(RuntimeWarning, match="does not know the operation dense; the NumPy reference runs instead"):
        slow = native.machine(program)
    assert isinstance(slow, native.SlowMachine)


def test_a_program_that_is_refused_stays_refused():
    program = networks.tail((2, 2, 8), Bits(), 2)
    program.tensors[0] = replace(program.tensors[0], offset=1 << 40)
    with pytest.raises(ProgramError):
        native.machine(program)


@pytest.mark.parametrize("name", ["gamma", "inverse_sigma"])
@pytest.mark.parametrize("bits", [Bits(8, 1, 16), Bits(32, 1, 32)], ids=str)
def test_batchnorm_with_all_zeros_compiles_and_steps_as_the_reference(name, bits):
    graph = networks.tail_graph((2, 2, 8), np.random.default_rng(0))
    node: Node = graph.nodes[graph.position("add_1")]
    old = node.arrays[name]
    assert isinstance(old, Fixed)
    node.arrays[name] = Fixed(np.zeros_like(old.values), old.shift)
    program = compile_tail(graph, networks.REPLAY_LAYER, bits, 2, 5)
    fast, slow = native.NativeMachine(program), native.SlowMachine(program)
    for step in range(2):
        networks.feed([fast, slow], 2, seed=step)
        fast.run_step(networks.run_of(2, step))
        slow.run_step(networks.run_of(2, step))
    assert np.array_equal(fast.regions["parameter"], slow.regions["parameter"])


def test_a_mean_beyond_its_range_is_refused_with_a_sentence():
    graph = networks.tail_graph((2, 2, 8), np.random.default_rng(0))
    node: Node = graph.nodes[graph.position("add_1")]
    node.arrays["mean"] = Fixed(np.full(8, (1 << 31) - 1, np.int32), -20)
    with pytest.raises(ProgramError, match="mean or beta is too large"):
        compile_tail(graph, networks.REPLAY_LAYER, Bits(8, 1, 16), 2, 5)
