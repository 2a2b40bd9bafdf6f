"""Any folder of pictures, one folder a class.

Either root/train/<class>/* with root/test/<class>/* (or val), or root/<class>/* alone; then the last fifth of a class,
by name, are its test pictures, and pictures of one series stay together (series.py). Pictures are turned upright,
cropped to their middle square and resized.
"""

from pathlib import Path

import numpy as np

from bitreplay.arguments import path_of, short_repr, whole_number
from bitreplay.data.dataset import Dataset
from bitreplay.data.pictures.formats import SUFFIXES
from bitreplay.data.pictures.picture import Unreadable, read, refuse, taken
from bitreplay.data.pictures.resize import center_square, resize, side_of
from bitreplay.data.series import series
from bitreplay.data.splitting import Split, divided

TEST_FOLDERS = ("test", "val")


def folder(path: str | Path, side: int, test_every: int = 5, unreadable: Unreadable = refuse) -> Dataset:
    """The data set. `unreadable` is told of each picture that cannot be read, and of each class folder without any.

    If it returns, that one is left out.
    """
    return split_folder(path, side, test_every, unreadable)[0]


def split_folder(
    path: str | Path, side: int, test_every: int = 5, unreadable: Unreadable = refuse
) -> tuple[Dataset, tuple[Split, ...]]:
    """The data set, and how each class was divided; nothing of that where the folder itself has a test part."""
    root, side = path_of(path, "A folder of pictures"), side_of(side)
    if (whole_number(test_every) or 0) < 2:
        raise ValueError(f"test_every must be a whole number from 2, got {short_repr(test_every)}.")
    if not root.is_dir():
        raise FileNotFoundError(f"{root} is not a folder: expected one folder a class in it.")
    test_root = next((root / name for name in TEST_FOLDERS if (root / name).is_dir()), root)
    if (root / "train").is_dir() and test_root != root:
        return _with_a_test(root / "train", test_root, side, unreadable), ()
    names = class_folders(root, unreadable)
    images: dict[bool, list[np.ndarray]] = {False: [], True: []}
    labels: dict[bool, list[int]] = {False: [], True: []}
    splits = []
    for label, name in enumerate(names):
        files, pixels = load(pictures(root / name), side, unreadable)
        groups = series(files, pixels, [taken(file) for file in files]) if files else []
        tested = divided(groups, test_every)
        splits.append(Split(name, len(files) - len(tested), len(tested), len(groups)))
        for number, picture in enumerate(pixels):
            images[number in tested].append(picture)
            labels[number in tested].append(label)
    if not images[True]:
        raise ValueError(_no_test(root, test_every, splits))
    parts = (np.stack(images[False]), _numbers(labels[False]), np.stack(images[True]), _numbers(labels[True]))
    return Dataset(*parts, class_names=names), tuple(splits)


def _with_a_test(train_root: Path, test_root: Path, side: int, unreadable: Unreadable) -> Dataset:
    names = class_folders(train_root, unreadable)
    places = sorted(place for place in test_root.iterdir() if place.is_dir())
    for place in places:
        if place.name not in names:
            raise ValueError(f"{place} is a class that {train_root} does not have.")
    train = _of_classes([train_root / name for name in names], names, side, unreadable)
    if not any(pictures(place) for place in places):
        expected = f"expected them in one folder a class, as in {train_root}"
        raise ValueError(f"{test_root} has no test pictures: {expected}.")
    return Dataset(*train, *_of_classes(places, names, side, unreadable), class_names=names)


def _of_classes(
    places: list[Path], names: tuple[str, ...], side: int, unreadable: Unreadable
) -> tuple[np.ndarray, np.ndarray]:
    files = [file for place in places for file in pictures(place)]
    found, pixels = load(files, side, unreadable)
    if not found:
        raise ValueError(f"None of {len(files)} pictures could be read, the first of which is {files[0]}.")
    return pixels, _numbers([names.index(file.parent.name) for file in found])


def _numbers(labels: list[int]) -> np.ndarray:
    return np.array(labels, np.int64)


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


def _no_test(root: Path, test_every: int, splits: list[Split]) -> str:
    remedy = "or put them in folders train/<class> and test/<class>"
    if not sum(split.learned for split in splits):
        return f"None of the pictures in {root} could be read."
    if all(split.learned < test_every for split in splits):
        return (
            f"No test pictures could be set aside in {root}, as no class has {test_every} pictures: add some, {remedy}."
        )
    return (
        f"No test pictures could be set aside in {root}, as the pictures of a class are one series of near-duplicates: "
        f"add some of another time, {remedy}."
    )


def pictures(place: Path) -> list[Path]:
    """By their suffix; hidden ones do not count."""
    return sorted(p for p in place.iterdir() if p.suffix.lower() in SUFFIXES and not p.name.startswith("."))


def passed_over(place: Path, of_classes: bool = False) -> list[str]:
    """A sentence for everything in a folder of pictures, or `of_classes`, that is not taken for one."""
    short_repr = []
    for path in sorted(place.iterdir()):
        if path.name.startswith("."):
            short_repr.append(f"{path} is hidden.")
        elif of_classes and not path.is_dir():
            short_repr.append(f"{path} lies beside the class folders, in none of them.")
        elif not of_classes and path.suffix.lower() not in SUFFIXES:
            suffixes = f"no picture by its suffix ({', '.join(SUFFIXES)})"
            short_repr.append(f"{path} is {'a folder inside a folder of pictures' if path.is_dir() else suffixes}.")
    return short_repr


def load(files: list[Path], side: int, unreadable: Unreadable) -> tuple[list[Path], np.ndarray]:
    """Those that can be read, and their pictures."""
    images = np.zeros((len(files), side, side, 3), np.uint8)
    found: list[Path] = []
    for file in files:
        try:
            images[len(found)] = resize(center_square(read(file, side)), side)
            found.append(file)
        except ValueError as error:
            unreadable(error)
    return found, images[: len(found)]
