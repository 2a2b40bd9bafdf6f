"""A machine as a new user has it: the shell's small programs, Python and pip; no compiler, no Node, no torch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = (
    "bash", "sh", "cat", "cp", "curl", "cut", "dirname", "env", "grep", "head", "kill", "ls", "mkdir", "mv", "rm",
    "sed", "seq",
    "sleep", "timeout", "tr", "uname", "wc",
)  # fmt: skip
STOP = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT"  # what runs in the background holds the output
MISSING = ("cc", "gcc", "g++", "c++", "clang", "cmake", "ninja", "make", "node", "npm", "zig")


class Machine:
    """Runs scripts in a folder of its own, with the wheels in `dist` there."""

    def __init__(self, folder: Path, dist: Path, python: str) -> None:
        self.work, self._bin, home = folder / "work", folder / "bin", folder / "home"
        for place in (self.work, self._bin, home):
            place.mkdir(parents=True)
        for name in PROGRAMS:
            if (found := shutil.which(name)) is not None:
                (self._bin / name).symlink_to(found)
        self._python3(python)
        (self.work / "dist").symlink_to(dist)
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG", "LC_"))}
        kept |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        settings = Path.home() / ".config" / "pip" / "pip.conf"  # pip's stay those of whoever runs the tests
        cache = Path(os.environ.get("PIP_CACHE_DIR", Path.home() / ".cache" / "pip"))
        kept |= {"PIP_CONFIG_FILE": str(settings)} if settings.exists() else {}
        self._environment = kept | {
            "PATH": str(self._bin), "HOME": str(home), "PIP_CACHE_DIR": str(cache), "PIP_QUIET": "1",
            "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "COLUMNS": "200",
        }  # fmt: skip

    def _python3(self, python: str) -> None:
        """By a script: a virtual environment finds its home by the interpreter's real path."""
        script = self._bin / "python3"
        script.write_text(f'#!{self._bin / "bash"}\nexec "{python}" "$@"\n')
        script.chmod(0o755)

    def run(self, script: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """The script as one shell runs it, stopped at the first command that fails."""
        return subprocess.run(
            [str(self._bin / "bash"), "-euo", "pipefail", "-c", f"{STOP}\n{script}"],
            cwd=self.work, env=self._environment, capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip

    def lacks(self, name: str) -> bool:
        return self.run(f"command -v {name}").returncode != 0


def base_python() -> str:
    """The interpreter below this environment."""
    return str(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")


def other_pythons() -> dict[str, str]:
    """Interpreters of other versions that the package promises, by version; those that cannot start are left out."""
    found = {}
    for minor in range(10, 15):
        name = f"python3.{minor}"
        places = [*sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}")), shutil.which(name)]
        for place in places:
            if (
                place
                and minor != sys.version_info.minor
                and not subprocess.run([place, "-c", ""], capture_output=True).returncode
            ):
                found[f"3.{minor}"] = str(place)
                break
    return found
