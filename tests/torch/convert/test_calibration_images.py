"""Calibration pictures: spread evenly over what is given, cropped and resized as the loaders do."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.pictures.resize import resize
from bitreplay.torch.convert.calibration_images import calibration


def paint(path: Path, grey: int, size: tuple[int, int] = (12, 12)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (grey, grey, grey)).save(path)


def test_pictures_are_taken_evenly_from_all_folders(tmp_path: Path) -> None:
    for folder in range(4):
        for k in range(10):
            paint(tmp_path / f"class {folder}" / f"{k}.png", 40 * folder + k)
    images, names = calibration(tmp_path, 8, 8)
    assert images.shape == (8, 8, 8, 3) and names == ("class 0", "class 1", "class 2", "class 3")
    assert images[:, 0, 0, 0].tolist() == [0, 5, 40, 45, 80, 85, 120, 125]
    assert len(calibration(tmp_path, 8, 1000)[0]) == 40


def test_a_flat_folder_has_no_class_names_and_hidden_folders_do_not_count(tmp_path: Path) -> None:
    paint(tmp_path / "a.png", 10, (40, 20))
    paint(tmp_path / "b.png", 20)
    paint(tmp_path / ".thumbs" / "c.png", 30)
    (tmp_path / "notes.txt").write_text("no picture")
    images, names = calibration(tmp_path, 8, 10)
    assert images[:, 4, 4, 0].tolist() == [10, 20] and names == ()


def test_arrays_and_npz_files(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 16, 16, 3), dtype=np.uint8)
    labels = np.array([0, 1, 0, 1, 0, 1])
    for split in ("train", "val"):
        np.save(tmp_path / f"{split}_images.npy", pixels)
        np.save(tmp_path / f"{split}_labels.npy", labels)
    images, names = calibration(tmp_path, 8, 3)
    assert np.array_equal(images, resize(pixels[::2], 8)) and names == ("0", "1")
    np.savez(tmp_path / "set.npz", train_images=pixels, train_labels=labels, test_images=pixels, test_labels=labels)
    assert np.array_equal(calibration(tmp_path / "set.npz", 16, 6)[0], pixels)


def test_what_holds_no_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no pictures, and neither have the folders in it"):
        calibration(tmp_path, 8, 4)
    with pytest.raises(FileNotFoundError, match="There is no .*nothing: expected a folder of pictures"):
        calibration(tmp_path / "nothing", 8, 4)
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="bad.png"):
        calibration(tmp_path, 8, 4)
