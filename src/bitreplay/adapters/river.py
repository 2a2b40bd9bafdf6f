"""A learner as a river classifier: pip install 'bitreplay[river]'.

    from bitreplay.adapters.river import BitreplayClassifier
    classifier = BitreplayClassifier("quicknet")
    classifier.learn_one({"image": picture}, "pear")
    classifier.predict_one({"image": picture}), classifier.predict_proba_one({"image": picture})

A sample of river's is a dict; the picture is its only value, or the one named "image". A picture by itself will do too.
Each `learn_one` is an experience: `exact`, the default, ends with the same sums as from all pictures at once, but finds
its discriminant anew for the next answer, so of many pictures `learn_many` is faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from river import base

from bitreplay import zoo
from bitreplay.arguments import short_repr
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name

IMAGE = "image"


class BitreplayClassifier(base.Classifier):
    """`model`, `strategy` and `settings` are those of Learner.from_pretrained; `learner` can be saved."""

    def __init__(
        self, model: str | Path = zoo.DEFAULT, strategy: str = "exact", settings: dict[str, Any] | None = None
    ) -> None:
        self.model = model
        self.strategy = strategy
        self.settings = settings
        self.learner = Learner.from_pretrained(model, strategy=strategy, **(settings or {}))

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Any, y: Any) -> None:
        self.learner.learn([picture_of(x)], [_name(y)])

    def learn_many(self, X: Any, y: Any) -> None:
        """One experience. X is whatever a learner takes, or a column of samples."""
        self.learner.learn([picture_of(x) for x in X], y)

    def predict_one(self, x: Any, **given: Any) -> Name | None:
        """None before anything was learned, as river has it, and for "unknown"."""
        if not self.learner.labels:
            return None
        return self.learner.predict([picture_of(x)], **given).tolist()[0]

    def predict_proba_one(self, x: Any, **given: Any) -> dict[Name, float]:
        if not self.learner.labels:
            return {}
        (shares,) = self.learner.predict_proba([picture_of(x)], **given)
        return dict(zip(self.learner.labels, shares.tolist(), strict=True))


def picture_of(x: Any) -> Any:
    """The picture in a sample."""
    if not isinstance(x, Mapping):
        return x
    if IMAGE in x:
        return x[IMAGE]
    if len(x) != 1:
        raise ValueError(f"A sample must have its picture under {IMAGE!r}, or nothing else; got {short_repr(list(x))}.")
    return next(iter(x.values()))


def _name(label: Any) -> Name:
    """river has True and False as classes too."""
    return int(label) if isinstance(label, bool) else label
