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
    """A data set and how the paper uses it.

    Attributes
    ----------
    data : Dataset
    nc_sizes : tuple of int
        How many classes each experience of the NC scenario adds.
    ni_count : int
        The number of experiences in the NI scenario.
    sessions : ndarray or None
        CORe50's session of each training image.
    augment : bool
        Whether the paper augments the training images.
    splits : tuple of Split
        How the classes of a folder were divided for the test.
    """

    data: Dataset
    nc_sizes: tuple[int, ...]
    ni_count: int
    sessions: np.ndarray | None = None
    augment: bool = False
    splits: tuple[Split, ...] = ()


@dataclass(frozen=True)
class Request:
    """Where to look (None: in BITREPLAY_DATA), the side of the images, and what to do about unreadable ones."""

    path: str | Path | None = None
    side: int = 32
    unreadable: Unreadable = refuse


def _groceries(request: Request) -> Source:
    """They ship with the package, so a folder of data sets is ignored; the path of another archive is not."""
    path = None if request.path is None else path_of(request.path, "The location of groceries")
    return Source(groceries(None if path is None or path.is_dir() else path), (2,) * 7, 7)


def _core50(request: Request) -> Source:
    data, sessions = core50(request.path, request.side, unreadable=request.unreadable)
    return Source(data, NC_SIZES, 8, sessions)


SETS: dict[str, Callable[[Request], Source]] = {
    "groceries": _groceries,
    "cifar10": lambda request: Source(cifar10(request.path), (2,) * 5, 10, augment=True),
    "cifar100": lambda request: Source(cifar100(request.path), (10,) * 10, 10, augment=True),
    "core50": _core50,
    "tiny-imagenet": lambda request: Source(tiny_imagenet(request.path, request.unreadable), (20,) * 10, 10),
}


def load_dataset(
    name: str | Path, path: str | Path | None = None, side: int = 32, unreadable: Unreadable = refuse
) -> Source:  # fmt: skip
    """Load a data set by its name, or one of your own.

    Parameters
    ----------
    name : str or Path
        "groceries", "cifar10", "cifar100", "core50" or "tiny-imagenet"; or the path of a folder with one folder per
        class, or of a .npz file.
    path : str or Path, optional
        Where a named data set is; by default it is looked for in the folder BITREPLAY_DATA. Groceries ship with the
        package.
    side : int, default 32
        The side of the images, where they are resized while they are read: CORe50's and those of a folder.
    unreadable : callable, optional
        Called with the error for each picture that cannot be read. If it returns, the picture is left out. By default
        the error is raised.

    Returns
    -------
    Source
        The data set as `data`, and how the paper uses it.

    Raises
    ------
    ValueError
        If there is no such data set, or it is damaged.
    FileNotFoundError
        If it is not there; the message says where to get it.

    Examples
    --------
    >>> data = load_dataset("groceries").data
    >>> data.train_images.shape, data.class_names[:3]
    ((732, 64, 64, 3), ('Anjou', 'Cantaloupe', 'Conference'))
    """
    expected = f"expected {', '.join(SETS)}, a folder or a .npz file"
    if not isinstance(name, str | Path):
        raise ValueError(f"There is no data set {short_repr(name)}: {expected}.")
    if isinstance(name, str) and name in SETS:
        return SETS[name](Request(path, side, unreadable))
    if Path(name).is_dir():
        return _with_default_experiences(*split_folder(name, side, unreadable=unreadable))
    if Path(name).suffix == ".npz":
        return _with_default_experiences(npz(name))
    raise ValueError(f"There is no data set {short_repr(str(name))}: {expected}.")


def _with_default_experiences(data: Dataset, splits: tuple[Split, ...] = ()) -> Source:
    """Two classes per experience; the last may have one."""
    classes = len(data.class_names)
    return Source(data, (2,) * (classes // 2) + (1,) * (classes % 2), 5, splits=splits)
