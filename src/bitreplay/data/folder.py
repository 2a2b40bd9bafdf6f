"""Any folder of pictures, one folder a class.

Either root/train/<class>/* with root/test/<class>/* (or val), or root/<class>/* alone; then every fifth picture of a
class, by name, is a test picture. Pictures are turned upright, cropped to their middle square and resized.
"""

from pathlib import Path

import numpy as np

from bitreplay.arguments import path_of, told, whole_number
from bitreplay.data.dataset import Dataset
from bitreplay.data.pictures.formats import SUFFIXES
from bitreplay.data.pictures.picture import Unreadable, read, refuse
from bitreplay.data.pictures.resize import center_square, resize, side_of

TEST_FOLDERS = ("test", "val")


def folder(path: str | Path, side: int, test_every: int = 5, unreadable: Unreadable = refuse) -> Dataset:
    """The data set. `unreadable` is told of each picture that cannot be read, and of each class folder without any.

    If it returns, that one is left out.
    """
    root, side = path_of(path, "A folder of pictures"), side_of(side)
    if (whole_number(test_every) or 0) < 2:
        raise ValueError(f"test_every must be a whole number from 2, got {told(test_every)}.")
    if not root.is_dir():
        raise FileNotFoundError(f"{root} is not a folder: expected one folder a class in it.")
    test_root = next((root / name for name in TEST_FOLDERS if (root / name).is_dir()), root)
    divided = (root / "train").is_dir() and test_root != root
    train_root = root / "train" if divided else root
    names = class_folders(train_root, unreadable)
    train: list[tuple[Path, int]] = []
    test: list[tuple[Path, int]] = []
    for label, name in enumerate(names):
        for k, picture in enumerate(pictures(train_root / name)):
            is_test = not divided and k % test_every == test_every - 1
            (test if is_test else train).append((picture, label))
    if divided:
        for place in sorted(p for p in test_root.iterdir() if p.is_dir()):
            if place.name not in names:
                raise ValueError(f"{place} is a class that {train_root} does not have.")
            test += [(picture, names.index(place.name)) for picture in pictures(place)]
    learned = load(train, side, unreadable)
    if not test:
        raise ValueError(_no_test(root, test_root, test_every, divided))
    return Dataset(*learned, *load(test, side, unreadable), class_names=names)


def class_folders(root: Path, unreadable: Unreadable) -> tuple[str, ...]:
    """Names of the folders with pictures; hidden ones do not count."""
    places = sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    names = tuple(place.name for place in places if pictures(place))
    if not names:
        raise FileNotFoundError(f"{root} has no class folder with pictures ({', '.join(SUFFIXES)}).")
    for place in places:
        if place.name not in names:
            unreadable(ValueError(f"{place} has no pictures ({', '.join(SUFFIXES)})."))
    return names


def _no_test(root: Path, test_root: Path, test_every: int, divided: bool) -> str:
    if divided:
        return f"{test_root} has no test pictures: expected them in one folder a class, as in {root / 'train'}."
    return (
        f"No test pictures could be set aside in {root}, as no class has {test_every} pictures: add some, "
        "or put them in folders train/<class> and test/<class>."
    )


def pictures(place: Path) -> list[Path]:
    """By their suffix; hidden ones do not count."""
    return sorted(p for p in place.iterdir() if p.suffix.lower() in SUFFIXES and not p.name.startswith("."))


def passed_over(place: Path, of_classes: bool = False) -> list[str]:
    """A sentence for everything in a folder of pictures, or `of_classes`, that is not taken for one."""
    told = []
    for path in sorted(place.iterdir()):
        if path.name.startswith("."):
            told.append(f"{path} is hidden.")
        elif of_classes and not path.is_dir():
            told.append(f"{path} lies beside the class folders, in none of them.")
        elif not of_classes and path.suffix.lower() not in SUFFIXES:
            what = "a folder inside a folder of pictures" if path.is_dir() else "no picture by its suffix"
            told.append(f"{path} is {what} ({', '.join(SUFFIXES)}).")
    return told


def load(samples: list[tuple[Path, int]], side: int, unreadable: Unreadable) -> tuple[np.ndarray, np.ndarray]:
    images = np.zeros((len(samples), side, side, 3), np.uint8)
    labels: list[int] = []
    for picture, label in samples:
        try:
            images[len(labels)] = resize(center_square(read(picture, side)), side)
            labels.append(label)
        except ValueError as error:
            unreadable(error)
    if not labels:
        raise ValueError(f"None of {len(samples)} pictures could be read, the first of which is {samples[0][0]}.")
    return images[: len(labels)], np.array(labels, np.int64)
