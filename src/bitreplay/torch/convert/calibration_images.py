"""Pictures to calibrate a conversion with: some hundred, evenly spaced over a set of pictures.

`source` is a folder of pictures, flat or with folders in it (one per class, or train/<class>), a data set by name
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
from bitreplay.data.pictures.fit import fit
from bitreplay.data.pictures.picture import refuse
from bitreplay.torch.arrays import open_dataset


def calibration(source: Path, side: int, count: int) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Up to `count` images (N, side, side, 3), and the names of their classes."""
    if source.is_dir() and not (source / "train_images.npy").exists() and not (source / "wnids.txt").exists():
        return _from_folder(source, side, count)
    if not source.exists() and str(source) in SETS or source.suffix == ".npz":
        data = load_dataset(str(source), side=side).data
    elif source.exists():
        data = open_dataset(source, side)
    else:
        names = ", ".join(SETS)
        raise FileNotFoundError(f"There is no {source}: expected a folder of pictures, a .npz file, or one of {names}.")
    chosen = data.train_images[:: max(len(data.train_images) // count, 1)][:count]
    return np.stack([fit(np.asarray(image), side) for image in chosen]), tuple(data.class_names)


def _from_folder(root: Path, side: int, count: int) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    folders = [Path(folder) for folder, _, _ in os.walk(root)]
    files = sorted(path for folder in folders if not folder.name.startswith(".") for path in picture_files(folder))
    if not files:
        raise FileNotFoundError(f"{root} has no pictures, and neither have the folders in it.")
    chosen = files[:: max(len(files) // count, 1)][:count]
    _, images = load(chosen, side, refuse)
    return images, tuple(sorted({path.parent.name for path in files if path.parent != root}))
