"""ONNX Runtime held to AVX2 on a CPU that has more, so that kernels for AVX2 are compared with kernels for AVX2.

It has no switch: its kernels are chosen by what the `cpuid` instruction answers. `hold` copies its library into a
temporary folder, puts two bytes that trap in place of each `cpuid` that a disassembler finds, and has
`hold_to_avx2.c` answer the trap as a CPU would that ends at AVX2. What is imported afterwards is that copy. It takes
objdump and a C compiler.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE, LIBRARY = "onnxruntime", "capi/onnxruntime_pybind11_state*.so"
CPUID, TRAP = b"\x0f\xa2", b"\x0f\x04"  # of the same length; the second is no instruction


def hold() -> str:
    """Hold what `import onnxruntime` will load; returns what was done. Raises ImportError where it cannot be held."""
    if PACKAGE in sys.modules:
        raise ImportError(f"{PACKAGE} was imported before it could be held to AVX2")
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise ImportError(f"no module named {PACKAGE!r}")
    folder = Path(tempfile.mkdtemp(prefix="held-to-avx2-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        library = _answering(folder)
        count = _copy(Path(found.origin).parent, folder / PACKAGE)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ImportError(f"{PACKAGE} cannot be held to AVX2: {error}") from error
    if library.hold() != 0:
        raise ImportError(f"{PACKAGE} cannot be held to AVX2: SIGILL has no handler")
    sys.path.insert(0, str(folder))
    return f"held to AVX2: {count} cpuid instructions of a copy leave out what came later"


def _answering(folder: Path) -> ctypes.CDLL:
    source, library = Path(__file__).with_name("hold_to_avx2.c"), folder / "hold_to_avx2.so"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def _copy(package: Path, to: Path) -> int:
    """A package of links to the real one's files, but for its library; the number of instructions replaced there."""
    (to / "capi").mkdir(parents=True)
    for source in [*package.iterdir(), *(package / "capi").iterdir()]:
        if source.name != "capi":
            (to / source.relative_to(package)).symlink_to(source)
    (library,) = to.glob(LIBRARY)
    code = bytearray(library.read_bytes())
    places = _cpuid_places(library)
    for place in places:
        if code[place : place + 2] != CPUID:
            raise OSError(f"there is no cpuid at byte {place} of {library.name}")
        code[place : place + 2] = TRAP
    library.unlink()
    library.write_bytes(code)
    return len(places)


def _cpuid_places(library: Path) -> list[int]:
    """Where in the file its cpuid instructions are, as the disassembler sees them: the same bytes occur in data too."""
    lines = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", str(library)],
                           check=True, capture_output=True, text=True).stdout  # fmt: skip
    headers = subprocess.run(["objdump", "--section-headers", str(library)],
                             check=True, capture_output=True, text=True).stdout  # fmt: skip
    address, offset = re.findall(r"\.text\s+\w+\s+(\w+)\s+\w+\s+(\w+)", headers)[0]
    shift = int(offset, 16) - int(address, 16)
    return [int(each, 16) + shift for each in re.findall(r"^\s*(\w+):\s+cpuid\b", lines, flags=re.MULTILINE)]
