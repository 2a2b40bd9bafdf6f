"""Divide a training set into a stream of experiences.

NC (new classes): each experience brings classes not seen before, with all their samples; CIFAR-10 is [2] * 5, CIFAR-100
[10] * 10, CORe50 [10] + [5] * 8. NI (new instances): each experience brings an equal share of every class, or (CORe50)
one recorded session. The test set stays whole. Within an experience samples keep the order of the training set; the
learner shuffles. `rng` decides what is random: a numpy Generator, or a seed for one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bitreplay.arguments import short_repr, whole_number
from bitreplay.data import Dataset


@dataclass(frozen=True)
class Experience:
    """One slice of the stream: `index` counts from 0, `classes` are the labels in it, in the order they were drawn.

    It unpacks as what a learner learns: images, labels = experience.
    """

    images: np.ndarray
    labels: np.ndarray
    classes: tuple[int, ...]
    index: int

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.images, self.labels))


def new_classes(data: Dataset, sizes: Sequence[int], rng: int | np.random.Generator) -> Iterator[Experience]:
    """Experience k has sizes[k] classes of a random order of all classes."""
    count = len(data.class_names)
    whole = [whole_number(size) or 0 for size in sizes] if isinstance(sizes, Iterable) else []
    if sum(whole) != count or min(whole, default=0) < 1:
        raise ValueError(
            f"The sizes {short_repr(sizes)} must be positive and sum to the {count} classes of the data set."
        )
    groups = np.split(_generator(rng).permutation(count), np.cumsum(whole)[:-1])
    for group in groups:
        if not np.isin(data.train_labels, group).any():
            names = ", ".join(data.class_names[label] for label in group)
            raise ValueError(f"There is no training image of {names}.")
    return (
        experience(data, np.flatnonzero(np.isin(data.train_labels, group)), group, index)
        for index, group in enumerate(groups)
    )


def new_instances(data: Dataset, count: int, rng: int | np.random.Generator) -> Iterator[Experience]:
    """`count` experiences, each with a random share of every class; shares of one class differ by one at most."""
    classes = np.arange(len(data.class_names))
    least = int(np.bincount(data.train_labels, minlength=len(classes)).min(initial=len(data.train_labels)))
    if not 1 <= (whole_number(count) or 0) <= least:
        raise ValueError(
            f"{short_repr(count)} experiences need so many samples of each class, and one class has {least}."
        )
    generator = _generator(rng)
    shares: list[list[np.ndarray]] = [[] for _ in range(count)]
    for label in classes:
        shuffled = generator.permutation(np.flatnonzero(data.train_labels == label))
        for share, part in zip(shares, np.array_split(shuffled, count), strict=True):
            share.append(part)
    return (experience(data, np.sort(np.concatenate(share)), classes, index) for index, share in enumerate(shares))


def grouped(data: Dataset, groups: np.ndarray) -> Iterator[Experience]:
    """One experience a group, in rising order: the NI of CORe50, whose groups are the sessions."""
    groups = np.asarray(groups)
    if groups.shape != data.train_labels.shape:
        raise ValueError(f"There must be a group for each of the {len(data.train_labels)} images, got {groups.shape}.")
    for index, group in enumerate(np.unique(groups)):
        samples = np.flatnonzero(groups == group)
        yield experience(data, samples, np.unique(data.train_labels[samples]), index)


def experience(data: Dataset, samples: np.ndarray, classes: np.ndarray, index: int) -> Experience:
    return Experience(data.train_images[samples], data.train_labels[samples], tuple(classes.tolist()), index)


def _generator(rng: int | np.random.Generator) -> np.random.Generator:
    seed = whole_number(rng)
    if not isinstance(rng, np.random.Generator) and (seed is None or seed < 0):
        raise ValueError(f"rng must be a numpy Generator or a seed, a whole number from 0, got {short_repr(rng)}.")
    return np.random.default_rng(rng if seed is None else seed)
