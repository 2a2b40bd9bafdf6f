"""Data sets by name, with the sizes of their experiences in the paper."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.data.core50 import NC_SIZES, core50
from bitreplay.data.dataset import Dataset
from bitreplay.data.folder import folder
from bitreplay.data.groceries import groceries
from bitreplay.data.npz import npz
from bitreplay.data.picture import Unreadable, refuse
from bitreplay.data.tiny_imagenet import tiny_imagenet
from bitreplay.told import path_of, told

NAMES = ("groceries", "cifar10", "cifar100", "core50", "tiny-imagenet")
EXPECTED = f"expected {', '.join(NAMES)}, a folder or a .npz file"


@dataclass(frozen=True)
class Source:
    """A data set, the class counts of its NC experiences, how many experiences NI has, CORe50's sessions, and whether
    the paper augments it."""

    data: Dataset
    nc_sizes: tuple[int, ...]
    ni_count: int
    sessions: np.ndarray | None = None
    augment: bool = False


def named(
    name: str | Path, place: str | Path | None = None, side: int = 32, unreadable: Unreadable = refuse
) -> Source:  # fmt: skip
    """One of NAMES (looked for at `place`, or in BITREPLAY_DATA), a folder of class folders, or a .npz file.

    `unreadable` is told of each picture that cannot be read; if it returns, the picture is left out.
    """
    if not isinstance(name, str | Path):
        raise ValueError(f"There is no data set {told(name)}: {EXPECTED}.")
    if name == "groceries":
        return Source(groceries(_archive(place)), (2,) * 7, 7)
    if name == "cifar10":
        return Source(cifar10(place), (2,) * 5, 10, augment=True)
    if name == "cifar100":
        return Source(cifar100(place), (10,) * 10, 10, augment=True)
    if name == "tiny-imagenet":
        return Source(tiny_imagenet(place, unreadable), (20,) * 10, 10)
    if name == "core50":
        data, sessions = core50(place, side, unreadable=unreadable)
        return Source(data, NC_SIZES, 8, sessions)
    if Path(name).is_dir():
        return _own(folder(name, side, unreadable=unreadable))
    if Path(name).suffix == ".npz":
        return _own(npz(name))
    raise ValueError(f"There is no data set {told(str(name))}: {EXPECTED}.")


def _archive(place: str | Path | None) -> Path | None:
    """Groceries ship with the package: a folder of sets says nothing about them, another archive does."""
    given = None if place is None else path_of(place, "The place of groceries")
    return None if given is None or given.is_dir() else given


def _own(data: Dataset) -> Source:
    """Two classes an experience, the last may have one."""
    classes = len(data.class_names)
    return Source(data, (2,) * (classes // 2) + (1,) * (classes % 2), 5)
