"""Programs in C around the learner, compiled against the core that the tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bitreplay.core import BESIDE_THE_PACKAGE

ROOT = Path(__file__).parents[2]
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed.")
STRICT = ("-std=c11", "-O2", "-pedantic", "-Wall", "-Wextra", "-Werror")


def compiled(program: Path, *sources: str | Path, flags: tuple[str, ...] = ()) -> Path:
    """`program` of its sources, which may name files of core/device."""
    core = os.environ.get("BITREPLAY_LIBRARY", str(BESIDE_THE_PACKAGE))
    paths = [source if isinstance(source, Path) else ROOT / "core/device" / source for source in sources]
    words: list[str | Path] = ["gcc", *STRICT, *flags, "-I", ROOT / "core/include", "-I", ROOT / "core/device", *paths]
    words += [core, f"-Wl,-rpath,{os.path.dirname(core)}", "-o", program]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def compile_all(folder: Path, out: Path, c: list[str], cxx: list[str]) -> list[Path]:
    """The sources of a package, each alone, as Arduino and PlatformIO do."""
    out.mkdir()

    def one(path: Path) -> Path:
        made = out / f"{path.name}.o"
        done = subprocess.run(
            [*(c if path.suffix == ".c" else cxx), "-c", path, "-o", made], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return made

    sources = sorted(path for path in (folder / "src").iterdir() if path.suffix in (".c", ".cpp"))
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, sources))
