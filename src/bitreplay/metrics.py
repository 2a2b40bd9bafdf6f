"""Numbers that describe a learner: plain functions of predictions, or of a table of accuracies.

In the table, row i column j is the accuracy on the classes (or samples) of experience j after experience i.
"""

from collections.abc import Iterable

import numpy as np


def accuracy(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Share of right predictions over the whole test set, classes not yet seen included.

    >>> accuracy(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 2]))
    0.75
    """
    if len(labels) == 0 or predictions.shape != labels.shape:
        raise ValueError(f"Accuracy needs as many predictions as labels, got {predictions.shape} and {labels.shape}.")
    return float((predictions == labels).mean())


def accuracy_on(classes: Iterable[int], predictions: np.ndarray, labels: np.ndarray) -> float:
    """Accuracy on the test samples of some classes, such as those seen so far.

    >>> accuracy_on([0, 1], np.array([0, 1, 1, 0]), np.array([0, 1, 1, 2]))
    1.0
    """
    chosen = np.isin(labels, np.fromiter(classes, np.int64))
    return accuracy(predictions[chosen], labels[chosen])


def confusion_matrix(predictions: np.ndarray, labels: np.ndarray, class_count: int) -> np.ndarray:
    """How often a sample of the row's class was taken for the column's.

    >>> confusion_matrix(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 2]), 3)
    array([[1, 0, 0],
           [0, 2, 0],
           [1, 0, 0]])
    """
    for values in (predictions, labels):
        if len(values) and not 0 <= values.min() <= values.max() < class_count:
            raise ValueError(f"Classes must be 0 to {class_count - 1}, got {values.min()} to {values.max()}.")
    pairs = labels.astype(np.int64) * class_count + predictions
    return np.bincount(pairs, minlength=class_count * class_count).reshape(class_count, class_count)


def accuracy_per_class(confusion: np.ndarray) -> np.ndarray:
    """Share of right predictions for each class; nan for a class without samples.

    >>> accuracy_per_class(np.array([[3, 1], [0, 0]]))
    array([0.75,  nan])
    """
    samples = confusion.sum(axis=1)
    return np.where(samples > 0, confusion.diagonal() / np.maximum(samples, 1), np.nan)


def forgetting(table: np.ndarray) -> float:
    """Mean, over all experiences but the last, of the best earlier accuracy less the final one (Chaudhry et al., 2018).

    >>> forgetting(np.array([[0.75, 0.0, 0.0], [0.5, 0.75, 0.0], [0.25, 0.5, 1.0]]))
    0.375
    """
    last = len(table) - 1
    if last < 1:
        return 0.0
    best = [table[j:last, j].max() for j in range(last)]
    return float(np.mean(best - table[last, :last]))


def backward_transfer(table: np.ndarray) -> float:
    """Mean, over all experiences but the last, of the final accuracy less the one when it was learned
    (Lopez-Paz and Ranzato, 2017); below 0 means forgetting.

    >>> backward_transfer(np.array([[0.5, 0.0, 0.0], [0.75, 0.75, 0.0], [0.25, 0.5, 0.75]]))
    -0.25
    """
    last = len(table) - 1
    if last < 1:
        return 0.0
    return float(np.mean(table[last, :last] - table.diagonal()[:last]))
