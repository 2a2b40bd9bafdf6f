"""A learner as a scikit-learn classifier: pip install 'bitreplay[sklearn]'.

    from bitreplay.adapters.sklearn import BitreplayClassifier
    classifier = BitreplayClassifier("efficientnet_lite0").fit(images, labels)
    classifier.partial_fit(more_images, more_labels).score(test_images, test_labels)

X is what a learner accepts: images (n, height, width, 3), a list of paths, of Pillow images and so on. Rows of a 2-d
array, which many parts of scikit-learn use, are images if `image_shape` is given.
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
    """A learner with scikit-learn's interface of classifiers.

    Parameters
    ----------
    model : str or Path
        A shipped model by name, or a model file.
    strategy : str
        How to learn; see `Settings`.
    settings : mapping, optional
        Further settings of `Learner.from_pretrained`.
    image_shape : tuple of int, optional
        (height, width, 3) of images that come as rows of integers from 0 to 255.

    Attributes
    ----------
    learner_ : Learner
        The learner; it can be saved.
    classes_ : ndarray
        The labels, sorted. After `partial_fit` without `classes` they are those seen so far; more may follow at any
        time.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 10, 245, 255)])
    >>> classifier = BitreplayClassifier("react_tiny").fit(images, ["dark", "dark", "light", "light"])
    >>> classifier.predict(images[::2]).tolist()
    ['dark', 'light']
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
        """Learns from scratch, in one experience.

        Parameters
        ----------
        X : array-like
            Images, or rows if `image_shape` is given.
        y : array-like
            Their labels.

        Returns
        -------
        BitreplayClassifier
            This classifier.

        Raises
        ------
        ValueError
            If images or labels are invalid.
        """
        images, labels = self._pictures(X, reset=True), self._labels(y)
        self.classes_ = np.unique(labels)
        self.learner_ = self._new_learner()
        self.learner_.learn(images, [_name(label) for label in labels])
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> BitreplayClassifier:
        """Learns one more experience.

        Parameters
        ----------
        X : array-like
            Images, or rows if `image_shape` is given.
        y : array-like
            Their labels.
        classes : array-like, optional
            All labels that may ever occur, as other classifiers of scikit-learn need them.

        Returns
        -------
        BitreplayClassifier
            This classifier.

        Raises
        ------
        ValueError
            If images or labels are invalid, or `classes` lacks a label.
        """
        first = not hasattr(self, "learner_")
        images, labels = self._pictures(X, reset=first), self._labels(y)
        known = np.unique(labels) if first else np.union1d(self.classes_, labels)
        if classes is not None:
            declared = np.unique(classes)
            if len(missing := np.setdiff1d(known, declared)):
                raise ValueError(f"classes lacks {missing.tolist()}, which y or an earlier call has.")
            known = declared
        learner = self._new_learner() if first else self.learner_
        learner.learn(images, [_name(label) for label in labels])
        self.learner_, self.classes_ = learner, known
        return self

    def predict(self, X: Any) -> NDArray:
        """Predicts the most likely label of each image, of those learned so far.

        Parameters
        ----------
        X : array-like
            Images, or rows if `image_shape` is given.

        Returns
        -------
        ndarray of shape (n,)
            Labels, of the type of `classes_`.

        Raises
        ------
        NotFittedError
            If nothing was learned yet.
        """
        check_is_fitted(self)
        names = self.learner_.predict(self._pictures(X), unknown=0)
        index = {_name(label): k for k, label in enumerate(self.classes_)}
        return self.classes_[[index[_name(name)] for name in names.tolist()]]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predicts the probability of each label.

        Parameters
        ----------
        X : array-like
            Images, or rows if `image_shape` is given.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of `classes_`; 0 for labels that were not learned yet.

        Raises
        ------
        NotFittedError
            If nothing was learned yet.
        """
        check_is_fitted(self)
        learned = self.learner_.predict_proba(self._pictures(X))
        columns = {name: k for k, name in enumerate(self.learner_.labels)}
        probabilities = np.zeros((len(learned), len(self.classes_)))
        for k, label in enumerate(self.classes_):
            if (name := _name(label)) in columns:
                probabilities[:, k] = learned[:, columns[name]]
        return probabilities

    def _new_learner(self) -> Learner:
        return Learner.from_pretrained(self.model, strategy=self.strategy, **dict(self.settings or {}))

    def _pictures(self, X: Any, reset: bool = False) -> Any:
        """Reshapes rows; anything else is checked by the learner."""
        if self.image_shape is None:
            if np.ndim(X) == 2 and not isinstance(X, list):
                raise ValueError(f"X has rows of {np.shape(X)[1]} values; image_shape must say how to reshape them.")
            return X
        rows = validate_data(self, X, reset=reset)
        if rows.shape[1] != np.prod(self.image_shape):
            raise ValueError(f"X has {rows.shape[1]} values per row, but image_shape is {self.image_shape}.")
        pixels = rows.astype(np.uint8)
        if not np.array_equal(pixels, rows):
            raise ValueError("Rows must have integers from 0 to 255.")
        return pixels.reshape(len(rows), *self.image_shape)

    def _labels(self, y: Any) -> NDArray:
        if y is None:
            raise ValueError("This classifier requires y to be passed, but the target y is None.")
        has_length = isinstance(y, Sized) or hasattr(y, "__array__")
        labels = column_or_1d(y if has_length else list(y), warn=True)
        check_classification_targets(labels)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.image_shape is not None
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        return tags


def _name(label: Any) -> Name:
    """The learner's name of a class: text and integers as they are, others as text."""
    value = label.item() if isinstance(label, np.generic) else label
    return value if isinstance(value, str | int) and not isinstance(value, bool) else str(value)
