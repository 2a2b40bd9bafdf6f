"""What every loader returns."""

from dataclasses import dataclass, replace

import numpy as np

from bitreplay.arguments import as_integer, short_repr


@dataclass(frozen=True)
class Dataset:
    """Images for training and testing with their labels.

    Attributes
    ----------
    train_images, test_images : ndarray of uint8
        (samples, height, width, 3)
    train_labels, test_labels : ndarray of int64
        Indices into `class_names`.
    class_names : tuple of str
    """

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.class_names, tuple | list):
            raise ValueError(f"class_names must be a tuple of strings, got {short_repr(self.class_names)}.")
        for part in ("train", "test"):
            images, labels = getattr(self, f"{part}_images"), getattr(self, f"{part}_labels")
            if not _is_array(images, np.uint8) or images.ndim != 4 or images.shape[3] != 3:
                raise ValueError(f"{part}_images must be uint8 (samples, height, width, 3), got {_kind(images)}.")
            if not _is_array(labels, np.int64) or labels.shape != images.shape[:1]:
                raise ValueError(f"{part}_labels must be {len(images)} int64, got {_kind(labels)}.")
            if labels.size and not 0 <= labels.min() <= labels.max() < len(self.class_names):
                raise ValueError(
                    f"{part}_labels must be 0 to {len(self.class_names) - 1}, got {labels.min()} to {labels.max()}."
                )

    def limit(self, train_per_class: int, test_per_class: int | None = None) -> "Dataset":
        """Keep the first samples of each class, in the order of the files.

        Parameters
        ----------
        train_per_class : int
        test_per_class : int, optional
            None keeps the whole test set.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> from bitreplay.data.groceries import groceries
        >>> len(groceries().limit(5).train_images)
        70
        """
        for count in (train_per_class, test_per_class):
            if count is not None and (as_integer(count) or 0) < 1:
                raise ValueError(f"A limit must be 1 or more, got {short_repr(count)}.")
        train = first_of_each(self.train_labels, train_per_class)
        small = replace(self, train_images=self.train_images[train], train_labels=self.train_labels[train])
        if test_per_class is None:
            return small
        test = first_of_each(self.test_labels, test_per_class)
        return replace(small, test_images=self.test_images[test], test_labels=self.test_labels[test])


def _is_array(value: object, dtype: type) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype


def _kind(value: object) -> str:
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def first_of_each(labels: np.ndarray, count: int) -> np.ndarray:
    """Indices of the first `count` samples of each class, in ascending order.

    >>> first_of_each(np.array([1, 0, 1, 1, 0]), 1)
    array([0, 1])
    """
    chosen = [np.flatnonzero(labels == label)[:count] for label in np.unique(labels)]
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, np.int64)
