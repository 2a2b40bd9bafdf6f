"""tools/export_sources.py: one folder, one header. That it compiles and learns: test_c_package.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bitreplay.core.interface import FUNCTIONS

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
