"""Any folder of pictures, with one folder per class.

Either root/train/<class>/* with root/test/<class>/* (or val), or root/<class>/* alone; then the last fifth of a class,
by name, are its test pictures, and pictures of one series stay together (series.py). Pictures are turned upright,
cropped to their middle square and resized.
"""

from pathlib import Path

import numpy as np

from bitreplay.arguments import as_integer, path_of, short_repr
from bitreplay.data.dataset import Dataset
from bitreplay.data.pictures.ahead import ahead
from bitreplay.data.pictures.fit import fit
from bitreplay.data.pictures.formats import SUFFIXES
from bitreplay.data.pictures.picture import Unreadable, read, refuse, time_taken
from bitreplay.data.pictures.resize import side_of
from bitreplay.data.series import series
from bitreplay.data.splitting import Split, choose_test

TEST_FOLDERS = ("test", "val")


def folder(path: str | Path, side: int, test_every: int = 5, unreadable: Unreadable = refuse) -> Dataset:
    """Read a folder of pictures with one folder per class.

    Parameters
    ----------
    path : str or Path
        With train/<class>/* and test/<class>/* (or val) in it, or <class>/* alone.
    side : int
        Pictures are cropped to their middle square and resized to `side` by `side` pixels.
    test_every : int, default 5
        Where there is no test folder, one picture in `test_every` of a class becomes a test picture. Near-duplicates
        are either all learned or all tested.
    unreadable : callable, optional
        Called with the error for each picture that cannot be read and each class folder without pictures. If it
        returns, that one is left out. By default the error is raised.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or no class folder with pictures in it.
    ValueError
        If a picture cannot be read, or no test pictures can be set aside.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> root = Path(tempfile.mkdtemp())
    >>> for name, brightness in (("kiwi", 40), ("pear", 200)):
    ...     for part in ("train", "test"):
    ...         (root / part / name).mkdir(parents=True)
    ...         Image.new("L", (48, 64), brightness).save(root / part / name / "1.png")
    >>> data = folder(root, side=32)
    >>> data.class_names, data.train_images.shape
    (('kiwi', 'pear'), (2, 32, 32, 3))
    """
    return split_folder(path, side, test_every, unreadable)[0]


def split_folder(
    path: str | Path, side: int, test_every: int = 5, unreadable: Unreadable = refuse
) -> tuple[Dataset, tuple[Split, ...]]:
    """As `folder`, and how each class was divided, which is empty where the folder has test pictures of its own."""
    root, side = path_of(path, "A folder of pictures"), side_of(side)
    if (as_integer(test_every) or 0) < 2:
        raise ValueError(f"test_every must be an integer of at least 2, got {short_repr(test_every)}.")
    if not root.is_dir():
        raise FileNotFoundError(f"{root} is not a folder: expected one folder per class in it.")
    test_root = next((root / name for name in TEST_FOLDERS if (root / name).is_dir()), root)
    if (root / "train").is_dir() and test_root != root:
        return _with_test_folder(root / "train", test_root, side, unreadable), ()
    names = class_names(root, unreadable)
    images: dict[bool, list[np.ndarray]] = {False: [], True: []}
    labels: dict[bool, list[int]] = {False: [], True: []}
    splits = []
    for label, name in enumerate(names):
        files, pixels = load(picture_files(root / name), side, unreadable)
        groups = series(files, pixels, [time_taken(file) for file in files]) if files else []
        tested = choose_test(groups, test_every)
        splits.append(Split(name, len(files) - len(tested), len(tested), len(groups)))
        for number, picture in enumerate(pixels):
            images[number in tested].append(picture)
            labels[number in tested].append(label)
    if not images[True]:
        raise ValueError(_no_test(root, test_every, splits))
    train, test = ((np.stack(images[part]), np.array(labels[part], np.int64)) for part in (False, True))
    return Dataset(*train, *test, class_names=names), tuple(splits)


def _with_test_folder(train_root: Path, test_root: Path, side: int, unreadable: Unreadable) -> Dataset:
    names = class_names(train_root, unreadable)
    test_folders = sorted(path for path in test_root.iterdir() if path.is_dir())
    for path in test_folders:
        if path.name not in names:
            raise ValueError(f"{path} is a class that {train_root} does not have.")
    train = _of_classes([train_root / name for name in names], names, side, unreadable)
    if not any(map(picture_files, test_folders)):
        expected = f"expected them in one folder per class, as in {train_root}"
        raise ValueError(f"{test_root} has no test pictures: {expected}.")
    return Dataset(*train, *_of_classes(test_folders, names, side, unreadable), class_names=names)


def _of_classes(
    class_folders: list[Path], names: tuple[str, ...], side: int, unreadable: Unreadable
) -> tuple[np.ndarray, np.ndarray]:
    files = [file for class_folder in class_folders for file in picture_files(class_folder)]
    readable, pixels = load(files, side, unreadable)
    if not readable:
        raise ValueError(f"None of {len(files)} pictures could be read, the first of which is {files[0]}.")
    return pixels, np.array([names.index(file.parent.name) for file in readable], np.int64)


def class_names(root: Path, unreadable: Unreadable) -> tuple[str, ...]:
    """Names of the folders with pictures; hidden ones do not count."""
    folders = sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    names = tuple(path.name for path in folders if picture_files(path))
    if not names:
        raise FileNotFoundError(f"{root} has no class folder with pictures ({', '.join(SUFFIXES)}).")
    for path in folders:
        if path.name not in names:
            unreadable(ValueError(f"{path} has no pictures ({', '.join(SUFFIXES)})."))
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
        f"No test pictures could be set aside in {root}, as the pictures of each class are near-duplicates: "
        f"add some taken at another time, {remedy}."
    )


def picture_files(folder: Path) -> list[Path]:
    """The pictures in a folder, by their suffix, sorted; hidden ones do not count."""
    return sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and not p.name.startswith("."))


def describe_skipped(folder: Path, of_classes: bool = False) -> list[str]:
    """A sentence for each path in a folder of pictures, or a folder `of_classes`, that is not one."""
    sentences = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            sentences.append(f"{path} is hidden.")
        elif of_classes and not path.is_dir():
            sentences.append(f"{path} is beside the class folders, not in one of them.")
        elif not of_classes and path.suffix.lower() not in SUFFIXES:
            suffixes = f"does not have the suffix of a picture ({', '.join(SUFFIXES)})"
            sentences.append(f"{path} {'is a folder inside a folder of pictures' if path.is_dir() else suffixes}.")
    return sentences


def load(files: list[Path], side: int, unreadable: Unreadable) -> tuple[list[Path], np.ndarray]:
    """The files that can be read, and their pixels (n, side, side, 3)."""
    images = np.zeros((len(files), side, side, 3), np.uint8)
    readable: list[Path] = []
    for file, picture in ahead(lambda file: fit(read(file, side), side), files):
        try:
            images[len(readable)] = picture()
            readable.append(file)
        except ValueError as error:
            unreadable(error)
    return readable, images[: len(readable)]
