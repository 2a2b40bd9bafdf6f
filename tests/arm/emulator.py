"""The ARM build of the core under qemu-user: where its tools are, and how to call them.

`make test-arm` builds them (core/tools) and sets BITREPLAY_ARM to their folder; without it the tests skip.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from numpy.typing import NDArray

from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from tests.engine.paths.cases_file import file_of, pairs
from tests.engine.paths.one_record import Case

PATHS = ("scalar", "neon")
ALL = (*PATHS, "dotprod")  # which is NEON with some kernels of its own
LISTS = {"forward": 1, "step": 4}
FOLDER = os.environ.get("BITREPLAY_ARM", "")
needs_arm = pytest.mark.skipif(not FOLDER, reason="The ARM build is not there; `make test-arm` makes it and runs this.")


def emulate(path: str, tool: str, *words: str, plugin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a tool of core/tools as on an ARM machine, with one instruction set, which it prints first."""
    done = emulated(path, tool, *words, plugin=plugin)
    assert done.stdout.split()[0] == path
    return done


def emulated(path: str, tool: str, *words: str, plugin: str = "", cpu: str = "max") -> subprocess.CompletedProcess[str]:
    """`path` "" is the library's own choice for the CPU, which qemu names."""
    emulator = shutil.which("qemu-aarch64")
    assert emulator is not None, "qemu-aarch64 is not installed"
    options = ["-cpu", cpu, *(["-plugin", plugin] if plugin else [])]
    command = [emulator, "-L", "/usr/aarch64-linux-gnu", *options, str(Path(FOLDER) / "core" / "tools" / tool), *words]
    done = subprocess.run(command, env=os.environ | {"BITREPLAY_ISA": path}, capture_output=True, text=True)
    assert done.returncode == 0, f"{tool} on {path}: exit {done.returncode}, {done.stderr}"
    return done


def train(
    path: str, folder: Path, program: Program, minibatches: list[tuple[NDArray, NDArray]], runs: Run, steps: int
) -> bytes:
    """The parameters after `steps` steps; step i takes minibatch i modulo their number."""
    names = [str(folder / name) for name in ("program", "inputs", "parameters")]
    Path(names[0]).write_bytes(program.to_bytes())
    Path(names[1]).write_bytes(b"".join(codes.tobytes() + labels.tobytes() for codes, labels in minibatches))
    numbers = (steps, runs.samples, runs.seed, runs.rate_mantissa, runs.rate_shift)
    emulate(path, "golden", *names[:2], *(str(n) for n in numbers), names[2])
    return Path(names[2]).read_bytes()


def arenas(path: str, folder: Path, cases: list[tuple[Case, str]]) -> list[tuple[bytes, bytes]]:
    """(expected, found) content of the arena after each case, with the named tensor last before a guard page."""
    file, expected = file_of(cases)
    (folder / "cases").write_bytes(file)
    done = emulate(path, "cases", str(folder / "cases"), str(folder / "results"))
    assert done.stdout.split()[1] == str(len(cases))
    return pairs(expected, (folder / "results").read_bytes())


def instructions(path: str, folder: Path, program: Program, list_name: str, samples: int) -> int:
    """Instructions of one run of a list, counted by core/tools/qemu_count.c."""
    (folder / "program").write_bytes(program.to_bytes())
    words = (str(folder / "program"), str(LISTS[list_name]), str(samples))
    done = emulate(path, "count", *words, plugin=str(Path(FOLDER) / "qemu_count.so"))
    match = re.search(r"^instructions (\d+)$", done.stderr, re.MULTILINE)
    assert match is not None, done.stderr
    return int(match[1])
