"""Two tables of state hashes, `make hashes`: 60 photographs learned by sums, and by 200 steps of replay, on everything
that is here.

A machine that is not here, or whose tools were not built (`make test-arm` and `make test-wasm` do that), is said to be
missing. Microcontrollers have a life of their own, beside the desk's: `make test-mcu`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from bitreplay.engine import native
from bitreplay.export import image_of
from tests.hashes import replayed, sixty

ROOT = Path(__file__).resolve().parents[2]
WASM = Path(os.environ.get("BITREPLAY_WASM") or ROOT / "build" / "wasm")
ARM = Path(os.environ.get("BITREPLAY_ARM") or ROOT / "build" / "aarch64")
HERE = "BITREPLAY_HASHES" in os.environ
MISSING = "missing: make test-wasm, and {} as it is installed by a system's packages"


@pytest.mark.skipif(not HERE, reason="make hashes prints the table")
@pytest.mark.parametrize("life", [sixty, replayed], ids=["exact", "replay"])
def test_every_machine_ends_in_one_hash(life, tmp_path, record_property):
    rows = list(table(life, tmp_path))
    for name, found in rows:
        record_property("figure", f"{found}  {life.learner().settings.strategy}: {name}")
    assert {found for _, found in rows if len(found) == 64} == {rows[0][1]}


def table(life: ModuleType, folder: Path) -> Iterator[tuple[str, str]]:
    yield "Python, NumPy reference", python(life, BITREPLAY_LIBRARY="/nowhere")
    for path in native.available_isas():
        yield f"Python, {path}", python(life, BITREPLAY_ISA=path)
    (folder / "model.bin").write_bytes(image_of(life.learner()))
    files = sixty.write_files(folder)
    binary, flags = (
        folder / life.EXAMPLE,
        ["-O2", f"-I{ROOT / 'core' / 'include'}", f"-Wl,-rpath,{native.LIBRARY.parent}"],
    )
    source = ROOT / "examples" / f"{life.EXAMPLE}.c"
    subprocess.run(["cc", *flags, source, native.LIBRARY, "-o", binary], check=True)
    for path in native.available_isas():
        yield f"C, {path}", in_c([binary], folder / path, files, path)
    arm, emulator = ARM / "core" / "tools" / life.EXAMPLE, shutil.which("qemu-aarch64")
    for path in ("scalar", "neon", "dotprod"):
        name = f"C on 64-bit ARM (qemu-user), {path}"
        there = arm.exists() and emulator is not None
        command: list[str | Path] = [emulator or "", "-L", "/usr/aarch64-linux-gnu", arm]
        yield name, in_c(command, folder / f"arm-{path}", files, path) if there else "missing: make test-arm"
    yield from in_wasm(life, folder)


def python(life: ModuleType, **environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-m", life.__name__]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def in_c(binary: list[str | Path], state: Path, files: list[tuple[str, list[Path]]], path: str) -> str:
    said = ""
    for label, paths in files:
        command = [*binary, state.parent / "model.bin", state, "learn", label, *paths]
        done = subprocess.run(command, env=os.environ | {"BITREPLAY_ISA": path}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said = done.stdout.strip()
    return said


def in_wasm(life: ModuleType, folder: Path) -> Iterator[tuple[str, str]]:
    os.environ.setdefault("BITREPLAY_WASM", str(WASM))
    from tests.wasm.engines import SETS, Node
    from tests.wasm.served import Served

    images = sixty.pictures()
    turns = [["learn", [[k, sixty.LABELS[k]] for k in range(s, s + sixty.EACH)]] for s in range(0, 60, sixty.EACH)]
    about = json.dumps({"side": images.shape[1], "turns": turns}).encode()
    given = [image_of(life.learner()), images.tobytes(), about, b"", b""]
    built = (WASM / "bitreplay.wasm").exists()
    for path in SETS:
        there = built and shutil.which("node") is not None
        found = Node(folder).call(path, life.DRIVEN, given)[:64].decode() if there else "missing: make test-wasm"
        yield f"JavaScript in Node, {path}", found
    for name in ("chromium", "firefox"):
        there = built and Served.is_there(name)
        for path in SETS:
            found = Served(name, folder).call(path, life.DRIVEN, given)[:64].decode() if there else MISSING.format(name)
            yield f"JavaScript in {name.capitalize()}, {path}", found
