"""Numbers that describe a learner: plain functions of predictions, or of a table of accuracies.

In the table, row i column j is the accuracy on the classes (or samples) of experience j after experience i. Lists do
as well as arrays.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike


def accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Share of right predictions over the whole test set, classes not yet seen included.

    >>> accuracy(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 2]))
    0.75
    """
    said, truth = np.asarray(predictions), np.asarray(labels)
    if truth.size == 0 or said.shape != truth.shape:
        raise ValueError(f"Accuracy needs as many predictions as labels, got {said.shape} and {truth.shape}.")
    return float(np.mean(said == truth))


def accuracy_on(classes: Iterable[int], predictions: ArrayLike, labels: ArrayLike) -> float:
    """Accuracy on the test samples of some classes, such as those seen so far.

    >>> accuracy_on([0, 1], np.array([0, 1, 1, 0]), np.array([0, 1, 1, 2]))
    1.0
    """
    said, truth = np.asarray(predictions), np.asarray(labels)
    chosen = np.isin(truth, np.fromiter(classes, np.int64))
    return accuracy(said[chosen] if said.shape == truth.shape else said, truth[chosen])


def confusion_matrix(predictions: ArrayLike, labels: ArrayLike, class_count: int) -> np.ndarray:
    """How often a sample of the row's class was taken for the column's.

    >>> confusion_matrix(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 2]), 3)
    array([[1, 0, 0],
           [0, 2, 0],
           [1, 0, 0]])
    """
    said, truth = _classes(predictions, class_count), _classes(labels, class_count)
    if said.shape != truth.shape:
        raise ValueError(f"There must be as many predictions as labels, got {said.shape} and {truth.shape}.")
    pairs = truth * class_count + said
    return np.bincount(pairs, minlength=class_count * class_count).reshape(class_count, class_count)


def accuracy_per_class(confusion: ArrayLike) -> np.ndarray:
    """Share of right predictions for each class; nan for a class without samples.

    >>> accuracy_per_class(np.array([[3, 1], [0, 0]]))
    array([0.75,  nan])
    """
    counts = np.asarray(confusion)
    samples = counts.sum(axis=1)
    return np.where(samples > 0, counts.diagonal() / np.maximum(samples, 1), np.nan)


def experience_table(classes: Sequence[Iterable], per_class: Sequence[Mapping]) -> np.ndarray:
    """Row i column j: mean accuracy of the classes of experience j after i; one without test samples counts 0.

    >>> experience_table([["a"], ["b", "c"]], [{"a": 1.0}, {"a": 0.5, "b": 1.0, "c": 0.0}]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    table = [[np.mean([found.get(name, 0.0) for name in of]) for of in classes] for found in per_class]
    return np.array(table, np.float64).reshape(len(per_class), len(classes))


def forgetting(table: ArrayLike) -> float:
    """Mean, over all experiences but the last, of the best earlier accuracy less the final one (Chaudhry et al., 2018).

    >>> forgetting(np.array([[0.75, 0.0, 0.0], [0.5, 0.75, 0.0], [0.25, 0.5, 1.0]]))
    0.375
    """
    found = _square(table)
    last = len(found) - 1
    if last < 1:
        return 0.0
    best = [found[j:last, j].max() for j in range(last)]
    return float(np.mean(best - found[last, :last]))


def backward_transfer(table: ArrayLike) -> float:
    """Mean, over all experiences but the last, of the final accuracy less the one when it was learned
    (Lopez-Paz and Ranzato, 2017); below 0 means forgetting.

    >>> backward_transfer(np.array([[0.5, 0.0, 0.0], [0.75, 0.75, 0.0], [0.25, 0.5, 0.75]]))
    -0.25
    """
    found = _square(table)
    last = len(found) - 1
    if last < 1:
        return 0.0
    return float(np.mean(found[last, :last] - found.diagonal()[:last]))


def _classes(values: ArrayLike, class_count: int) -> np.ndarray:
    found = np.asarray(values)
    if found.size and found.dtype.kind not in "iu":
        raise ValueError(f"Classes must be whole numbers, got {found.dtype}.")
    if found.size and not 0 <= found.min() <= found.max() < class_count:
        raise ValueError(f"Classes must be 0 to {class_count - 1}, got {found.min()} to {found.max()}.")
    return found.astype(np.int64)


def _square(table: ArrayLike) -> np.ndarray:
    found = np.asarray(table, np.float64)
    if found.size and (found.ndim != 2 or found.shape[0] != found.shape[1]):
        raise ValueError(f"The table needs a row and a column for each experience, got the shape {found.shape}.")
    return found
