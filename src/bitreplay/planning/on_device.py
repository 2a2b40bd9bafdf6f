"""The plan of a learner in C, which takes one image at a time and keeps no copies: its own count, br_learner_plan.

    on_device(zoo.find("react_tiny"), Settings(strategy="exact", feature_layers="head"), 16, "cortex-m7").ram

For a Cortex-M with code and stack (code.py), as an image is linked; what the board's own program needs comes on top.
"""

from __future__ import annotations

from dataclasses import replace

from bitreplay.export import TARGETS, c_learner_of, c_learners, model_image, programs_of
from bitreplay.planning.code import STACK, code_bytes
from bitreplay.planning.plan import Plan, plan
from bitreplay.settings import Settings
from bitreplay.strategies.requirements import FLASH, RAM, Item
from bitreplay.zoo import Model

PURPOSES = {
    "network": ("network", "tables and arena, one picture"),
    "state": ("sums", "what is learned"),
    "answers": ("answers", "the discriminant"),
    "work": ("answers", "to make it anew"),
}


def plannable(strategy: str) -> bool:
    """Whether the code of its learner in C has been measured (code.py): so far, where nothing is trained."""
    return strategy in c_learners() and not c_learner_of(strategy).trains


def on_device(model: Model, settings: Settings, classes: int, target: str) -> Plan:
    """For the learner in C on one of the targets of `bitreplay export`."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
    if not plannable(settings.strategy):
        names = " and ".join(name for name in c_learners() if plannable(name))
        raise ValueError(f"A plan for a target is for the strategy {names}, got {settings.strategy}.")
    bare = target.startswith("cortex")
    image, programs = model_image(model, settings, classes), programs_of(model, settings, classes)
    sizes = c_learner_of(settings.strategy).sizes(image, programs, classes, 0, bare)
    (program,) = programs.values()
    items = (
        *([Item(FLASH, "code", "the learner in C, this model's operations", code_bytes(program))] if bare else []),
        Item(FLASH, "model", "for the learner in C", sizes["flash"]),
        *(Item(RAM, *purpose, sizes[name]) for name, purpose in PURPOSES.items()),
        *([Item(RAM, "code", "stack", STACK)] if bare else []),
    )
    return replace(plan(model, settings, classes), items=items, peaks={})
