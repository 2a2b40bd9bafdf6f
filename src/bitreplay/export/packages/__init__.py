"""A model, the learner's sources and examples as one folder, in the layout of the tool that boards are built with.

    write_package("arduino", learner, folder, classes=4, target="nrf52840")

The same files in each: src/ has the core (sources.py), the parts for boards (core/device), the model and its sizes;
LICENSE and NOTICE say whose code and weights they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitreplay.export.c_learners import c_learner_of
from bitreplay.export.folder import SAMPLES, write_folder
from bitreplay.export.packages import arduino, esp_idf, pico, platformio
from bitreplay.export.packages.package import Package
from bitreplay.export.sources import CORE, sources
from bitreplay.export.targets import BOARDS
from bitreplay.learner import Learner

TERMS = Path(__file__).parents[1]  # links to the project's own in a clone, copies in a wheel
PACKAGES: dict[str, Callable[[Package], dict[str, str]]] = {
    "arduino": arduino.files, "platformio": platformio.files, "esp-idf": esp_idf.files, "pico": pico.files,
}  # fmt: skip


def write_package(
    kind: str, learner: Learner, out: Path, classes: int, target: str, samples: int = SAMPLES
) -> dict[str, Any]:
    """Write all files; returns what its export.json holds. The folder must be new or empty."""
    if kind not in PACKAGES:
        raise ValueError(f"package must be one of {', '.join(PACKAGES)}, got {kind!r}.")
    if target not in BOARDS:
        raise ValueError(f"A package is for a board: --target {', '.join(BOARDS)}; got {target!r}.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} is there already: a package needs a new folder.")
    with tempfile.TemporaryDirectory() as name:
        about = write_folder(learner, Path(name), classes, target, samples)
        made = {path.name: path.read_text() for path in Path(name).iterdir() if path.suffix != ".bin"}
    trains = c_learner_of(learner.settings.strategy).trains
    core = sources(training=trains, exact=not trains, operations="bitreplay_operations.h")
    files = {_placed(name): text for name, text in core.items()}
    for path in sorted((CORE / "device").iterdir()):
        files[f"src/{_named(path.name)}"] = path.read_text().replace('"crc32.h"', '"bitreplay_crc32.h"')
    files["src/bitreplay_model.c"] = made["model.c"]
    files["src/bitreplay_operations.h"] = made["operations.h"]
    files["src/bitreplay_model.h"] = _model_header(made["sizes.h"])
    files["export.json"] = made["export.json"]
    files |= {name: TERMS.joinpath(name).read_text() for name in ("LICENSE", "NOTICE")}
    files["README.md"] = _readme(kind, about)
    files |= PACKAGES[kind](Package(about, BOARDS[target], target, sorted(files)))
    for name, text in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    return about


def _placed(name: str) -> str:
    """C++ as .cpp, which every one of the tools takes for it."""
    return f"src/{name.removesuffix('.cc')}.cpp" if name.endswith(".cc") else f"src/{name}"


def _named(name: str) -> str:
    return name if name.startswith("bitreplay") else f"bitreplay_{name}"


def _model_header(sizes: str) -> str:
    return (
        f"#ifndef BITREPLAY_MODEL_H\n#define BITREPLAY_MODEL_H\n{sizes}\n"
        '#ifdef __cplusplus\nextern "C"\n#else\nextern\n#endif\n'
        "    const unsigned char bitreplay_model[BITREPLAY_MODEL_BYTES];\n#endif\n"
    )


def _readme(kind: str, about: dict[str, Any]) -> str:
    sizes = about["bytes"]
    return (
        f"# bitreplay for {about['target']}\n\n"
        f"{about['model']} at {about['size']}x{about['size']}, strategy {about['strategy']}, "
        f"{about['classes']} classes: "
        f"{sizes['model']} bytes of flash for the model, {sizes['learner']} bytes of RAM for the learner. Made by "
        f"`bitreplay export --package {kind}`; examples/ has programs. Not measured on a board. The serial protocol "
        "and `bitreplay device` are described in docs/device.md of bitreplay.\n"
    )
