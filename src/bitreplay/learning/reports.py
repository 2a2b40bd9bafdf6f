"""What a learner reports: what it has learned and what it has stored."""

from __future__ import annotations

from dataclasses import dataclass

from bitreplay.learning.classes import Name


@dataclass(frozen=True)
class Learned:
    """One experience that was learned.

    Attributes
    ----------
    experience : int
        Its number, from 0.
    samples : range
        The numbers of its samples, for `forget`; empty if the strategy stores none.
    new_classes : list
        The classes that were not known before.
    steps : int
        Gradient steps.
    pictures : int
        Images.
    known : int
        Images that had been learned before as the same class, as far as the setting `digests` tells.

    Examples
    --------
    >>> Learned(0, range(0), ["pear"], 0, 12).pictures
    12
    """

    experience: int
    samples: range
    new_classes: list[Name]
    steps: int
    pictures: int
    known: int = 0


@dataclass(frozen=True)
class Stored:
    """One class in the replay memory.

    Attributes
    ----------
    label : str or int
        The class.
    samples : int
        Samples that are stored.
    seen : int
        Samples that were learned.
    experiences : dict
        The number of stored samples by the experience that they came with.
    ids : tuple of int
        The numbers of the stored samples, for `forget`.
    bytes : int
        The size of the stored samples.

    Examples
    --------
    >>> Stored("pear", 2, 40, {0: 1, 3: 1}, (7, 95), 512).seen
    40
    """

    label: Name
    samples: int
    seen: int
    experiences: dict[int, int]
    ids: tuple[int, ...]
    bytes: int
