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

from bitreplay.engine import native
from bitreplay.export.device import c_array, operations_header
from bitreplay.export.image import exact_image, features_of
from bitreplay.export.sizes import Sizes, sizes_of
from bitreplay.learner import Learner

TARGETS = ("linux", "wasm", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55")
SIDE = 48
MAIN = """\
/* Opens the exported model, learns a dark and a light picture, and prints the state's hash: export.json has the same.
 *
 *   {build}
 */
#include <stdio.h>
#include <string.h>

#include "bitreplay_learner.h"
#include "sizes.h"

extern const unsigned char bitreplay_model[BITREPLAY_MODEL_BYTES];
static unsigned char memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static unsigned char pixels[{side} * {side} * 3];

static int learn(br_learner* learner, int colour, const char* label) {{
  const br_picture picture = {{pixels, {side}, {side}, 3, 0}};
  const br_name name = {{label, strlen(label), 0}};
  memset(pixels, colour, sizeof pixels);
  int failed = br_learn_begin(learner);
  if (!failed) failed = br_learn_add(learner, &picture, &name);
  return failed ? failed : br_learn_end(learner);
}}

int main(void) {{
  const br_learner_options options = {{.classes = BITREPLAY_CLASSES}};
  const br_picture picture = {{pixels, {side}, {side}, 3, 0}};
  br_answer answer = {{0, 0, 0, 0, 0}};
  br_learner* learner;
  char text[128] = "", hash[65];
  int failed = br_learner_open(bitreplay_model, sizeof bitreplay_model, &options, memory, sizeof memory, &learner, text,
                               sizeof text);
  if (failed) {{
    printf("%s\\n", text);
    return 1;
  }}
  failed = learn(learner, 20, "dark");
  if (!failed) failed = learn(learner, 230, "light");
  if (!failed) failed = br_predict(learner, &picture, &answer);
  if (!failed) failed = br_state_hash(learner, hash);
  printf("%s\\n", failed ? br_error_text(failed) : hash);
  return failed || answer.label != 1;
}}
"""


def write_folder(learner: Learner, folder: Path, classes: int, target: str) -> dict[str, Any]:
    """Write it all; what export.json holds comes back. The learner knows nothing yet."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
    if not 1 <= classes <= 65535:
        raise ValueError(f"classes must be a whole number from 1 to 65535, got {classes}.")
    model, settings = learner.model, learner.settings
    assert model is not None
    image = exact_image(model, settings)
    program = features_of(model, settings)
    bare = target.startswith("cortex")
    # On a device without vectors weights are read where they lie.
    sizes = sizes_of(image, classes, native.footprint(program).derived if bare else 0)
    about = {
        "model": model.name,
        "digest": model.digest,
        "strategy": settings.strategy,
        "numbers": settings.numbers,
        "classes": classes,
        "target": target,
        "model_bin_sha256": hashlib.sha256(image).hexdigest(),
        "bytes": {
            "model": sizes.flash,
            "learner": sizes.total,
            "network": sizes.network,
            "state": sizes.state,
            "answers": sizes.answers,
            "work": sizes.work,
        },
        "main_prints": _hash_of_main(learner),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").write_bytes(image)
    (folder / "model.c").write_text(c_array(image, "bitreplay_model"))
    (folder / "operations.h").write_text(operations_header(program))
    (folder / "sizes.h").write_text(_header(sizes, classes))
    (folder / "main.c").write_text(MAIN.format(side=SIDE, build=_build(target)))
    (folder / "export.json").write_text(json.dumps(about, indent=2) + "\n")
    return about


def _header(sizes: Sizes, classes: int) -> str:
    return (
        "/* Bytes of RAM that br_learner_open is given, and of the model, which may lie in flash. */\n"
        f"#define BITREPLAY_CLASSES {classes}\n#define BITREPLAY_MODEL_BYTES {sizes.flash}\n"
        f"#define BITREPLAY_LEARNER_BYTES {sizes.total}\n"
    )


def _build(target: str) -> str:
    if target == "linux":
        return "cc -O2 main.c model.c -I include lib/libbitreplay.a -lstdc++ -o main       (docs/c.md)"
    if target == "wasm":
        return "zig cc --target=wasm32-wasi main.c model.c ...                             (docs/c.md)"
    return "with core/embedded and -DBITREPLAY_OPERATIONS=operations.h                   (docs/c.md)"


def _hash_of_main(learner: Learner) -> str:
    """What main.c learns, learned here."""
    for colour, label in ((20, "dark"), (230, "light")):
        learner.learn(np.full((1, SIDE, SIDE, 3), colour, np.uint8), [label])
    return learner.state_hash()
