"""What everyone sees of the learner until the next change is done, evaluated on the pictures that were held back."""

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
from bitreplay.serve.picture_store import Picture, PictureStore, StoredPicture

# Chosen as on the page: the rule of "unknown" is too strict or too lax for classes of few pictures.
SHARES = tuple(Fraction(percent, 100) for percent in (50, 30, 20, 10, 5))
MAX_UNKNOWN = Fraction(5, 100)
MIN_HELD_BACK, MAX_HELD_BACK = 4, 40


@dataclass(frozen=True)
class View:
    """`unknown` is the share of known pictures that may be called unknown; `body` is the JSON of `facts`."""

    turn: int
    predictor: Predictor
    unknown: Fraction
    facts: dict[str, Any]
    body: bytes


@dataclass(frozen=True)
class Prediction:
    """A held-back picture and its predicted class."""

    picture: StoredPicture
    name: str


class Evaluator:
    """Caches the encoded held-back pictures, so that each passes the network once."""

    def __init__(self, learner: Learner, store: PictureStore) -> None:
        self._learner, self._store = learner, store
        self._encoded: dict[int, NDArray] = {}

    def predictions(self, pictures: Sequence[StoredPicture], new_pictures: Mapping[int, Picture]) -> list[Prediction]:
        """Predicts the held-back pictures of known classes. `new_pictures` are not in the store yet."""
        known = {str(label) for label in self._learner.labels}
        held = [one for one in pictures if one.held and one.name in known]
        new_ids = [one.id for one in held if one.id not in self._encoded]
        if new_ids:
            pixels = [new_pictures[id].pixels if id in new_pictures else self._store.pixels([id])[0] for id in new_ids]
            self._encoded |= dict(zip(new_ids, self._learner.encode(np.stack(pixels)), strict=True))
        self._encoded = {one.id: self._encoded[one.id] for one in held}
        if not held:
            return []
        names = self._learner.predict_encoded(np.stack([*self._encoded.values()]), unknown=0)
        return [Prediction(one, str(name)) for one, name in zip(held, names.tolist(), strict=True)]

    def share(self) -> Fraction:
        """The setting `unknown`; if that is 0, the largest of SHARES that calls few enough of the held-back pictures
        unknown."""
        learner, held = self._learner, [*self._encoded.values()]
        sample = held[:: max(1, -(-len(held) // MAX_HELD_BACK))]
        if learner.settings.unknown or not learner.strategy.refuses or len(sample) < MIN_HELD_BACK:
            return learner.settings.unknown
        for share in SHARES:
            unknown_count = sum(name is None for name in learner.predict_encoded(np.stack(sample), unknown=share))
            if unknown_count <= MAX_UNKNOWN * len(sample):
                return share
        return Fraction(0)


def make_view(
    learner: Learner, turn: int, pictures: Sequence[StoredPicture], predictions: Sequence[Prediction],
    unknown: Fraction, **extra: Any,
) -> View:  # fmt: skip
    """The view of this moment; `extra` are facts that the learner does not have."""
    # A strategy that does not count its pictures per class has at least those in the store.
    learned = counts(learner) or Counter(one.name for one in pictures if not one.held)
    facts = {
        "turn": turn,
        "hash": learner.state_hash(),
        "experiences": learner.experiences,
        "classes": [{"name": str(label), "pictures": learned.get(str(label), 0)} for label in learner.labels],
        "pictures": [[one.id, one.name, int(one.held)] for one in pictures],
        "tested": [[one.picture.id, one.name] for one in predictions],
        "unknown": float(unknown),
        **extra,
    }
    return View(turn, learner.predictor, unknown, facts, json.dumps(facts, allow_nan=False).encode())


def accuracy_counts(predictions: Sequence[Prediction]) -> dict[str, list[int]]:
    """The held-back pictures of each class: [predicted right, all]."""
    totals: dict[str, list[int]] = {}
    for prediction in predictions:
        pair = totals.setdefault(prediction.picture.name, [0, 0])
        pair[0] += prediction.name == prediction.picture.name
        pair[1] += 1
    return totals


def counts(learner: Learner) -> dict[str, int]:
    """Pictures learned of each class; for replay, those seen."""
    return learner.strategy.counted(learner.state())


def warm(learner: Learner) -> None:
    """Computes what the first prediction needs, so that no client waits for it."""
    predictor, strategy = learner.predictor, learner.strategy
    if predictor.labels:
        zeros: NDArray = np.zeros((1, *strategy.latent_shape), strategy.latent_type)
        predictor.probabilities(zeros)
        predictor.names(zeros, SHARES[-1] if strategy.refuses else Fraction(0))
