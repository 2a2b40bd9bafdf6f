import hashlib
import tarfile

import numpy as np
import pytest

from bitreplay.data import fetch
from bitreplay.data.cifar import CIFAR10_MD5, CIFAR10_NAMES, cifar10, cifar100


def record(labels: list[int], image: np.ndarray) -> bytes:
    """The published layout, written out plane by plane as an oracle for the reader."""
    planes = [image[:, :, channel].tobytes() for channel in range(3)]
    return bytes(labels) + b"".join(planes)


@pytest.fixture
def images():
    return np.random.default_rng(1).integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)


def write_cifar10(folder, images):
    folder.mkdir()
    for k, name in enumerate(CIFAR10_MD5):
        (folder / name).write_bytes(record([k], images[2 * k]) + record([9 - k], images[2 * k + 1]))


def write_cifar100(folder, images):
    folder.mkdir()
    (folder / "train.bin").write_bytes(record([7, 0], images[0]) + record([3, 99], images[1]))
    (folder / "test.bin").write_bytes(record([1, 50], images[2]))
    (folder / "fine_label_names.txt").write_text("\n".join(f"class_{k}" for k in range(100)) + "\n")


def pack(folder):
    archive = folder.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, "inside")
    return archive


@pytest.mark.parametrize("packed", [False, True])
def test_cifar10_reads_folder_and_archive(tmp_path, images, packed):
    write_cifar10(tmp_path / "set", images)
    result = cifar10(pack(tmp_path / "set") if packed else tmp_path / "set")
    np.testing.assert_array_equal(result.train_images, images[:10])
    np.testing.assert_array_equal(result.train_labels, [0, 9, 1, 8, 2, 7, 3, 6, 4, 5])
    np.testing.assert_array_equal(result.test_images, images[10:])
    np.testing.assert_array_equal(result.test_labels, [5, 4])
    assert result.class_names == CIFAR10_NAMES


@pytest.mark.parametrize("packed", [False, True])
def test_cifar100_takes_the_fine_label(tmp_path, images, packed):
    write_cifar100(tmp_path / "set", images)
    result = cifar100(pack(tmp_path / "set") if packed else tmp_path / "set")
    np.testing.assert_array_equal(result.train_images, images[:2])
    np.testing.assert_array_equal(result.train_labels, [0, 99])
    np.testing.assert_array_equal(result.test_labels, [50])
    assert result.class_names[50] == "class_50"


def test_other_bytes_than_the_official_ones_are_refused_when_asked(tmp_path, images):
    write_cifar10(tmp_path / "set", images)
    with pytest.raises(ValueError, match="data_batch_1.bin .* has md5"):
        cifar10(tmp_path / "set", check_md5=True)


def test_a_file_without_a_known_checksum_is_not_called_checked(tmp_path, images):
    write_cifar100(tmp_path / "set", images)
    sentence = "There is no known checksum of train.bin in .*, only of the archive cifar-100-binary.tar.gz"
    with pytest.raises(ValueError, match=sentence):
        cifar100(tmp_path / "set", check_md5=True)
    with pytest.raises(ValueError, match=sentence):
        cifar100(pack(tmp_path / "set"), check_md5=True)


@pytest.mark.parametrize(("write", "read", "name"), [(write_cifar10, cifar10, "cifar10"),
                                                     (write_cifar100, cifar100, "cifar100")])  # fmt: skip
def test_the_official_archive_is_checked_as_a_whole(tmp_path, images, monkeypatch, write, read, name):
    write(tmp_path / "set", images)
    archive = pack(tmp_path / "set").rename(tmp_path / fetch.ARCHIVES[name].name)
    assert len(read(tmp_path / archive.name).class_names) in (10, 100)
    with pytest.raises(ValueError, match=f"{archive.name} has md5 .*, the official file {fetch.ARCHIVES[name].md5}"):
        read(archive, check_md5=True)
    known = fetch.Archive(fetch.ARCHIVES[name].url, hashlib.md5(archive.read_bytes()).hexdigest())
    monkeypatch.setitem(fetch.ARCHIVES, name, known)
    np.testing.assert_array_equal(read(archive, check_md5=True).train_images[0], images[0])
    assert archive.exists()


def test_a_cut_file_is_refused(tmp_path, images):
    write_cifar10(tmp_path / "set", images)
    cut = tmp_path / "set" / "test_batch.bin"
    cut.write_bytes(cut.read_bytes()[:-1])
    with pytest.raises(ValueError, match="test_batch.bin has 6145 bytes"):
        cifar10(tmp_path / "set")


def test_a_missing_file_is_named(tmp_path, images):
    write_cifar10(tmp_path / "set", images)
    (tmp_path / "set" / "data_batch_3.bin").unlink()
    with pytest.raises(FileNotFoundError, match="has no data_batch_3.bin: get it from https.*data fetch cifar10`"):
        cifar10(tmp_path / "set")
    with pytest.raises(FileNotFoundError, match="has no train.bin.*data fetch cifar100`"):
        cifar100(tmp_path / "set")


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "set").write_bytes(b"text")
    with pytest.raises(ValueError, match="is not a folder, a .zip or a .tar.gz"):
        cifar10(tmp_path / "set")


def test_the_real_cifar10_is_the_official_one(real_set):
    result = cifar10(real_set("cifar-10-batches-bin"), check_md5=True)
    assert result.train_images.shape == (50000, 32, 32, 3)
    np.testing.assert_array_equal(np.bincount(result.train_labels), [5000] * 10)
    np.testing.assert_array_equal(np.bincount(result.test_labels), [1000] * 10)


def test_the_real_cifar100_has_500_and_100_a_class(real_set):
    result = cifar100(real_set("cifar-100-binary"))
    np.testing.assert_array_equal(np.bincount(result.train_labels), [500] * 100)
    np.testing.assert_array_equal(np.bincount(result.test_labels), [100] * 100)
    assert result.class_names[0] == "apple" and result.class_names[99] == "worm"
