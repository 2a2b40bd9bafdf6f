"""What a learner reports: what it has learned and what it has stored."""

from __future__ import annotations

from dataclasses import dataclass

from bitreplay.learning.classes import Name


@dataclass(frozen=True)
class Learned:
    """One experience: its number, the numbers of its samples (for `forget`), new classes, steps, pictures.

    `known` are the pictures that had been learned before as the same class, as far as the setting `digests` tells.
    """

    experience: int
    samples: range
    new_classes: list[Name]
    steps: int
    pictures: int
    known: int = 0


@dataclass(frozen=True)
class Stored:
    """One class in the replay memory. `experiences` maps an experience to how many of its samples are stored."""

    label: Name
    samples: int
    seen: int
    experiences: dict[int, int]
    ids: tuple[int, ...]
    bytes: int
