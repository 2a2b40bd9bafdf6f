"""Every example is built and run: learning from C, without Python, ends in the same bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from bitreplay import modelfile
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.native import LIBRARY, NativeMachine
from bitreplay.engine.operations import Run
from tests.engine import networks

ROOT = Path(__file__).resolve().parents[1]
STEPS, SAMPLES = 3, 4


def build(folder: Path) -> Path:
    binary, include = folder / "train", ROOT / "core" / "include"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-Wl,-rpath,{LIBRARY.parent}"]
    source = str(ROOT / "examples" / "train.c")
    built = subprocess.run(["cc", *flags, source, str(LIBRARY), "-o", str(binary)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return binary


def test_c_refuses_inputs_that_do_not_fit(tmp_path: Path) -> None:
    """Too many bytes would be written behind the arena's end."""
    program = networks.tail((2, 2, 8), Bits(), SAMPLES)
    code = np.zeros(program.tensor("latents").shape, np.uint64).tobytes()
    binary = build(tmp_path)
    cases = [
        (2 * code, 8, 0, ""),
        (1_000_000 * code, 8, 1, "latents are not as many bytes"),
        (2 * code + b"!", 8, 1, "latents are not as many bytes"),
        (b"", 0, 1, "latents are not as many bytes"),
        (2 * code, 7, 1, "latents are not as many bytes"),
        ((SAMPLES + 1) * code, 4 * (SAMPLES + 1), 1, "latents are not as many bytes"),
        (2 * code, 9, 1, "labels are not as many bytes"),
    ]
    for codes, label_bytes, answer, sentence in cases:
        for name, content in (("p", program.to_bytes()), ("x", codes), ("y", bytes(label_bytes))):
            (tmp_path / name).write_bytes(content)
        command = [str(path) for path in (binary, *(tmp_path / name for name in "pxy"), 1, tmp_path / "learned")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == answer and sentence in done.stderr, (len(codes), label_bytes, done)
    for name in ("nowhere", "."):
        command[1] = str(tmp_path / name)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1 and "cannot be read" in done.stderr


def test_c_learns_what_python_learns(tmp_path: Path) -> None:
    zoo = Path(modelfile.__file__).resolve().parents[1] / "zoo" / "bireal18.safetensors"
    program = compile_tail(modelfile.load(zoo)[0], "add_12", Bits(), 8, 10)
    rng = np.random.default_rng(0)
    shape = program.tensor("latents").shape
    codes = rng.integers(0, 2**64, (SAMPLES, *shape), dtype=np.uint64)
    labels = rng.integers(0, 10, SAMPLES).astype(np.int32)
    for name, content in (("p", program.to_bytes()), ("x", codes.tobytes()), ("y", labels.tobytes())):
        (tmp_path / name).write_bytes(content)
    binary = build(tmp_path)
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
