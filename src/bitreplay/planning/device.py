"""The plan of a learner in C, which takes one picture at a time and keeps no copies: its own count, br_learner_plan.

    on_device(zoo.find("react_tiny"), Settings(strategy="exact", numbers="head"), classes=16, target="cortex-m7").ram

For a Cortex-M with code and stack (code.py), as an image is linked; what the board's own program takes comes on top.
"""

from __future__ import annotations

from dataclasses import replace

from bitreplay.engine import native
from bitreplay.export import TARGETS, exact_image
from bitreplay.export.image import features_of
from bitreplay.export.sizes import sizes_of
from bitreplay.planning.code import STACK, code_bytes
from bitreplay.planning.plan import FLASH, RAM, Item, Plan, plan
from bitreplay.settings import Settings
from bitreplay.zoo import Model


def on_device(model: Model, settings: Settings, classes: int, target: str) -> Plan:
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
    bare = target.startswith("cortex")
    image, program = exact_image(model, settings), features_of(model, settings)
    # Where kernels read weights in flash there is no other copy of them.
    sizes = sizes_of(image, classes, native.footprint(program).packed_weights if bare else 0)
    code = Item(FLASH, "code", "the learner in C, this model's operations", code_bytes(program))
    items = (
        *([code] if bare else []),
        Item(FLASH, "model", "for the learner in C", sizes.flash),
        Item(RAM, "network", "tables and arena, one picture", sizes.network),
        Item(RAM, "sums", "what is learned", sizes.state),
        Item(RAM, "answers", "the discriminant", sizes.answers),
        Item(RAM, "answers", "to make it anew", sizes.work),
        *([Item(RAM, "code", "stack", STACK)] if bare else []),
    )
    return replace(plan(model, settings, classes), items=items, most={})
