"""Groceries: 1,393 photographs of fruit taken with a phone in shops, 14 classes, 64x64. Shipped with the package.

From the Grocery Store data set (Klasson, Zhang, Kjellstroem, 2019), MIT; groceries.md has licence and source, and
tools/make_groceries.py made the archive. 732 training and 661 test pictures, split as in the source.
"""

from pathlib import Path

import numpy as np

from bitreplay.arguments import path_of
from bitreplay.data.archives import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.pictures.picture import decode

MAX_DECODED = 1 << 30  # a few bytes may stand for a large picture of one colour
ARCHIVE = Path(__file__).with_name("groceries.zip")


def groceries(path: str | Path | None = None) -> Dataset:
    """Load the photographs of fruit that ship with the package.

    Parameters
    ----------
    path : str or Path, optional
        Another archive or folder of the same layout, train/<class>/*.webp and test/<class>/*.webp.

    Returns
    -------
    Dataset
        732 training and 661 test images, 64x64, 14 classes.

    Examples
    --------
    >>> data = groceries()
    >>> data.train_images.shape, data.test_images.shape, len(data.class_names)
    ((732, 64, 64, 3), (661, 64, 64, 3), 14)
    """
    archive = path_of(path, "The archive of groceries") if path is not None else ARCHIVE
    if not archive.exists():
        raise FileNotFoundError(f"{archive} does not exist; the one that ships is {ARCHIVE}.")
    pictures: dict[str, list[np.ndarray]] = {"train": [], "test": []}
    classes: dict[str, list[str]] = {"train": [], "test": []}
    decoded_bytes = 0
    for name, content in files(archive, ".webp"):
        part, label = name.split("/")[-3:-1] if name.count("/") > 1 else ("", "")
        if part not in pictures:
            raise ValueError(f"{name} in {archive} is not under train/<class>/ or test/<class>/.")
        pictures[part].append(decode(content, f"{name} in {archive}"))
        classes[part].append(label)
        decoded_bytes += pictures[part][-1].size
        if decoded_bytes > MAX_DECODED:
            raise ValueError(f"{archive} has more than {MAX_DECODED} bytes of pictures.")
    names = tuple(sorted(set(classes["train"])))
    if not names or not pictures["test"]:
        raise ValueError(f"{archive} has no pictures under train/<class>/ or none under test/<class>/.")
    if not set(classes["test"]) <= set(names):
        raise ValueError(f"{archive} has test pictures of a class without training pictures.")
    if len({image.shape for image in pictures["train"] + pictures["test"]}) > 1:
        raise ValueError(f"{archive} has pictures of different sizes.")
    labels = {part: np.array([names.index(label) for label in classes[part]], np.int64) for part in classes}
    images = {part: np.stack(pictures[part]) for part in pictures}
    return Dataset(images["train"], labels["train"], images["test"], labels["test"], names)
