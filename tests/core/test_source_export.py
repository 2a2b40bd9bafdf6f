"""tools/export_sources.py: one folder, one header, a compiler; an exported model then ends in the desk's hash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bitreplay import Learner
from bitreplay.core.interface import FUNCTIONS
from bitreplay.export import write_folder

ROOT = Path(__file__).parents[2]
needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("g++") is None, reason="gcc and g++ are not installed"
)


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    run(sys.executable, ROOT / "tools/export_sources.py", folder, cwd=ROOT)
    return folder


@needs_compiler
def test_the_header_is_c99_and_names_every_function(folder, tmp_path):
    (tmp_path / "main.c").write_text('#include "bitreplay.h"\nint main(void) { return br_abi() != BR_ABI; }\n')
    run("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", folder, "-c", "main.c", cwd=tmp_path)
    header = (folder / "bitreplay.h").read_text()
    assert [name for name in FUNCTIONS if f"{name}(" not in header] == []
    included = {line for path in folder.iterdir() for line in path.read_text().split("\n") if '#include "' in line}
    assert {line.split('"')[1] for line in included} <= {path.name for path in folder.iterdir()}


@pytest.mark.slow
@needs_compiler
def test_exported_models_end_in_the_same_hash(folder, tiny_model, tmp_path):
    """Every source is compiled alone, without an option but the language; both strategies are linked from them."""
    sources = sorted(path.name for path in folder.glob("*.cc"))
    run("g++", "-std=c++20", "-O1", "-c", *sources, cwd=folder)
    objects = sorted(folder.glob("*.o"))
    assert len(objects) == len(sources)
    settings: dict[str, Any] = {"batch_size": 2, "replay_batch_size": 4, "memory_per_class": 4}
    for strategy, more in (("exact", {}), ("replay", settings)):
        device = tmp_path / strategy
        learner = Learner.from_pretrained(tiny_model, strategy=strategy, **more)
        promised = write_folder(learner, device, 8, "linux")["main_prints"]
        for name in ("main.c", "model.c"):
            run("gcc", "-std=c99", "-O1", "-I", folder, "-c", name, cwd=device)
        run("g++", "main.o", "model.o", *objects, "-o", "main", cwd=device)
        assert run("./main", cwd=device).strip() == promised
