"""A learner as a scikit-learn classifier: pip install 'bitreplay[sklearn]'.

    from bitreplay.adapters.sklearn import BitreplayClassifier
    classifier = BitreplayClassifier("quicknet").fit(images, labels)
    classifier.partial_fit(more_images, more_labels).score(test_images, test_labels)

X is what a learner takes: pictures (n, height, width, 3), a list of paths, of Pillow images and so on. Rows of a table,
which many parts of scikit-learn pass on, are pictures if `image_shape` says how to fold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bitreplay import zoo
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name


class BitreplayClassifier(ClassifierMixin, BaseEstimator):
    """`model`, `strategy` and `settings` are those of Learner.from_pretrained; `image_shape` is (height, width, 3) of
    pictures that come as rows of whole numbers from 0 to 255.

    Fitted: `learner_`, which can be saved, and `classes_`, sorted; after `partial_fit` without `classes` they are those
    seen so far, so new ones may come at any time.
    """

    def __init__(
        self, model: str | Path = zoo.DEFAULT, strategy: str = "exact", settings: Mapping[str, Any] | None = None,
        image_shape: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.strategy = strategy
        self.settings = settings
        self.image_shape = image_shape

    def fit(self, X: Any, y: Any) -> BitreplayClassifier:
        """Learn from the beginning, in one experience."""
        images, labels = self._pictures(X, reset=True), self._labels(y)
        self.classes_ = np.unique(labels)
        self.learner_ = self._begun()
        self.learner_.learn(images, [_name(label) for label in labels])
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> BitreplayClassifier:
        """Go on learning: one more experience."""
        first = not hasattr(self, "learner_")
        images, labels = self._pictures(X, reset=first), self._labels(y)
        known = np.unique(labels) if first else np.union1d(self.classes_, labels)
        if classes is not None:
            asked = np.unique(classes)
            if len(missing := np.setdiff1d(known, asked)):
                raise ValueError(f"classes lacks {missing.tolist()}, which y or an earlier call has.")
            known = asked
        learner = self._begun() if first else self.learner_
        learner.learn(images, [_name(label) for label in labels])
        self.learner_, self.classes_ = learner, known
        return self

    def predict(self, X: Any) -> NDArray:
        """The most likely class of each picture, of those learned so far."""
        check_is_fitted(self)
        found = self.learner_.predict(self._pictures(X), unknown=0)
        number = {_name(label): at for at, label in enumerate(self.classes_)}
        return self.classes_[[number[_name(label)] for label in found.tolist()]]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, classes), in the order of `classes_`; 0 for one that was not learned yet."""
        check_is_fitted(self)
        shares = self.learner_.predict_proba(self._pictures(X))
        columns = {name: at for at, name in enumerate(self.learner_.labels)}
        found = np.zeros((len(shares), len(self.classes_)))
        for at, label in enumerate(self.classes_):
            if (name := _name(label)) in columns:
                found[:, at] = shares[:, columns[name]]
        return found

    def _begun(self) -> Learner:
        return Learner.from_pretrained(self.model, strategy=self.strategy, **dict(self.settings or {}))

    def _pictures(self, X: Any, reset: bool = False) -> Any:
        """Rows are folded; everything else is for the learner to take or refuse."""
        if self.image_shape is None:
            if np.ndim(X) == 2 and not isinstance(X, list):
                raise ValueError(f"X has rows of {np.shape(X)[1]} numbers; image_shape says how they are pictures.")
            return X
        rows = validate_data(self, X, reset=reset)
        if rows.shape[1] != np.prod(self.image_shape):
            raise ValueError(f"X has {rows.shape[1]} numbers a row, expected {self.image_shape} of them.")
        bytes_of = rows.astype(np.uint8)
        if not np.array_equal(bytes_of, rows):
            raise ValueError("Rows that are pictures must have whole numbers from 0 to 255.")
        return bytes_of.reshape(len(rows), *self.image_shape)

    def _labels(self, y: Any) -> NDArray:
        if y is None:
            raise ValueError("This classifier requires y to be passed, but the target y is None.")
        whole = isinstance(y, Sized) or hasattr(y, "__array__")
        labels = column_or_1d(y if whole else list(y), warn=True)
        check_classification_targets(labels)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.image_shape is not None
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        return tags


def _name(label: Any) -> Name:
    """The learner's name of a class: text and whole numbers as they are, others as text."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if isinstance(plain, str | int) and not isinstance(plain, bool) else str(plain)
