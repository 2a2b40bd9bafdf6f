"""The core as one folder of sources with one header, for projects that have a compiler and no build system of ours.

    python tools/export_sources.py OUT              then, in OUT:  c++ -std=c++20 -O2 -c *.cc

Portable C++20 without a heap, threads, vectors and files, as on microcontrollers (core/embedded): both strategies,
training included. Files lie flat, named by their folders; all include `bitreplay.h`, which C99 reads too: all headers
of core/include one behind the other. The others of these names only include it. `sizes.h` of `bitreplay export` has the
bytes that a learner takes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, EMBEDDED = ROOT / "core/src", ROOT / "core/embedded"
VECTORS = re.compile(r"_(avx2|avx512|neon|dotprod|wasm)\.cc$")
REPLACED = {"dispatch.cc": "machine/dispatch.cc", "thread_pool.cc": "machine/thread_pool.cc"}
INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


def flat(path: str) -> str:
    """The name of a file of core/src, or of core/include, in the folder."""
    return "bitreplay.h" if re.fullmatch(r"bitreplay\w*\.h", path) else path.replace("/", "_")


def header() -> str:
    """bitreplay.h first; each of the others includes nothing of ours but what stands before it."""
    paths = sorted((ROOT / "core/include").glob("*.h"))
    return "\n".join(INCLUDE.sub("", path.read_text()) for path in paths)


def sources() -> dict[str, str]:
    """Text by file name."""
    version = re.findall(r'^__version__ = "(.*)"', (ROOT / "src/bitreplay/__init__.py").read_text(), re.MULTILINE)[0]
    build = f'#define BITREPLAY_VERSION "{version}"\n#define BITREPLAY_EMBEDDED\n#define BITREPLAY_TRAINING\n'
    taken = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.*") if not VECTORS.search(path.name)}
    taken |= {place: EMBEDDED / name for name, place in REPLACED.items()}
    forwards = {path.name: '#include "bitreplay.h"\n' for path in (ROOT / "core/include").glob("*.h")}
    files = forwards | {"bitreplay.h": header(), "LICENSE": (ROOT / "LICENSE").read_text()}
    for name, path in sorted(taken.items()):
        text = INCLUDE.sub(lambda found: f'#include "{flat(found[1])}"', path.read_text())
        files[flat(name)] = build + text if path.suffix == ".cc" else text
    return files


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        sys.exit(f"{out} is not empty.")
    for name, text in sources().items():
        (out / name).write_text(text)


if __name__ == "__main__":
    main()
