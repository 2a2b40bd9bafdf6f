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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.engine import native
from bitreplay.engine.program import Program
from bitreplay.export.device import c_array, operations_header
from bitreplay.export.image import exact_image, features_of, replay_image, replay_programs
from bitreplay.export.mains import SIDE, main_of
from bitreplay.export.replay_sizes import ReplaySizes, replay_sizes_of
from bitreplay.export.sizes import Sizes, sizes_of
from bitreplay.learner import Learner

TARGETS = ("linux", "wasm", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55")
SAMPLES = 64


@dataclass(frozen=True)
class _Made:
    """What a folder is written from."""

    image: bytes
    programs: list[Program]
    sizes: Sizes | ReplaySizes
    asked: dict[str, Any]  # beside the classes


def write_folder(learner: Learner, folder: Path, classes: int, target: str, samples: int = SAMPLES) -> dict[str, Any]:
    """Write it all; what export.json holds comes back. The learner knows nothing yet. `samples` are the pictures of an
    experience that a learner by replay has room for."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
    if not 1 <= classes <= 65535:
        raise ValueError(f"classes must be a whole number from 1 to 65535, got {classes}.")
    if not 1 <= samples <= 1 << 20:
        raise ValueError(f"samples must be a whole number from 1 to {1 << 20}, got {samples}.")
    model, settings = learner.model, learner.settings
    assert model is not None
    bare = target.startswith("cortex")
    made = _replay(learner, classes, samples, bare) if settings.strategy == "replay" else _exact(learner, classes, bare)
    taken = asdict(made.sizes)
    about = {
        "model": model.name,
        "digest": model.digest,
        "size": learner.strategy.side,
        "strategy": settings.strategy,
        **made.asked,
        "classes": classes,
        "target": target,
        "model_bin_sha256": hashlib.sha256(made.image).hexdigest(),
        "bytes": {"model": taken.pop("flash"), "learner": made.sizes.total, **taken},
        "main_prints": _hash_of_main(learner),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").write_bytes(made.image)
    (folder / "model.c").write_text(c_array(made.image, "bitreplay_model"))
    (folder / "operations.h").write_text(operations_header(*made.programs))
    (folder / "sizes.h").write_text(_header(made, classes))
    (folder / "main.c").write_text(main_of(settings.strategy, _build(target, settings.strategy)))
    (folder / "export.json").write_text(json.dumps(about, indent=2) + "\n")
    return about


def _exact(learner: Learner, classes: int, bare: bool) -> _Made:
    model, settings = learner.model, learner.settings
    assert model is not None
    image, program = exact_image(model, settings), features_of(model, settings)
    # On a device without vectors weights are read where they lie.
    sizes = sizes_of(image, classes, native.footprint(program).packed_weights if bare else 0)
    return _Made(
        image, [program], sizes, {"feature_layers": settings.feature_layers, "n_components": settings.n_components}
    )


def _replay(learner: Learner, classes: int, samples: int, bare: bool) -> _Made:
    model, settings = learner.model, learner.settings
    assert model is not None
    image, programs = replay_image(model, settings, classes), replay_programs(model, settings, classes)
    asked = {name: getattr(settings, name) for name in ("batch_size", "replay_batch_size", "memory_per_class")}
    sizes = replay_sizes_of(image, programs, classes, samples, bare)
    return _Made(image, list(programs.values()), sizes, {"bits": str(settings.bits), **asked, "samples": samples})


def _header(made: _Made, classes: int) -> str:
    samples = made.asked.get("samples")
    return (
        "/* Bytes of RAM that the learner is given when it is opened, and of the model, which may lie in flash. */\n"
        f"#define BITREPLAY_CLASSES {classes}\n#define BITREPLAY_MODEL_BYTES {made.sizes.flash}\n"
        f"#define BITREPLAY_LEARNER_BYTES {made.sizes.total}\n"
        + (f"#define BITREPLAY_SAMPLES {samples}\n" if samples else "")
    )


def _build(target: str, strategy: str) -> str:
    if target == "linux":
        return "cc -O2 main.c model.c -I /opt/bitreplay/include /opt/bitreplay/lib/libbitreplay.a -o main   (docs/c.md)"
    if target == "wasm":
        return "model.bin is what js/ opens (docs/page.md); this file is for a C compiler with a WASI library"
    training = " -DBITREPLAY_TRAINING=ON" if strategy == "replay" else ""
    return f"with core/embedded, -DBITREPLAY_OPERATIONS=operations.h{training}      (docs/microcontrollers.md)"


def _hash_of_main(learner: Learner) -> str:
    """What main.c learns, learned here."""
    for colour, label in ((20, "dark"), (230, "light")):
        learner.learn(np.full((1, SIDE, SIDE, 3), colour, np.uint8), [label])
    return learner.state_hash()
