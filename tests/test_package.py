"""What a user installs: one wheel for every Python 3, with the core inside and nothing built by hand."""

import ctypes
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bitreplay

ROOT = Path(__file__).resolve().parents[1]


def version_of(library: Path) -> str:
    core = ctypes.CDLL(str(library))
    core.br_version.restype = ctypes.c_char_p
    return core.br_version().decode()


def test_the_core_lies_beside_the_package_and_has_its_version():
    library = Path(bitreplay.__file__).parent / "_lib" / "libbitreplay_core.so"
    assert version_of(library) == bitreplay.__version__


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
        "import bitreplay; bitreplay.History; from bitreplay.follow import Step; from bitreplay import follow\n"
        "print(*(found.__name__ for found in (bitreplay.follow, bitreplay.follow, follow)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "follow follow follow\n"


@pytest.mark.slow
def test_the_wheel_serves_every_python_and_holds_the_core(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--config-settings=build-dir=" + str(tmp_path / "build"), "-w", tmp_path, ROOT], check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"bitreplay-{bitreplay.__version__}-py3-none-")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extract("bitreplay/_lib/libbitreplay_core.so", tmp_path)
    assert version_of(tmp_path / "bitreplay/_lib/libbitreplay_core.so") == bitreplay.__version__
    inside = {name for name in names if name.endswith(".py")}
    assert inside == {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.py")}
