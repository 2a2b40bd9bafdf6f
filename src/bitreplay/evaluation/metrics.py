"""Figures of a learner: plain functions of predictions, or of a table of accuracies.

In the table, row i column j is the accuracy on the classes (or samples) of experience j after experience i. Lists serve
as well as arrays.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike


def accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of right predictions; classes that were never learned count as wrong.

    Parameters
    ----------
    predictions, labels : array_like (n,)
        Of the same type.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are no labels, or not as many as predictions.

    Examples
    --------
    >>> accuracy([0, 1, 1, 0], [0, 1, 1, 2])
    0.75
    """
    predicted, truth = np.asarray(predictions), np.asarray(labels)
    if truth.size == 0 or predicted.shape != truth.shape:
        raise ValueError(f"Accuracy needs as many predictions as labels, got {predicted.shape} and {truth.shape}.")
    return float(np.mean(predicted == truth))


def accuracy_on(classes: Iterable[int], predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the accuracy on the samples of some classes, such as those seen so far.

    Parameters
    ----------
    classes : iterable of int
        The classes whose samples count.
    predictions, labels : array_like (n,)
        As in `accuracy`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there is no sample of these classes.

    Examples
    --------
    >>> accuracy_on([0, 1], [0, 1, 1, 0], [0, 1, 1, 2])
    1.0
    """
    predicted, truth = np.asarray(predictions), np.asarray(labels)
    chosen = np.isin(truth, np.fromiter(classes, np.int64))
    return accuracy(predicted[chosen] if predicted.shape == truth.shape else predicted, truth[chosen])


def confusion_matrix(predictions: ArrayLike, labels: ArrayLike, class_count: int) -> np.ndarray:
    """Count how often a sample of the row's class was predicted as the column's.

    Parameters
    ----------
    predictions, labels : array_like of int (n,)
        Classes from 0.
    class_count : int
        The number of classes.

    Returns
    -------
    array of int (class_count, class_count)

    Raises
    ------
    ValueError
        If a class is out of range, or there are not as many predictions as labels.

    Examples
    --------
    >>> confusion_matrix([0, 1, 1, 0], [0, 1, 1, 2], 3)
    array([[1, 0, 0],
           [0, 2, 0],
           [1, 0, 0]])
    """
    predicted, truth = _classes(predictions, class_count), _classes(labels, class_count)
    if predicted.shape != truth.shape:
        raise ValueError(f"There must be as many predictions as labels, got {predicted.shape} and {truth.shape}.")
    pairs = truth * class_count + predicted
    return np.bincount(pairs, minlength=class_count * class_count).reshape(class_count, class_count)


def experience_table(classes: Sequence[Iterable], per_class: Sequence[Mapping]) -> np.ndarray:
    """Tabulate accuracies: row i column j is the mean accuracy of the classes of experience j after experience i.

    Parameters
    ----------
    classes : sequence of iterables
        The classes of each experience.
    per_class : sequence of mappings
        The accuracy by class after each experience; a class that is missing counts 0.

    Returns
    -------
    array of float (experiences, experiences)

    Examples
    --------
    >>> experience_table([["a"], ["b", "c"]], [{"a": 1.0}, {"a": 0.5, "b": 1.0, "c": 0.0}]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    table = [[np.mean([accuracies.get(name, 0.0) for name in names]) for names in classes] for accuracies in per_class]
    return np.array(table, np.float64).reshape(len(per_class), len(classes))


def forgetting(table: ArrayLike) -> float:
    """Return how far accuracies fell from their best, as a mean over all experiences but the last.

    After Chaudhry et al., 2018: the best earlier accuracy less the final one.

    Parameters
    ----------
    table : array_like (experiences, experiences)
        As `experience_table` returns it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the table is not square.

    Examples
    --------
    >>> forgetting([[0.75, 0.0, 0.0], [0.5, 0.75, 0.0], [0.25, 0.5, 1.0]])
    0.375
    """
    accuracies = _square(table)
    last = len(accuracies) - 1
    if last < 1:
        return 0.0
    best = [accuracies[j:last, j].max() for j in range(last)]
    return float(np.mean(best - accuracies[last, :last]))


def backward_transfer(table: ArrayLike) -> float:
    """Return how accuracies changed since they were learned, as a mean over all experiences but the last.

    After Lopez-Paz and Ranzato, 2017: the final accuracy less the one right after the experience; below 0 means
    forgetting.

    Parameters
    ----------
    table : array_like (experiences, experiences)
        As `experience_table` returns it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the table is not square.

    Examples
    --------
    >>> backward_transfer([[0.5, 0.0, 0.0], [0.75, 0.75, 0.0], [0.25, 0.5, 0.75]])
    -0.25
    """
    accuracies = _square(table)
    last = len(accuracies) - 1
    if last < 1:
        return 0.0
    return float(np.mean(accuracies[last, :last] - accuracies.diagonal()[:last]))


def _classes(values: ArrayLike, class_count: int) -> np.ndarray:
    classes = np.asarray(values)
    if classes.size and classes.dtype.kind not in "iu":
        raise ValueError(f"Classes must be integers, got {classes.dtype}.")
    if classes.size and not 0 <= classes.min() <= classes.max() < class_count:
        raise ValueError(f"Classes must be 0 to {class_count - 1}, got {classes.min()} to {classes.max()}.")
    return classes.astype(np.int64)


def _square(table: ArrayLike) -> np.ndarray:
    accuracies = np.asarray(table, np.float64)
    if accuracies.size and (accuracies.ndim != 2 or accuracies.shape[0] != accuracies.shape[1]):
        raise ValueError(f"The table needs one row and one column per experience, got the shape {accuracies.shape}.")
    return accuracies
