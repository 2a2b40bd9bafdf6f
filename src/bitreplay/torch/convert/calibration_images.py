"""Pictures to calibrate a conversion with: some hundred, spread evenly over whatever is given.

`place` is a folder of pictures, flat or with folders in it (a class each, or train/<class>), a data set by name
(groceries, cifar10 ...), a .npz file, or what pre-training reads: arrays, or Tiny-ImageNet. Classes do not matter;
where there are folders of classes, their names are returned too.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.folder import load, picture_files
from bitreplay.data.named import SETS, load_dataset
from bitreplay.data.pictures.picture import refuse
from bitreplay.data.pictures.resize import resize
from bitreplay.torch.arrays import open_dataset


def calibration(place: Path, side: int, count: int) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Up to `count` images (N, side, side, 3), and the names of the classes found with them."""
    if place.is_dir() and not (place / "train_images.npy").exists() and not (place / "wnids.txt").exists():
        return _from_folder(place, side, count)
    if not place.exists() and str(place) in SETS or place.suffix == ".npz":
        found = load_dataset(str(place), side=side).data
    elif place.exists():
        found = open_dataset(place, side)
    else:
        told = ", ".join(SETS)
        raise FileNotFoundError(f"There is no {place}: expected a folder of pictures, a .npz file, or one of {told}.")
    chosen = found.train_images[:: max(len(found.train_images) // count, 1)][:count]
    return np.stack([resize(np.asarray(image), side) for image in chosen]), tuple(found.class_names)


def _from_folder(root: Path, side: int, count: int) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    places = [Path(place) for place, _, _ in os.walk(root)]
    files = sorted(path for place in places if not place.name.startswith(".") for path in picture_files(place))
    if not files:
        raise FileNotFoundError(f"{root} has no pictures, nor have the folders in it.")
    chosen = files[:: max(len(files) // count, 1)][:count]
    _, images = load(chosen, side, refuse)
    return images, tuple(sorted({path.parent.name for path in files if path.parent != root}))
