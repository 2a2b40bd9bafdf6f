"""The core as one folder of sources with one header, for projects that have a compiler and no build system of ours.

Portable C++20 without a heap, threads, vectors and files, as on microcontrollers (core/embedded); GCC takes it from
-std=gnu++14 on. Files lie flat, named by their folders; all include `bitreplay.h`, which C99 reads too: all headers of
core/include one behind the other. The others of these names only include it.
"""

from __future__ import annotations

import re
from pathlib import Path

import bitreplay

CORE = Path(__file__).with_name("core")
VECTORS = re.compile(r"_(avx2|avxvnni|avx512|neon|dotprod|wasm)\.cc$")
TRAINING = re.compile(r"kernels/.*(grad|latent|latent_code)[a-z_]*\.cc$")
REPLACED = {"dispatch.cc": "machine/dispatch.cc", "thread_pool.cc": "machine/thread_pool.cc"}
INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


def flat(path: str) -> str:
    """The name of a file of core/src, or of core/include, in the folder."""
    return "bitreplay.h" if re.fullmatch(r"bitreplay\w*\.h", path) else path.replace("/", "_")


def header() -> str:
    """bitreplay.h first; each of the others includes nothing of ours but what stands before it."""
    paths = sorted((CORE / "include").glob("*.h"))
    return "\n".join(INCLUDE.sub("", path.read_text()) for path in paths)


def sources(training: bool = True, exact: bool = True, operations: str | None = None) -> dict[str, str]:
    """Text by file name: with the strategies replay (`training`) and exact; `operations` names the header of those that
    a model uses."""
    if not (CORE / "src").is_dir():
        raise ValueError(f"The sources of the core are not here: {CORE} has no src. Install bitreplay again.")
    words = [f'BITREPLAY_VERSION "{bitreplay.__version__}"', "BITREPLAY_EMBEDDED", *["BITREPLAY_TRAINING"] * training]
    words += [f"BITREPLAY_EXACT {int(exact)}", f"BITREPLAY_REPLAY {int(training)}"]
    words += [f'BITREPLAY_OPERATIONS "{operations}"'] * (operations is not None)
    build = "".join(f"#define {each}\n" for each in words)
    paths = {path.relative_to(CORE / "src").as_posix(): path for path in (CORE / "src").rglob("*.*")}
    taken = {name: path for name, path in paths.items() if not VECTORS.search(name)}
    taken = {name: path for name, path in taken.items() if training or not TRAINING.search(name)}
    taken |= {place: CORE / "embedded" / name for name, place in REPLACED.items()}
    files = {path.name: '#include "bitreplay.h"\n' for path in (CORE / "include").glob("*.h")}
    files["bitreplay.h"] = header()
    for name, path in sorted(taken.items()):
        text = INCLUDE.sub(lambda found: f'#include "{flat(found[1])}"', path.read_text())
        files[flat(name)] = build + text if path.suffix == ".cc" else text
    return files
