"""A learner as a river classifier: pip install 'bitreplay[river]'.

    from bitreplay.adapters.river import BitreplayClassifier
    classifier = BitreplayClassifier("efficientnet_lite0")
    classifier.learn_one({"image": picture}, "pear")
    classifier.predict_one({"image": picture}), classifier.predict_proba_one({"image": picture})

A sample in river is a dict; the picture is its only value, or the one named "image". A picture alone is accepted too.
Each `learn_one` is an experience. `exact`, the default, ends in the same state as from all pictures at once, but
computes its discriminant again for the next prediction, so `learn_many` is faster for many pictures.
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
    """A learner with river's interface of classifiers.

    Parameters
    ----------
    model : str or Path
        A shipped model by name, or a model file.
    strategy : str
        How to learn; see `Settings`.
    settings : dict, optional
        Further settings of `Learner.from_pretrained`.

    Attributes
    ----------
    learner : Learner
        The learner; it can be saved.

    Examples
    --------
    >>> import numpy as np
    >>> black, white = (np.full((32, 32, 3), value, np.uint8) for value in (0, 255))
    >>> classifier = BitreplayClassifier("react_tiny")
    >>> classifier.learn_one({"image": black}, "black")
    >>> classifier.learn_one({"image": white}, "white")
    >>> classifier.predict_one({"image": white})
    'white'
    """

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
        """Learns one sample, as one experience.

        Parameters
        ----------
        x : dict or picture
            The sample.
        y : str, int or bool
            Its label.
        """
        self.learner.learn([picture_of(x)], [_name(y)])

    def learn_many(self, X: Any, y: Any) -> None:
        """Learns many samples, as one experience.

        Parameters
        ----------
        X : sequence of samples
            Dicts or pictures.
        y : sequence of labels
            The label of each sample.
        """
        self.learner.learn([picture_of(x) for x in X], y)

    def predict_one(self, x: Any, **kwargs: Any) -> Name | None:
        """Predicts the label of one sample.

        Parameters
        ----------
        x : dict or picture
            The sample.
        **kwargs
            Further arguments of `Learner.predict`, such as `unknown`.

        Returns
        -------
        str, int or None
            None before anything was learned, and for "unknown".
        """
        if not self.learner.labels:
            return None
        return self.learner.predict([picture_of(x)], **kwargs).tolist()[0]

    def predict_proba_one(self, x: Any, **kwargs: Any) -> dict[Name, float]:
        """Predicts the probabilities of one sample.

        Parameters
        ----------
        x : dict or picture
            The sample.
        **kwargs
            Further arguments of `Learner.predict_proba`.

        Returns
        -------
        dict
            The probability of each learned label; empty before anything was learned.
        """
        if not self.learner.labels:
            return {}
        (probabilities,) = self.learner.predict_proba([picture_of(x)], **kwargs)
        return dict(zip(self.learner.labels, probabilities.tolist(), strict=True))


def picture_of(x: Any) -> Any:
    """The picture of a sample."""
    if not isinstance(x, Mapping):
        return x
    if IMAGE in x:
        return x[IMAGE]
    if len(x) != 1:
        raise ValueError(f"A sample must have the key {IMAGE!r} or a single value, got {short_repr(list(x))}.")
    return next(iter(x.values()))


def _name(label: Any) -> Name:
    """In river, labels may be True and False too."""
    return int(label) if isinstance(label, bool) else label
