"""Data sets by name, with the sizes of their experiences in the paper.

To add one: a file that reads it, and a line in SETS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitreplay.arguments import path_of, short_repr
from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.data.core50 import NC_SIZES, core50
from bitreplay.data.dataset import Dataset
from bitreplay.data.folder import split_folder
from bitreplay.data.groceries import groceries
from bitreplay.data.npz import npz
from bitreplay.data.pictures.picture import Unreadable, refuse
from bitreplay.data.splitting import Split
from bitreplay.data.tiny_imagenet import tiny_imagenet


@dataclass(frozen=True)
class Source:
    """A data set, the class counts of its NC experiences, how many experiences NI has, CORe50's sessions, whether the
    paper augments it, and how a folder's classes were divided for the test."""

    data: Dataset
    nc_sizes: tuple[int, ...]
    ni_count: int
    sessions: np.ndarray | None = None
    augment: bool = False
    splits: tuple[Split, ...] = ()


@dataclass(frozen=True)
class Asked:
    """Where to look (or in BITREPLAY_DATA), the side of the pictures wanted, and whom to tell of unreadable ones: if it
    returns, the picture is left out."""

    place: str | Path | None = None
    side: int = 32
    unreadable: Unreadable = refuse


def _groceries(asked: Asked) -> Source:
    """They ship with the package: a folder of sets says nothing about them, another archive does."""
    given = None if asked.place is None else path_of(asked.place, "The place of groceries")
    return Source(groceries(None if given is None or given.is_dir() else given), (2,) * 7, 7)


def _core50(asked: Asked) -> Source:
    data, sessions = core50(asked.place, asked.side, unreadable=asked.unreadable)
    return Source(data, NC_SIZES, 8, sessions)


SETS: dict[str, Callable[[Asked], Source]] = {
    "groceries": _groceries,
    "cifar10": lambda asked: Source(cifar10(asked.place), (2,) * 5, 10, augment=True),
    "cifar100": lambda asked: Source(cifar100(asked.place), (10,) * 10, 10, augment=True),
    "core50": _core50,
    "tiny-imagenet": lambda asked: Source(tiny_imagenet(asked.place, asked.unreadable), (20,) * 10, 10),
}


def named(
    name: str | Path, place: str | Path | None = None, side: int = 32, unreadable: Unreadable = refuse
) -> Source:  # fmt: skip
    """One of SETS, a folder of class folders, or a .npz file."""
    expected = f"expected {', '.join(SETS)}, a folder or a .npz file"
    if not isinstance(name, str | Path):
        raise ValueError(f"There is no data set {short_repr(name)}: {expected}.")
    if isinstance(name, str) and name in SETS:
        return SETS[name](Asked(place, side, unreadable))
    if Path(name).is_dir():
        return _own(*split_folder(name, side, unreadable=unreadable))
    if Path(name).suffix == ".npz":
        return _own(npz(name))
    raise ValueError(f"There is no data set {short_repr(str(name))}: {expected}.")


def _own(data: Dataset, splits: tuple[Split, ...] = ()) -> Source:
    """Two classes an experience, the last may have one."""
    classes = len(data.class_names)
    return Source(data, (2,) * (classes // 2) + (1,) * (classes % 2), 5, splits=splits)
