"""Every example is built and run: learning from C, without Python, ends in the same bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from bitreplay import modelfile
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.compiler import Bits
from bitreplay.engine.native import LIBRARY, NativeMachine
from bitreplay.engine.operations import Run

ROOT = Path(__file__).resolve().parents[1]
STEPS, SAMPLES = 3, 4


def test_c_learns_what_python_learns(tmp_path: Path) -> None:
    zoo = Path(modelfile.__file__).resolve().parents[1] / "zoo" / "bireal18.safetensors"
    program = compile_tail(modelfile.load(zoo)[0], "add_12", Bits(), 8, 10)
    rng = np.random.default_rng(0)
    shape = program.tensor("latents").shape
    codes = rng.integers(0, 2**64, (SAMPLES, *shape), dtype=np.uint64)
    labels = rng.integers(0, 10, SAMPLES).astype(np.int32)
    for name, content in (("p", program.to_bytes()), ("x", codes.tobytes()), ("y", labels.tobytes())):
        (tmp_path / name).write_bytes(content)
    binary, include = tmp_path / "train", ROOT / "core" / "include"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-Wl,-rpath,{LIBRARY.parent}"]
    source = str(ROOT / "examples" / "train.c")
    built = subprocess.run(["cc", *flags, source, str(LIBRARY), "-o", str(binary)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    command = [str(path) for path in (binary, *(tmp_path / name for name in "pxy"), STEPS, tmp_path / "learned")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    machine = NativeMachine(program)
    for step in range(STEPS):
        machine.write("latents", codes)
        machine.write("labels", labels)
        machine.run_step(Run(SAMPLES, 1, step, 1717986918, 35))
    learned = np.frombuffer((tmp_path / "learned").read_bytes(), np.uint8)
    assert np.array_equal(learned, machine.regions["parameter"])
    assert not np.array_equal(learned, program.parameters)
