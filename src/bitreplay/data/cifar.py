"""CIFAR-10 and CIFAR-100 (Krizhevsky, 2009), binary or Python version, from the folder or the .tar.gz.

A binary record is one label byte (CIFAR-100: coarse, then fine) and 3072 bytes in channel, row, column order. The
Python version is read without unpickling (cifar_python.py).
"""

import hashlib
from pathlib import Path

import numpy as np

from bitreplay.data.archives import files
from bitreplay.data.cifar_python import parse_batch, parse_pickle
from bitreplay.data.dataset import Dataset
from bitreplay.data.fetch import ARCHIVES, Archive, md5_of
from bitreplay.data.location import how_to_get, locate

SOURCE = "https://www.cs.toronto.edu/~kriz/cifar.html"
CIFAR10_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR10_MD5 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
CIFAR10_PYTHON_MD5 = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}
CIFAR100_FILES = ("train.bin", "test.bin", "fine_label_names.txt")
CIFAR100_PYTHON_MD5 = {
    "train": "16019d7e3df5f24257cddd939b257f8d",
    "test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
    "meta": "7973b15100ade9c7d40fb424638fde48",
}


def cifar10(path: str | Path | None = None, check_md5: bool = False) -> Dataset:
    """Load CIFAR-10: 50,000 training and 10,000 test images, 32x32, 10 classes.

    Parameters
    ----------
    path : str or Path, optional
        The folder or the archive of the binary or the Python version, or a folder with one of them in it. By default
        it is looked for in the folder BITREPLAY_DATA.
    check_md5 : bool, default False
        Compare with the checksum of the official archive if that is what is read, else with those of its files.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If it is not there; the message says where to get it.
    ValueError
        If a file is damaged or has another checksum.

    Examples
    --------
    >>> cifar10("/data").train_images.shape  # doctest: +SKIP
    (50000, 32, 32, 3)
    """
    names = ("cifar-10-batches-bin", "cifar-10-binary.tar.gz", "cifar-10-batches-py", "cifar-10-python.tar.gz")
    location = locate("CIFAR-10", path, names, SOURCE, "cifar10")
    contents = read_files(location, tuple(CIFAR10_MD5), tuple(CIFAR10_PYTHON_MD5), how_to_get(SOURCE, "cifar10"))
    if check_md5:
        _check_md5(contents, CIFAR10_MD5 | CIFAR10_PYTHON_MD5, location, ARCHIVES["cifar10"])
    parts = {
        name: parse_records(content, name, label_bytes=1)
        if name.endswith(".bin")
        else parse_batch(content, name, "labels")
        for name, content in sorted(contents.items())
    }
    train = [part for name, part in parts.items() if name.startswith("data_batch")]
    (test,) = (part for name, part in parts.items() if name.startswith("test_batch"))
    train_images, train_labels = (np.concatenate(columns) for columns in zip(*train, strict=True))
    return Dataset(train_images, train_labels, *test, CIFAR10_NAMES)


def cifar100(path: str | Path | None = None, check_md5: bool = False) -> Dataset:
    """Load CIFAR-100: 50,000 training and 10,000 test images, 32x32, the 100 fine classes.

    Parameters
    ----------
    path : str or Path, optional
        As for `cifar10`.
    check_md5 : bool, default False
        As for `cifar10`; for the binary version only the checksum of the archive is known, not those of its files.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If it is not there; the message says where to get it.
    ValueError
        If a file is damaged or has another checksum.

    Examples
    --------
    >>> len(cifar100("/data").class_names)  # doctest: +SKIP
    100
    """
    usual = ("cifar-100-binary", "cifar-100-binary.tar.gz", "cifar-100-python", "cifar-100-python.tar.gz")
    location = locate("CIFAR-100", path, usual, SOURCE, "cifar100")
    contents = read_files(location, CIFAR100_FILES, tuple(CIFAR100_PYTHON_MD5), how_to_get(SOURCE, "cifar100"))
    if check_md5:
        _check_md5(contents, CIFAR100_PYTHON_MD5, location, ARCHIVES["cifar100"])
    if "train.bin" in contents:
        train, test = (parse_records(contents[name], name, label_bytes=2) for name in ("train.bin", "test.bin"))
        fine = contents["fine_label_names.txt"].decode("ascii", "replace").split()
    else:
        train, test = (parse_batch(contents[name], name, "fine_labels") for name in ("train", "test"))
        meta = parse_pickle(contents["meta"], "meta")
        names = meta.get("fine_label_names") if isinstance(meta, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"meta in {location} has no list of fine_label_names.")
        fine = names
    return Dataset(*train, *test, tuple(fine))


def _check_md5(contents: dict[str, bytes], official: dict[str, str], location: Path, archive: Archive) -> None:
    """Check the archive if it has the official name, else each file; a file without a known checksum is refused."""
    if location.is_file() and location.name == archive.name:
        _compare(str(location), md5_of(location), archive.md5)
        return
    for name, content in contents.items():
        if name not in official:
            raise ValueError(f"There is no known checksum of {name} in {location}, only of the archive {archive.name}.")
        _compare(f"{name} in {location}", hashlib.md5(content).hexdigest(), official[name])


def _compare(title: str, got: str, official: str) -> None:
    if got != official:
        raise ValueError(f"{title} has md5 {got}, the official file {official}.")


def read_files(location: Path, binary: tuple[str, ...], python: tuple[str, ...], get: str) -> dict[str, bytes]:
    """The files of the first version that is complete, the binary or the Python one."""
    contents = {name.rpartition("/")[2]: content for name, content in files(location, *binary, *python)}
    for names in (binary, python):
        if all(name in contents for name in names):
            return {name: contents[name] for name in names}
    missing = [name for name in binary if name not in contents]
    raise FileNotFoundError(f"{location} has no {', '.join(missing)}: {get}.")


def parse_records(content: bytes, name: str, label_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and the last label byte of each record."""
    size = label_bytes + 3072
    if len(content) == 0 or len(content) % size:
        raise ValueError(f"{name} has {len(content)} bytes, which is not a multiple of {size}, the size of a record.")
    records = np.frombuffer(content, np.uint8).reshape(-1, size)
    images = records[:, label_bytes:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), records[:, label_bytes - 1].astype(np.int64)
