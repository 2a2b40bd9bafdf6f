"""CIFAR-10 and CIFAR-100 (Krizhevsky, 2009), binary version, from the folder or the .tar.gz.

A record is one label byte (CIFAR-100: coarse, then fine) and 3072 bytes in channel, row, column order.
"""

import hashlib
from pathlib import Path

import numpy as np

from bitreplay.data.container import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.location import locate

SOURCE = "https://www.cs.toronto.edu/~kriz/cifar.html (binary version)"
CIFAR10_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR10_MD5 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}


def cifar10(path: str | Path | None = None, check_md5: bool = False) -> Dataset:
    """50,000 training and 10,000 test images, 32x32, 10 classes; `check_md5` compares with the official files."""
    place = locate("CIFAR-10", path, ("cifar-10-batches-bin", "cifar-10-binary.tar.gz"), SOURCE)
    found = read(place, *CIFAR10_MD5)
    if check_md5:
        for name, official in CIFAR10_MD5.items():
            got = hashlib.md5(found[name]).hexdigest()
            if got != official:
                raise ValueError(f"{name} in {place} has md5 {got}, the official file {official}.")
    train = [decode(found[name], name, label_bytes=1) for name in sorted(CIFAR10_MD5) if name != "test_batch.bin"]
    train_images, train_labels = (np.concatenate(parts) for parts in zip(*train, strict=True))
    test_images, test_labels = decode(found["test_batch.bin"], "test_batch.bin", label_bytes=1)
    return Dataset(train_images, train_labels, test_images, test_labels, CIFAR10_NAMES)


def cifar100(path: str | Path | None = None) -> Dataset:
    """50,000 training and 10,000 test images, 32x32, the 100 fine classes."""
    place = locate("CIFAR-100", path, ("cifar-100-binary", "cifar-100-binary.tar.gz"), SOURCE)
    found = read(place, "train.bin", "test.bin", "fine_label_names.txt")
    train_images, train_labels = decode(found["train.bin"], "train.bin", label_bytes=2)
    test_images, test_labels = decode(found["test.bin"], "test.bin", label_bytes=2)
    names = tuple(found["fine_label_names.txt"].decode().split())
    return Dataset(train_images, train_labels, test_images, test_labels, names)


def read(place: Path, *names: str) -> dict[str, bytes]:
    found = {name.rpartition("/")[2]: content for name, content in files(place, *names)}
    missing = [name for name in names if name not in found]
    if missing:
        raise FileNotFoundError(f"{place} has no {', '.join(missing)}: get the data set from {SOURCE}.")
    return found


def decode(content: bytes, name: str, label_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and the last label byte of each record."""
    size = label_bytes + 3072
    if len(content) == 0 or len(content) % size:
        raise ValueError(f"{name} has {len(content)} bytes, which is no whole number of {size}-byte records.")
    records = np.frombuffer(content, np.uint8).reshape(-1, size)
    images = records[:, label_bytes:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), records[:, label_bytes - 1].astype(np.int64)
