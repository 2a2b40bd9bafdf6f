"""core/tools/races.c: eight threads answer from one opened program while another learns, in C alone.

With BITREPLAY_TSAN, a library built by -DBITREPLAY_SANITIZE=thread (`make sanitize` sets it), ThreadSanitizer looks on.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.native import LIBRARY, available_isas
from tests.engine import networks

ROOT = Path(__file__).resolve().parents[3]
WATCHED = os.environ.get("BITREPLAY_TSAN", "")
STEPS = "8" if WATCHED else "20"
SHAPES = {"frozen signs": Bits(8, 1, 16), "latent weights": Bits(8, 8, 16)}


@pytest.fixture(scope="module")
def races(tmp_path_factory) -> Path:
    binary = tmp_path_factory.mktemp("races") / "races"
    library = Path(WATCHED).resolve() if WATCHED else LIBRARY
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", f"-Wl,-rpath,{library.parent}"]
    flags += ["-fsanitize=thread"] if WATCHED else []
    command = ["cc", *flags, f"-I{ROOT / 'core' / 'include'}", str(ROOT / "core" / "tools" / "races.c"), str(library)]
    built = subprocess.run([*command, "-o", str(binary)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return binary


def run(races: Path, program: Path, path: str, *more: str) -> subprocess.CompletedProcess:
    without_asan = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment = without_asan | {"BITREPLAY_ISA": path, "TSAN_OPTIONS": "exitcode=66:halt_on_error=1"}
    command = [str(races), str(program), STEPS, *more]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module", params=SHAPES)
def program(request, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("program") / "program"
    file.write_bytes(networks.tail((3, 3, 40), SHAPES[request.param], 8, seed=3).to_bytes())
    return file


@pytest.mark.parametrize("path", available_isas())
def test_every_answer_is_that_of_a_whole_state(races, program, path):
    done = run(races, program, path)
    assert done.returncode == 0 and "ThreadSanitizer" not in done.stderr, done.stderr
    assert done.stdout.split()[0] == path and int(done.stdout.split()[1]) >= 8


@pytest.mark.skipif(not WATCHED, reason="Only ThreadSanitizer sees a race; `make sanitize` builds with it.")
def test_the_sanitizer_sees_a_race_where_there_is_one(races, program):
    done = run(races, program, available_isas()[0], "careless")
    assert done.returncode == 66 and "ThreadSanitizer: data race" in done.stderr, done.stderr
