"""Where pre-training finds images: arrays, Tiny-ImageNet as published, class folders; and what it says of bad ones."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from bitreplay.torch.arrays import Arrays, open_dataset


def picture(place: Path, brightness: int, size: tuple[int, int] = (64, 64)) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (brightness,) * 3).save(place)


def write_arrays(place: Path, count: int = 6, labels: np.ndarray | None = None, **changes: np.ndarray) -> None:
    place.mkdir(exist_ok=True)
    for split in ("train", "val"):
        images = np.arange(count, dtype=np.uint8).repeat(8 * 8 * 3).reshape(count, 8, 8, 3)
        np.save(place / f"{split}_images.npy", changes.get(f"{split}_images", images))
        np.save(place / f"{split}_labels.npy", np.arange(count) % 3 if labels is None else labels)


def test_arrays_are_mapped_and_named_by_number_or_list(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    result = open_dataset(tmp_path, 64)
    assert result.class_names == ("0", "1", "2") and result.train_images.shape == (6, 8, 8, 3)
    (tmp_path / "wnids.txt").write_text("n3\nn1\nn2\nn9\n")
    assert open_dataset(tmp_path, 64).class_names == ("n3", "n1", "n2", "n9")
    on_device = Arrays.of(result.train_images, result.train_labels, torch.device("cpu"), chunk=4)
    assert on_device.images.shape == (6, 3, 8, 8) and on_device.images[:, 0, 0, 0].tolist() == list(range(6))
    assert on_device.labels.tolist() == [0, 1, 2, 0, 1, 2]


def test_tiny_imagenet_as_published(tmp_path: Path) -> None:
    root = tmp_path / "tiny-imagenet-200"
    for k, wnid in enumerate(("n2", "n1")):
        picture(root / "train" / wnid / "images" / f"{wnid}_0.JPEG", 100 * k)
        picture(root / "val" / "images" / f"val_{k}.JPEG", 100 * k)
    (root / "wnids.txt").write_text("n2\nn1\n")
    (root / "val" / "val_annotations.txt").write_text("val_0.JPEG\tn2\t0\t0\t1\t1\nval_1.JPEG\tn1\t0\t0\t1\t1\n")
    packed = Path(shutil.make_archive(str(tmp_path / "tiny"), "zip", tmp_path, root.name))
    for place in (root, packed):
        result = open_dataset(place, 64)
        assert result.class_names == ("n2", "n1")
        assert [int(image.mean()) // 50 for image in result.train_images[result.train_labels.argsort()]] == [0, 2]


def test_class_folders_are_brought_to_one_side(tmp_path: Path) -> None:
    for name, brightness in (("pear", 10), ("plum", 130)):
        for k in range(5):
            picture(tmp_path / name / f"{k}.png", brightness + 30 * k, (90 + k, 70))
    result = open_dataset(tmp_path, 48)
    assert result.class_names == ("pear", "plum")
    assert result.train_images.shape == (8, 48, 48, 3) and result.test_images.shape == (2, 48, 48, 3)
    assert result.test_images[:, 0, 0, 0].tolist() == [130, 250]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"val_images": np.zeros((6, 8, 8), np.uint8)}, r"expected \(N, S, S, 3\)"),
        ({"train_images": np.zeros((6, 8, 9, 3), np.uint8)}, r"expected \(N, S, S, 3\)"),
        ({"train_images": np.zeros((6, 8, 8, 3), np.float32)}, "float32"),
        ({"train_images": np.zeros((5, 8, 8, 3), np.uint8)}, "one label per image"),
        ({"train_images": np.zeros((6, 9, 9, 3), np.uint8)}, "has train images"),
        ({"labels": np.zeros(6)}, "expected non-negative integers"),
        ({"labels": np.full(6, -1)}, "expected non-negative integers"),
    ],
)
def test_bad_arrays_give_one_sentence(tmp_path: Path, changes: dict[str, np.ndarray], sentence: str) -> None:
    write_arrays(tmp_path, **changes)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=sentence):
        open_dataset(tmp_path, 64)


def test_labels_beyond_the_list_are_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    (tmp_path / "wnids.txt").write_text("n1\nn2\n")
    with pytest.raises(ValueError, match="names 2 classes; the labels go up to 2"):
        open_dataset(tmp_path, 64)


def test_a_missing_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere is not a folder"):
        open_dataset(tmp_path / "nowhere", 64)
