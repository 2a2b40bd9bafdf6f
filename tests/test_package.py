"""What a user installs: one wheel for every Python 3, with the core inside and nothing built by hand."""

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

import bitreplay

ROOT = Path(__file__).resolve().parents[1]


def version_of(library: Path) -> str:
    core = ctypes.CDLL(str(library))
    core.br_version.restype = ctypes.c_char_p
    return core.br_version().decode()


def test_the_core_lies_beside_the_package_and_has_its_version():
    library = Path(bitreplay.__file__).parent / "_lib" / "libbitreplay_core.so"
    assert version_of(library) == bitreplay.__version__


def test_the_javascript_package_has_the_version_in_the_spelling_of_npm():
    number, _, pre = bitreplay.__version__.partition(".dev")
    package = json.loads((ROOT / "js" / "package.json").read_text())
    assert package["version"] == number + (f"-dev.{pre}" if pre else "")


def test_importing_the_package_alone_is_light():
    assert loaded_by("import bitreplay") == {"bitreplay"}


def test_a_learner_needs_numpy_alone():
    """What is installed besides it, the extras among it, is loaded by those who ask for it."""
    found = loaded_by("import bitreplay; bitreplay.Learner, bitreplay.follow, bitreplay.plots")
    assert found - loaded_by("import numpy, numpy.random") == {"bitreplay"}


def loaded_by(code: str) -> set[str]:
    """Packages that are not Python's own and were not there before."""
    program = (
        f"import sys; before = set(sys.modules); {code}\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))"
    )
    return set(subprocess.check_output([sys.executable, "-c", program], text=True).split())


def test_follow_is_the_function_however_often_it_is_asked_for():
    code = (
        "import bitreplay; bitreplay.History; from bitreplay.streams.follow import Step; from bitreplay import follow\n"
        "print(*(found.__name__ for found in (bitreplay.follow, bitreplay.follow, follow)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "follow follow follow\n"


def test_the_lowest_versions_are_those_that_are_tested():
    """`make test-lowest` installs requirements/lowest.txt."""
    (needed,) = re.findall(r"^dependencies = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    tested = re.findall(r"^(\w+)==([\d.]+)$", (ROOT / "requirements" / "lowest.txt").read_text(), re.MULTILINE)
    bounds = dict(re.findall(r'"(\w+)>=([\d.]+)"', needed))
    assert len(bounds) == needed.count(",") + 1
    assert {f"{name}>={version.removesuffix('.0')}" for name, version in tested} == {
        f"{name}>={version}" for name, version in bounds.items()
    }


def test_the_lock_file_names_no_host_and_hashes_everything():
    lines = (ROOT / "requirements" / "ci.txt").read_text().splitlines()
    pinned = [line for line in lines if "==" in line and not line.startswith((" ", "#"))]
    assert pinned and all(line.endswith(" \\") for line in pinned)
    assert not [line for line in lines if "://" in line or "index" in line]
    assert sum("--hash=sha256:" in line for line in lines) >= len(pinned)
