"""Learning by sums in C takes no memory but what the caller gives, and needs no Python."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bitreplay.engine import native


@pytest.mark.parametrize("path", native.available_isas())
def test_nothing_is_allocated_while_it_learns_and_answers(path, tmp_path):
    source, include = (
        Path(__file__).with_name("sums_no_allocation.c"),
        Path(__file__).resolve().parents[3] / "core/include",
    )
    binary, library = tmp_path / "sums_no_allocation", native.LIBRARY
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-Wl,-rpath,{library.parent}"]
    subprocess.run(["cc", *flags, str(source), str(library), "-o", str(binary)], check=True)
    found = subprocess.check_output([str(binary)], env=os.environ | {"BITREPLAY_ISA": path}, text=True)
    assert found.split() == ["0", "12"]
