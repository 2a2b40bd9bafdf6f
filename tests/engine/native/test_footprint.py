"""The memory of a program is what was planned: in the machine's arrays, and in a fresh process by what it holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.bench import ours
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.program import Program
from tests.engine import networks

SAMPLES = 32
# The base is taken after a small program has run: modules, library and code are in memory then.
CHILD = """
import sys
import numpy as np
from pathlib import Path
from benchmarks.bench import ours
from benchmarks.bench.resident import peak, restart_peak
from bitreplay.engine import native
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program

def work(file, times):
    machine = native.NativeMachine(Program.from_bytes(np.fromfile(file, np.uint8).data))
    samples = machine.program.max_samples
    for name, dtype, high in (("images", np.uint8, 256), ("latents", np.uint64, 1 << 63), ("labels", np.int32, 5)):
        if machine.program.has(name):
            shape = (samples, *machine.program.tensor(name).shape)
            machine.write(name, np.random.default_rng(0).integers(0, high, shape, dtype))
    for step in range(times):
        if machine.program.has("labels"):
            machine.run_step(Run(samples, 1, step, ours.RATE.mantissa, ours.RATE.shift))
        else:
            machine.run("forward", Run(samples))
    return machine

for small in sys.argv[2:]:
    work(small, 2)
base = restart_peak()
machine = work(sys.argv[1], 3)
print(peak() - base, machine.footprint.total)
"""


def programs() -> dict[str, Program]:
    graph = ours.bireal18()
    tail = {
        f"tail {b}": ours.tail_program(graph, ours.REPLAY_LAYER, b, SAMPLES) for b in (Bits(8, 1, 16), Bits(8, 8, 16))
    }
    return tail | {"whole forward": compile_whole(graph, Bits(8), 1)}


@pytest.mark.parametrize("name", ["tail 8/1/16", "tail 8/8/16", "whole forward"])
def test_a_process_takes_what_was_planned(name, tmp_path):
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("This system does not tell the peak of a process's memory since a moment.")
    program = programs()[name]
    small = {"tail": networks.tail((3, 3, 40), Bits(8, 8, 16), 2), "backbone": networks.backbone(8, 5, Bits(8), 2)}
    files = [tmp_path / "program", *(tmp_path / kind for kind in small)]
    for file, content in zip(files, (program, *small.values()), strict=True):
        file.write_bytes(content.to_bytes())
    command = [sys.executable, "-c", CHILD, *map(str, files)]
    env = os.environ | {"BITREPLAY_ISA": native.isa()}
    taken, planned = map(int, subprocess.check_output(command, text=True, env=env).split())
    assert planned == native.footprint(program).total
    assert 0.9 * planned < taken < 1.1 * planned, f"{name}: {taken} bytes were taken, {planned} planned"


@pytest.mark.parametrize("path", native.available_isas())
def test_the_plan_is_what_a_machine_holds(path):
    before = native.isa()
    native.set_isa(path)
    try:
        for program in (networks.tail((3, 4, 70), Bits(8, 8, 16), 3), networks.backbone(8, 5, Bits(8), 2)):
            machine, plan = native.NativeMachine(program), native.footprint(program)
            assert machine.footprint == plan
            assert plan.image == len(program.to_bytes()) and plan.parameters == len(machine.regions["parameter"])
            assert plan.arena == program.arena_bytes == len(machine.regions["arena"]) - plan.scratch
            assert np.shares_memory(machine.regions["constant"], program.image)
    finally:
        native.set_isa(before)


def test_operations_share_their_scratch():
    """Twice as many layers that learn: no more scratch, since one operation runs at a time."""
    few, many = (native.footprint(networks.tail((4, 4, 64), Bits(8, 8, 16), 4, blocks=n)) for n in (2, 4))
    assert 0 < few.scratch == many.scratch and few.parameters < many.parameters
    frozen = native.footprint(networks.tail((4, 4, 64), Bits(8, 1, 16), 4))
    assert frozen.scratch == 0 and frozen.packed_weights > 0


def test_without_the_library_the_regions_are_planned(monkeypatch):
    def missing():
        raise OSError("no such file")

    program = networks.tail((2, 2, 8), Bits(), 2)
    monkeypatch.setattr(native, "library", missing)
    plan = native.footprint(program)
    assert plan.total == len(program.to_bytes()) + len(program.parameters) + program.arena_bytes


@pytest.mark.parametrize("path", native.available_isas())
@pytest.mark.parametrize("bits", [Bits(8, 1, 16), Bits(8, 8, 16), Bits(32, 32, 32)], ids=str)
def test_nothing_is_allocated_while_a_program_runs(bits, path, tmp_path):
    source, include = Path(__file__).with_name("no_allocation.c"), Path(__file__).resolve().parents[3] / "core/include"
    binary, library = tmp_path / "no_allocation", native.LIBRARY
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-Wl,-rpath,{library.parent}", "-pthread"]
    subprocess.run(["cc", *flags, str(source), str(library), "-o", str(binary)], check=True)
    (tmp_path / "program").write_bytes(networks.tail((4, 4, 65), bits, 5).to_bytes())
    environment = os.environ | {"BITREPLAY_ISA": path}
    for threads in (1, 3):
        command = [str(binary), str(tmp_path / "program"), str(threads)]
        opening, running = map(int, subprocess.check_output(command, env=environment, text=True).split())
        assert opening in (1, 2) and running == 0
