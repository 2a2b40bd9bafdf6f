"""The learners in C: what their functions are called, and how much memory they need. A strategy names its own.

The functions are declared in core/include/; each begins with the prefix by which `Strategy.c_learner` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from bitreplay.engine import native
from bitreplay.engine.program import Program
from bitreplay.export.learner_sizes import sizes_of
from bitreplay.export.replay_sizes import replay_sizes_of
from bitreplay.strategies import STRATEGIES

Sizes = Callable[[bytes, Mapping[str, Program], int, int, bool], dict[str, int]]


@dataclass(frozen=True)
class CLearner:
    """`names` are the types, functions and options that a main uses. `sizes` gives bytes by part from a model image,
    its programs, the numbers of classes and of samples of an experience, and whether the device is bare, without
    vectors. `trains`: it takes gradient steps, and holds the samples of an experience until its end."""

    names: Mapping[str, str]
    sizes: Sizes
    trains: bool


def _exact_sizes(
    image: bytes, programs: Mapping[str, Program], classes: int, samples: int, bare: bool
) -> dict[str, int]:
    # Kernels without vectors read weights in flash: there is no other copy of them.
    in_place = native.footprint(programs["features"]).packed_weights if bare else 0
    return asdict(sizes_of(image, classes, in_place))


def _replay_sizes(
    image: bytes, programs: Mapping[str, Program], classes: int, samples: int, bare: bool
) -> dict[str, int]:
    return asdict(replay_sizes_of(image, programs, classes, samples, bare))


C_LEARNERS = {
    "br_learner": CLearner(
        {
            "kind": "br_learner", "header": "bitreplay_learner.h", "options": "{.classes = BITREPLAY_CLASSES}",
            "begin": "br_learn_begin", "add": "br_learn_add", "end": "br_learn_end", "predict": "br_predict",
            "hash": "br_state_hash",
        },
        _exact_sizes,
        trains=False,
    ),
    "br_replay": CLearner(
        {
            "kind": "br_replay", "header": "bitreplay_replay.h",
            "options": "{.classes = BITREPLAY_CLASSES, .samples = BITREPLAY_SAMPLES}", "begin": "br_replay_begin",
            "add": "br_replay_add", "end": "br_replay_end", "predict": "br_replay_predict", "hash": "br_replay_hash",
        },
        _replay_sizes,
        trains=True,
    ),
}  # fmt: skip


def c_learners() -> list[str]:
    """The strategies that a learner in C runs."""
    return sorted(name for name, kind in STRATEGIES.items() if kind.c_learner is not None)


def c_learner_of(strategy: str) -> CLearner:
    """ValueError for a strategy that only Python runs."""
    prefix = STRATEGIES[strategy].c_learner
    if prefix is None:
        raise ValueError(f"The learner in C has the strategies {' and '.join(c_learners())}, got {strategy}.")
    return C_LEARNERS[prefix]
