"""The README as a new user follows it: a fresh clone, an empty environment, its commands as they are written.

`make demo`, the other half, is what continuous integration begins with.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import bitreplay
from tests.test_snippets import photographs

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "bitreplay/_lib/libbitreplay_core.so"


def commands(section: str) -> list[str]:
    """The indented lines of a section of the README."""
    _, _, rest = (ROOT / "README.md").read_text().partition(f"\n## {section}\n")
    return re.findall(r"^    (\S.*)$", rest.partition("\n## ")[0], re.MULTILINE)


def test_the_readme_has_commands():
    assert any(line.startswith("make demo") for line in commands("Start"))
    assert "pip install ." in commands("Your own pictures")


@pytest.mark.slow
def test_own_pictures_are_learned_from_a_fresh_clone(tmp_path):
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    if subprocess.run(["git", "clone", "--quiet", ROOT, clone], capture_output=True).returncode:
        pytest.skip("This is no clone of the repository: there is nothing to clone.")
    photographs(clone, "new-fruit")
    photographs(clone, "other-day")
    given = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    settings = Path.home() / ".config" / "pip" / "pip.conf"  # pip's stay those of whoever runs the tests
    given |= {"HOME": str(home)} | ({"PIP_CONFIG_FILE": str(settings)} if settings.exists() else {})
    script = "\n".join(["set -eu", *commands("Your own pictures")])
    done = subprocess.run(["bash", "-c", script], cwd=clone, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    last = done.stdout.rpartition("scale.state")[2]
    assert "apple" in last and "kiwi" not in last

    (place,) = home.glob(".bitreplay/lib/python*/site-packages")
    assert (place / LIBRARY).exists()
    inside = {path.relative_to(place).as_posix() for path in (place / "bitreplay").rglob("*.py")}
    assert inside == {path.relative_to(clone / "src").as_posix() for path in (clone / "src").rglob("*.py")}
    (about,) = place.glob(f"bitreplay-{bitreplay.__version__}.dist-info/WHEEL")
    assert "Tag: py3-none-" in about.read_text(), "one wheel serves every Python 3"
