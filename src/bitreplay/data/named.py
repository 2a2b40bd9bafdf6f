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

NAMES = ("groceries", "cifar10", "cifar100", "core50", "tiny-imagenet")


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
    name: str, place: str | Path | None = None, side: int = 32, unreadable: Unreadable = refuse
) -> Source:  # fmt: skip
    """One of NAMES (looked for at `place`, or in BITREPLAY_DATA), a folder of class folders, or a .npz file.

    `unreadable` is told of each picture that cannot be read; if it returns, the picture is left out.
    """
    if name == "groceries":
        return Source(groceries(place), (2,) * 7, 7)
    if name == "cifar10":
        return Source(cifar10(_in(place, "cifar-10-batches-bin", "cifar-10-batches-py")), (2,) * 5, 10, augment=True)
    if name == "cifar100":
        return Source(cifar100(_in(place, "cifar-100-binary", "cifar-100-python")), (10,) * 10, 10, augment=True)
    if name == "tiny-imagenet":
        return Source(tiny_imagenet(_in(place, "tiny-imagenet-200"), unreadable), (20,) * 10, 10)
    if name == "core50":
        data, sessions = core50(_in(place, "core50_128x128"), side, unreadable=unreadable)
        return Source(data, NC_SIZES, 8, sessions)
    if Path(name).is_dir():
        return _own(folder(name, side, unreadable=unreadable))
    if Path(name).suffix == ".npz":
        return _own(npz(name))
    raise ValueError(f"There is no data set {str(name)[:60]!r}: expected {', '.join(NAMES)}, a folder or a .npz file.")


def _in(place: str | Path | None, *usual: str) -> Path | None:
    """The set itself, or one of its usual names inside a folder of sets."""
    if place is None:
        return None
    return next((Path(place) / name for name in usual if (Path(place) / name).exists()), Path(place))


def _own(data: Dataset) -> Source:
    """Two classes an experience, the last may have one."""
    classes = len(data.class_names)
    return Source(data, (2,) * (classes // 2) + (1,) * (classes % 2), 5)
