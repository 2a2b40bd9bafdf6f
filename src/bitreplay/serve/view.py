"""What everybody sees of the learner until the next change is done, judged by the pictures that were held back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.learner import Learner
from bitreplay.prediction.predictor import Predictor
from bitreplay.serve.album import Album, Kept, Shown

# As the page chooses it: of classes with few pictures the rule of "unknown" expects too much or too little.
SHARES = tuple(Fraction(percent, 100) for percent in (50, 30, 20, 10, 5))
REFUSED = Fraction(5, 100)
MIN_ASKED, MAX_ASKED = 4, 40


@dataclass(frozen=True)
class View:
    """`unknown` is the share of known pictures that may be called so. `facts` are JSON; `body` is their text."""

    turn: int
    predictor: Predictor
    unknown: Fraction
    facts: dict[str, Any]
    body: bytes


@dataclass(frozen=True)
class Taken:
    """A held-back picture and the class that it is taken for."""

    picture: Kept
    name: str


class Judge:
    """Keeps the numbers of the held-back pictures, so that each passes the network once."""

    def __init__(self, learner: Learner, album: Album) -> None:
        self._learner, self._album = learner, album
        self._numbers: dict[int, NDArray] = {}

    def tested(self, pictures: Sequence[Kept], shown: Mapping[int, Shown]) -> list[Taken]:
        """What those of known classes are taken for now. `shown` are not in the album yet."""
        known = {str(label) for label in self._learner.labels}
        held = [one for one in pictures if one.held and one.name in known]
        fresh = [one.id for one in held if one.id not in self._numbers]
        if fresh:
            pixels = [shown[id].pixels if id in shown else self._album.pixels([id])[0] for id in fresh]
            self._numbers |= dict(zip(fresh, self._learner.encode(np.stack(pixels)), strict=True))
        self._numbers = {one.id: self._numbers[one.id] for one in held}
        if not held:
            return []
        taken = self._learner.predict_encoded(np.stack([*self._numbers.values()]), unknown=0)
        return [Taken(one, str(name)) for one, name in zip(held, taken.tolist(), strict=True)]

    def share(self) -> Fraction:
        """The setting `unknown`; if it is 0, the largest of SHARES with which few enough of the pictures that were just
        tested are unknown."""
        learner, held = self._learner, [*self._numbers.values()]
        some = held[:: max(1, -(-len(held) // MAX_ASKED))]
        if learner.settings.unknown or not learner.strategy.refuses or len(some) < MIN_ASKED:
            return learner.settings.unknown
        for share in SHARES:
            refused = sum(name is None for name in learner.predict_encoded(np.stack(some), unknown=share))
            if refused <= REFUSED * len(some):
                return share
        return Fraction(0)


def view_of(
    learner: Learner, turn: int, pictures: Sequence[Kept], tested: Sequence[Taken], unknown: Fraction, **more: Any
) -> View:
    """The view of this moment; `more` are facts that the learner does not know."""
    # A strategy that does not count its pictures class by class has at least those of the album.
    learned = counts(learner) or Counter(one.name for one in pictures if not one.held)
    facts = {
        "turn": turn,
        "hash": learner.state_hash(),
        "experiences": learner.experiences,
        "classes": [{"name": str(label), "pictures": learned.get(str(label), 0)} for label in learner.labels],
        "pictures": [[one.id, one.name, int(one.held)] for one in pictures],
        "tested": [[one.picture.id, one.name] for one in tested],
        "unknown": float(unknown),
        **more,
    }
    return View(turn, learner.predictor, unknown, facts, json.dumps(facts, allow_nan=False).encode())


def right(tested: Sequence[Taken]) -> dict[str, list[int]]:
    """[right, all] of the held-back pictures of each class."""
    found: dict[str, list[int]] = {}
    for one in tested:
        both = found.setdefault(one.picture.name, [0, 0])
        both[0] += one.name == one.picture.name
        both[1] += 1
    return found


def counts(learner: Learner) -> dict[str, int]:
    """Pictures learned of each class; of replay those that were seen."""
    return learner.strategy.counted(learner.state())


def warm(learner: Learner) -> None:
    """All that is made at the first question, so that no reader waits for it."""
    predictor, strategy = learner.predictor, learner.strategy
    if predictor.labels:
        nothing: NDArray = np.zeros((1, *strategy.latent_shape), strategy.latent_type)
        predictor.probabilities(nothing)
        predictor.names(nothing, SHARES[-1] if strategy.refuses else Fraction(0))
