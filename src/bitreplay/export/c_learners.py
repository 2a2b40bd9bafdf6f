"""The strategies of the learner in C (core/include/bitreplay_learner.h): how much memory they need, and their options.

`Strategy.c_learner` names the one that runs its states.
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
    """`options` are those that a main passes. `sizes` gives bytes by part from a model image,
    its programs, the numbers of classes and of samples of an experience, and whether the device is bare, without
    vectors. `trains`: it takes gradient steps, and holds the samples of an experience until its end."""

    options: str
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
    "exact": CLearner("{.classes = BITREPLAY_CLASSES}", _exact_sizes, trains=False),
    "replay": CLearner("{.classes = BITREPLAY_CLASSES, .samples = BITREPLAY_SAMPLES}", _replay_sizes, trains=True),
}


def c_learners() -> list[str]:
    """The strategies that a learner in C runs."""
    return sorted(name for name, kind in STRATEGIES.items() if kind.c_learner is not None)


def c_learner_of(strategy: str) -> CLearner:
    """ValueError for a strategy that only Python runs."""
    name = STRATEGIES[strategy].c_learner
    if name is None:
        raise ValueError(f"The learner in C has the strategies {' and '.join(c_learners())}, got {strategy}.")
    return C_LEARNERS[name]
