"""The plan of a learner in C, which takes one image at a time and keeps no copies: its own count, br_learner_plan.

    on_device(zoo.find("react_tiny"), Settings(strategy="exact", feature_layers="head"), 16, "cortex-m7").ram

For a core without vectors with code and stack (code.py), as an image is linked; what the board's own program needs
comes on top. Instructions of a picture are those that were counted (export/targets.py): so many for a product of a
convolution that is not binary, and for the rest those of react_tiny in proportion to the time that the desk's scalar
code is estimated to take (speed.py). Seconds are these at one instruction a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bitreplay.export import c_learner_of, c_learners, model_image, programs_of
from bitreplay.export.targets import BOARDS, core_of
from bitreplay.planning import speed
from bitreplay.planning.code import STACK, code_bytes
from bitreplay.planning.plan import Plan, plan
from bitreplay.settings import Settings
from bitreplay.strategies.requirements import FLASH, RAM, Item
from bitreplay.zoo import Model

# The work of react_tiny at 32x32 up to its head (work.py), for which instructions were counted.
COUNTED = {"binary": 103_809_024, "signed": 0, "whole": 1_933_312, "elements": 765_184}
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
    core = core_of(target)
    if not plannable(settings.strategy):
        names = " and ".join(name for name in c_learners() if plannable(name))
        raise ValueError(f"A plan for a target is for the strategy {names}, got {settings.strategy}.")
    image, programs = model_image(model, settings, classes), programs_of(model, settings, classes)
    sizes = c_learner_of(settings.strategy).sizes(image, programs, classes, 0, core is not None)
    (program,) = programs.values()
    items = (
        *(
            [Item(FLASH, "code", "the learner in C, this model's operations", code_bytes(program, core))]
            if core
            else []
        ),
        Item(FLASH, "model", "for the learner in C", sizes["flash"]),
        *(Item(RAM, *purpose, sizes[name]) for name, purpose in PURPOSES.items()),
        *([Item(RAM, "code", "stack", STACK)] if core else []),
    )
    planned = replace(plan(model, settings, classes), items=items, peaks={})
    if core is None:
        return planned
    (work,) = planned.work.values()
    rest = core.instructions - core.whole * COUNTED["whole"]
    instructions = round(core.whole * work["whole"] + rest * _but_whole(work) / _but_whole(COUNTED))
    seconds = instructions / BOARDS[target].clock if target in BOARDS else 0.0
    return replace(
        planned, instruction_set=core.instruction_set, picture_instructions=instructions, picture_seconds=seconds
    )


def _but_whole(work: Mapping[str, int]) -> float:
    """Seconds of all but convolutions that are not binary."""
    return speed.seconds({**work, "whole": 0}, "scalar")
