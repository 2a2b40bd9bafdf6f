"""NEON and scalar code of an aarch64 build equal the reference, run by qemu-user through a C program."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bitreplay.engine import layers as layers
from bitreplay.engine import native
from bitreplay.engine.compiler import Bits
from bitreplay.engine.operations import Run
from bitreplay.engine.program import LISTS, Program
from bitreplay.engine.reference import Memory, ReferenceMachine
from tests.engine import networks
from tests.engine.paths.cases import KERNELS
from tests.engine.paths.one_record import program_of
from tests.engine.test_native_no_float import FORBIDDEN

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64", "cmake", "ninja")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"Not installed, so aarch64 is not tested: {', '.join(MISSING)}."),
]


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Path:
    """The library and the C program, cross-built."""
    folder = tmp_path_factory.mktemp("aarch64")
    system = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    compiler = ["-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++", "-DCMAKE_BUILD_TYPE=Release"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *system, *compiler], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    source = Path(__file__).with_name("replay.c")
    include = ["-I", str(ROOT / "core" / "include"), "-Wall", "-Wextra", "-Werror"]
    library = ["-L", str(folder), "-l:libbitreplay_core.so", f"-Wl,-rpath,{folder}"]
    subprocess.run(["aarch64-linux-gnu-gcc", "-O2", *include, source, "-o", folder / "replay", *library], check=True)
    return folder


def replay(build: Path, machine: Memory, path: str, number: int, run: Run, steps: int) -> np.ndarray:
    """Parameters and arena after the list `number` has run `steps` times from the machine's present content."""
    program, regions, result = (build / name for name in ("program", "regions", "result"))
    program.write_bytes(machine.program.to_bytes())
    arena = machine.regions["arena"][: machine.program.arena_bytes]
    regions.write_bytes(machine.regions["parameter"].tobytes() + arena.tobytes())
    numbers = [str(n) for n in (number, run.samples, steps, run.rate_mantissa, run.rate_shift)]
    files = [str(name) for name in (build / "replay", program, regions, result)]
    subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", *files, path, *numbers], check=True)
    return np.fromfile(result, np.uint8)


def content(machine: Memory, program: Program) -> np.ndarray:
    return np.concatenate([machine.regions["parameter"], machine.regions["arena"][: program.arena_bytes]])


@pytest.mark.parametrize("path", ["scalar", "neon"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_equals_the_reference(build, kernel, path):
    for number, case in enumerate(KERNELS[kernel]()):
        if number % 5:
            continue
        program = program_of(case, next(iter(case.operands)))
        reference = ReferenceMachine(program)
        for role, operand in case.operands.items():
            if operand.region == "arena":
                reference.write(role, operand.content)
        run = Run(case.samples)
        found = replay(build, reference, path, LISTS.index("forward"), run, 1)
        reference.run("forward", run)
        assert np.array_equal(found, content(reference, program)), (path, case.operation, case.label)


@pytest.mark.parametrize("path", ["scalar", "neon"])
@pytest.mark.parametrize("other", [8, 16, 32])
def test_a_thousand_steps_end_in_the_same_state(build, path, other):
    program = networks.tail((3, 3, 40), Bits(8, 1, other), 4, seed=9)
    machine = native.NativeMachine(program)
    networks.feed([machine], 4, seed=1)
    start = networks.run_of(4, 0)
    found = replay(build, machine, path, native.STEP, start, 1000)
    before = content(machine, program)
    for step in range(1000):
        machine.run_step(networks.run_of(4, step))
    expected = content(machine, program)
    assert not np.array_equal(before, expected)
    assert hashlib.sha256(found.tobytes()).hexdigest() == hashlib.sha256(expected.tobytes()).hexdigest()


def test_the_build_has_no_floating_point_arithmetic(build):
    command = ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", build / "libbitreplay_core.so"]
    lines = subprocess.check_output(command, text=True).splitlines()
    names = {line.split("\t")[1].split()[0] for line in lines if line.count("\t") >= 1 and line.startswith(" ")}
    assert len(names) > 50 and {name for name in names if FORBIDDEN["aarch64"].match(name)} == set()
