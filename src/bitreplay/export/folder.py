"""A folder from which a device is built: the model, the sizes of its memory, and a small main that runs.

model.bin      the model for the learner in C, one file aligned to 64
model.c        the same as a C array
operations.h   the operations that its program uses, for a library with nothing else
sizes.h        bytes of RAM that the learner takes, for the linker
main.c         opens it, learns two pictures, answers, and prints the state's hash
export.json    checksums, sizes, and the hash that main.c prints
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.export.c_learners import c_learner_of
from bitreplay.export.c_source import c_array, operations_header
from bitreplay.export.image import model_image, programs_of
from bitreplay.export.mains import SIDE, main_of
from bitreplay.export.targets import core_of
from bitreplay.learner import Learner

SAMPLES = 64


def write_folder(learner: Learner, folder: Path, classes: int, target: str, samples: int = SAMPLES) -> dict[str, Any]:
    """Write all files; returns what export.json holds. The learner must have learned nothing. `samples` is the number
    of images of an experience that a learner that trains has room for."""
    core = core_of(target)
    if not 1 <= classes <= 65535:
        raise ValueError(f"classes must be an integer from 1 to 65535, got {classes}.")
    if not 1 <= samples <= 1 << 20:
        raise ValueError(f"samples must be an integer from 1 to {1 << 20}, got {samples}.")
    model, settings = learner.model, learner.settings
    assert model is not None
    c_learner = c_learner_of(settings.strategy)
    image, programs = model_image(model, settings, classes), programs_of(model, settings, classes)
    sizes = c_learner.sizes(image, programs, classes, samples, core is not None)
    flash = sizes.pop("flash")
    sizes = {"model": flash, "learner": sum(sizes.values()), **sizes}
    about = {
        "model": model.name,
        "digest": model.digest,
        "size": learner.strategy.side,
        "strategy": settings.strategy,
        **_exported_settings(learner),
        **({"samples": samples} if c_learner.trains else {}),
        "classes": classes,
        "target": target,
        "model_bin_sha256": hashlib.sha256(image).hexdigest(),
        "bytes": sizes,
        "main_prints": _hash_of_main(learner),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").write_bytes(image)
    (folder / "model.c").write_text(c_array(image, "bitreplay_model"))
    (folder / "operations.h").write_text(operations_header(*programs.values()))
    (folder / "sizes.h").write_text(
        _header(sizes, classes, learner.strategy.side, samples if c_learner.trains else None)
    )
    (folder / "main.c").write_text(main_of(c_learner, _build(target, c_learner.trains)))
    (folder / "export.json").write_text(json.dumps(about, indent=2) + "\n")
    return about


def _exported_settings(learner: Learner) -> dict[str, Any]:
    values = learner.settings.to_dict()
    return {name: values[name] for name in type(learner.strategy).exported_settings}


def _header(sizes: dict[str, int], classes: int, side: int, samples: int | None) -> str:
    return (
        "/* Bytes of RAM that the learner is given when it is opened, and of the model, which may lie in flash. */\n"
        f"#define BITREPLAY_CLASSES {classes}\n#define BITREPLAY_SIDE {side}\n"
        f"#define BITREPLAY_MODEL_BYTES {sizes['model']}\n"
        f"#define BITREPLAY_LEARNER_BYTES {sizes['learner']}\n"
        + (f"#define BITREPLAY_SAMPLES {samples}\n" if samples else "")
    )


def _build(target: str, trains: bool) -> str:
    if target == "linux":
        return "cc -O2 main.c model.c -I /opt/bitreplay/include /opt/bitreplay/lib/libbitreplay.a -o main   (docs/c.md)"
    if target == "wasm":
        return "model.bin is what js/ opens (docs/page.md); this file is for a C compiler with a WASI library"
    training = " -DBITREPLAY_TRAINING=ON -DBITREPLAY_EXACT=OFF" if trains else ""
    return f"with core/embedded, -DBITREPLAY_OPERATIONS=operations.h{training}      (docs/microcontrollers.md)"


def _hash_of_main(learner: Learner) -> str:
    """The state hash after learning what main.c learns."""
    for colour, label in ((20, "dark"), (230, "light")):
        learner.learn(np.full((1, SIDE, SIDE, 3), colour, np.uint8), [label])
    return learner.state_hash()
