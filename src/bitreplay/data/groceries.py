"""Groceries: 1,393 photographs of fruit taken with a phone in shops, 14 classes, 64x64. Shipped with the package.

From the Grocery Store data set (Klasson, Zhang, Kjellstroem, 2019), MIT; groceries.md has licence and source, and
tools/make_groceries.py made the archive. 732 training and 661 test pictures, the source's own split.
"""

from pathlib import Path

import numpy as np

from bitreplay.arguments import path_of
from bitreplay.data.archives import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.pictures.picture import decoded

MAX_HELD = 1 << 30  # a few bytes may stand for a large picture of one colour
ARCHIVE = Path(__file__).with_name("groceries.zip")


def groceries(path: str | Path | None = None) -> Dataset:
    """The embedded archive, or another of the same layout: train/<class>/*.webp and test/<class>/*.webp."""
    place = path_of(path, "The archive of groceries") if path is not None else ARCHIVE
    if not place.exists():
        raise FileNotFoundError(f"{place} does not exist; the package's own archive is {ARCHIVE}.")
    pictures: dict[str, list[np.ndarray]] = {"train": [], "test": []}
    classes: dict[str, list[str]] = {"train": [], "test": []}
    held = 0
    for name, content in files(place, ".webp"):
        part, label = name.split("/")[-3:-1] if name.count("/") > 1 else ("", "")
        if part not in pictures:
            raise ValueError(f"{name} in {place} does not lie under train/<class>/ or test/<class>/.")
        pictures[part].append(decoded(content, f"{name} in {place}"))
        classes[part].append(label)
        held += pictures[part][-1].size
        if held > MAX_HELD:
            raise ValueError(f"{place} has more than {MAX_HELD} bytes of pictures.")
    names = tuple(sorted(set(classes["train"])))
    if not names or not pictures["test"]:
        raise ValueError(f"{place} has no pictures under train/<class>/ or none under test/<class>/.")
    if not set(classes["test"]) <= set(names):
        raise ValueError(f"{place} has test pictures of a class without training pictures.")
    if len({image.shape for image in pictures["train"] + pictures["test"]}) > 1:
        raise ValueError(f"{place} has pictures of different sizes.")
    labels = {part: np.array([names.index(label) for label in classes[part]], np.int64) for part in classes}
    images = {part: np.stack(pictures[part]) for part in pictures}
    return Dataset(images["train"], labels["train"], images["test"], labels["test"], names)
