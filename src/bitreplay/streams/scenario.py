"""Divide a training set into a stream of experiences.

NC (new classes): each experience brings classes not seen before, with all their samples; CIFAR-10 is [2] * 5, CIFAR-100
[10] * 10, CORe50 [10] + [5] * 8. NI (new instances): each experience brings an equal share of every class, or (CORe50)
one recorded session. The test set stays whole. Within an experience samples keep the order of the training set; the
learner shuffles.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bitreplay.arguments import as_integer, short_repr
from bitreplay.data import Dataset


@dataclass(frozen=True)
class Experience:
    """One slice of a stream; it unpacks as what a learner learns: images, labels = experience.

    Attributes
    ----------
    images : array of uint8 (n, height, width, 3)
        Its images.
    labels : array of int (n,)
        Their classes.
    classes : tuple of int
        The classes in it, in the order in which they were drawn.
    index : int
        Its number, from 0.

    Examples
    --------
    >>> images, labels = Experience(np.zeros((2, 8, 8, 3), np.uint8), np.array([3, 3]), (3,), 0)
    >>> labels
    array([3, 3])
    """

    images: np.ndarray
    labels: np.ndarray
    classes: tuple[int, ...]
    index: int

    def __iter__(self) -> Iterator[np.ndarray]:
        """Iterate over images and labels."""
        return iter((self.images, self.labels))


def new_classes(data: Dataset, sizes: Sequence[int], rng: int | np.random.Generator) -> Iterator[Experience]:
    """Divide the training set by class: each experience brings classes of its own (NC).

    Parameters
    ----------
    data : Dataset
        What is divided.
    sizes : sequence of int
        The number of classes of each experience; their sum is the number of classes of the data set.
    rng : int or numpy Generator
        Decides the order of classes; an int is a seed.

    Returns
    -------
    iterator of Experience

    Raises
    ------
    ValueError
        If the sizes do not fit the data set, or an experience would have no image.

    Examples
    --------
    >>> from bitreplay.data import Dataset
    >>> images, labels = np.zeros((6, 8, 8, 3), np.uint8), np.array([0, 0, 1, 1, 2, 2])
    >>> data = Dataset(images, labels, images, labels, ("pear", "plum", "kiwi"))
    >>> [experience.labels.tolist() for experience in new_classes(data, [2, 1], rng=0)]
    [[0, 0, 2, 2], [1, 1]]
    """
    count = len(data.class_names)
    counts = [as_integer(size) or 0 for size in sizes] if isinstance(sizes, Iterable) else []
    if sum(counts) != count or min(counts, default=0) < 1:
        raise ValueError(
            f"The sizes {short_repr(sizes)} must be positive and sum to the {count} classes of the data set."
        )
    groups = np.split(_generator(rng).permutation(count), np.cumsum(counts)[:-1])
    for group in groups:
        if not np.isin(data.train_labels, group).any():
            names = ", ".join(data.class_names[label] for label in group)
            raise ValueError(f"There is no training image of {names}.")
    return (
        _experience(data, np.flatnonzero(np.isin(data.train_labels, group)), group, index)
        for index, group in enumerate(groups)
    )


def new_instances(data: Dataset, count: int, rng: int | np.random.Generator) -> Iterator[Experience]:
    """Divide the training set within classes: each experience brings a random share of every class (NI).

    Parameters
    ----------
    data : Dataset
        What is divided.
    count : int
        The number of experiences; shares of one class differ by one sample at most.
    rng : int or numpy Generator
        Decides the shares; an int is a seed.

    Returns
    -------
    iterator of Experience

    Raises
    ------
    ValueError
        If a class has fewer samples than there are experiences.

    Examples
    --------
    >>> from bitreplay.data import Dataset
    >>> images, labels = np.zeros((6, 8, 8, 3), np.uint8), np.array([0, 0, 0, 1, 1, 1])
    >>> data = Dataset(images, labels, images, labels, ("pear", "plum"))
    >>> [experience.labels.tolist() for experience in new_instances(data, 3, rng=0)]
    [[0, 1], [0, 1], [0, 1]]
    """
    classes = np.arange(len(data.class_names))
    smallest = int(np.bincount(data.train_labels, minlength=len(classes)).min(initial=len(data.train_labels)))
    if not 1 <= (as_integer(count) or 0) <= smallest:
        raise ValueError(
            f"{short_repr(count)} experiences need as many samples of each class, and one class has {smallest}."
        )
    generator = _generator(rng)
    shares: list[list[np.ndarray]] = [[] for _ in range(count)]
    for label in classes:
        shuffled = generator.permutation(np.flatnonzero(data.train_labels == label))
        for share, part in zip(shares, np.array_split(shuffled, count), strict=True):
            share.append(part)
    return (_experience(data, np.sort(np.concatenate(share)), classes, index) for index, share in enumerate(shares))


def grouped(data: Dataset, groups: np.ndarray) -> Iterator[Experience]:
    """Divide the training set by group: one experience per group, such as the recorded sessions of CORe50.

    Parameters
    ----------
    data : Dataset
        What is divided.
    groups : array (n,)
        The group of each training image; experiences are in rising order of it.

    Returns
    -------
    iterator of Experience

    Raises
    ------
    ValueError
        If there are not as many groups as training images.

    Examples
    --------
    >>> from bitreplay.data import Dataset
    >>> images, labels = np.zeros((3, 8, 8, 3), np.uint8), np.array([0, 1, 1])
    >>> data = Dataset(images, labels, images, labels, ("pear", "plum"))
    >>> [experience.classes for experience in grouped(data, np.array([7, 7, 5]))]
    [(1,), (0, 1)]
    """
    groups = np.asarray(groups)
    if groups.shape != data.train_labels.shape:
        raise ValueError(f"There must be a group for each of the {len(data.train_labels)} images, got {groups.shape}.")
    for index, group in enumerate(np.unique(groups)):
        samples = np.flatnonzero(groups == group)
        yield _experience(data, samples, np.unique(data.train_labels[samples]), index)


def _experience(data: Dataset, samples: np.ndarray, classes: np.ndarray, index: int) -> Experience:
    return Experience(data.train_images[samples], data.train_labels[samples], tuple(classes.tolist()), index)


def _generator(rng: int | np.random.Generator) -> np.random.Generator:
    seed = as_integer(rng)
    if not isinstance(rng, np.random.Generator) and (seed is None or seed < 0):
        raise ValueError(f"rng must be a numpy Generator or a seed, an integer from 0, got {short_repr(rng)}.")
    return np.random.default_rng(rng if seed is None else seed)
