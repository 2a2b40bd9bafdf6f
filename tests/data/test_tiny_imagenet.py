import io
import shutil

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.tiny_imagenet import tiny_imagenet

WNIDS = ["n02", "n01", "n03"]  # not in sorted order: labels follow the list, not the alphabet


def jpeg(color: tuple[int, int, int], mode: str = "RGB") -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (64, 64), color).convert(mode).save(stream, "JPEG")
    return stream.getvalue()


@pytest.fixture
def published(tmp_path):
    """Three classes in the published layout: class k is 60 (k + 1) bright; one training picture is grey only."""
    root = tmp_path / "tiny-imagenet-200"
    (root / "val" / "images").mkdir(parents=True)
    (root / "test" / "images").mkdir(parents=True)
    (root / "test" / "images" / "test_0.JPEG").write_bytes(jpeg((255, 255, 255)))
    (root / "wnids.txt").write_text("\n".join(WNIDS) + "\n")
    rows = []
    for k, wnid in enumerate(WNIDS):
        color = (60 * (k + 1),) * 3
        (root / "train" / wnid / "images").mkdir(parents=True)
        (root / "train" / wnid / "images" / f"{wnid}_0.JPEG").write_bytes(jpeg(color, "L" if k == 0 else "RGB"))
        (root / "train" / wnid / "images" / f"{wnid}_1.JPEG").write_bytes(jpeg(color))
        (root / "val" / "images" / f"val_{9 - k}.JPEG").write_bytes(jpeg(color))
        rows.append(f"val_{9 - k}.JPEG\t{wnid}\t0\t0\t62\t62")
    (root / "val" / "val_annotations.txt").write_text("\n".join(rows) + "\n")
    return root


def check(result):
    assert result.class_names == tuple(WNIDS)
    assert result.train_images.shape == (6, 64, 64, 3) and result.test_images.shape == (3, 64, 64, 3)
    np.testing.assert_array_equal(np.bincount(result.train_labels), [2, 2, 2])
    np.testing.assert_array_equal(np.sort(result.test_labels), [0, 1, 2])
    for images, labels in ((result.train_images, result.train_labels), (result.test_images, result.test_labels)):
        brightness = images.reshape(len(images), -1).mean(axis=1)
        np.testing.assert_allclose(brightness, 60 * (labels + 1), atol=2)


def test_published_folder(published):
    check(tiny_imagenet(published))


def test_published_zip_gives_the_same_as_the_folder(published, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "tiny"), "zip", tmp_path, published.name)
    packed, folder = tiny_imagenet(archive), tiny_imagenet(published)
    check(packed)
    np.testing.assert_array_equal(packed.train_images, folder.train_images)
    np.testing.assert_array_equal(packed.test_labels, folder.test_labels)


def test_arrays_give_the_same_as_the_pictures(published, tmp_path):
    pictures = tiny_imagenet(published)
    root = tmp_path / "arrays"
    root.mkdir()
    np.save(root / "train_images.npy", pictures.train_images)
    np.save(root / "train_labels.npy", pictures.train_labels.astype(np.uint8))
    np.save(root / "val_images.npy", pictures.test_images)
    np.save(root / "val_labels.npy", pictures.test_labels.astype(np.uint8))
    (root / "wnids.txt").write_text("\n".join(WNIDS))
    check(tiny_imagenet(root))


@pytest.mark.parametrize("name", ["wnids.txt", "val/val_annotations.txt"])
def test_a_missing_list_is_named(published, name):
    (published / name).unlink()
    with pytest.raises(FileNotFoundError, match=name.rpartition("/")[2]):
        tiny_imagenet(published)


def test_missing_pictures_are_named(published):
    shutil.rmtree(published / "val" / "images")
    with pytest.raises(FileNotFoundError, match="no val pictures"):
        tiny_imagenet(published)


def test_the_real_set_has_500_and_50_a_class(real_set):
    result = tiny_imagenet(real_set("tiny-imagenet-200"))
    assert result.train_images.shape == (100000, 64, 64, 3)
    np.testing.assert_array_equal(np.bincount(result.train_labels), [500] * 200)
    np.testing.assert_array_equal(np.bincount(result.test_labels), [50] * 200)
