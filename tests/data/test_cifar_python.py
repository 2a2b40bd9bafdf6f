"""CIFAR's Python version, read without unpickling: Python 2's own bytes, Python 3's, and what must never run."""

import os
import pickle
import struct
import tarfile

import numpy as np
import pytest

from bitreplay.data.cifar import CIFAR10_NAMES, CIFAR10_PYTHON_MD5, cifar10, cifar100
from bitreplay.data.cifar_python import parse_batch, parse_pickle


def python2(pixels: np.ndarray, key: str, labels: list[int]) -> bytes:
    """A batch as Python 2's cPickle wrote the published files, instruction by instruction."""

    def text(value: str) -> bytes:
        return b"U" + bytes([len(value)]) + value.encode()

    shape = b"".join(b"M" + struct.pack("<H", n) for n in pixels.shape) + b"\x86"
    data = b"T" + struct.pack("<i", pixels.size) + pixels.tobytes()
    dtype = b"cnumpy\ndtype\nq\x09" + text("u1") + b"K\x00K\x01\x87Rq\x0a(K\x03" + text("|") + b"NNNJ" + b"\xff" * 4
    dtype += b"J" + b"\xff" * 4 + b"K\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\nq\x06cnumpy\nndarray\nq\x07K\x00\x85" + text("b") + b"\x87Rq\x08"
    array += b"(K\x01" + shape + dtype + b"\x89" + data + b"tb"
    numbers = b"]q\x04(" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    before = b"\x80\x02}q\x01(" + text("batch_label") + text("training batch 1 of 5") + text(key) + numbers
    after = text("filenames") + b"]q\x0b(" + text("a.png") + text("b.png") + b"eu."
    return before + text("data") + array + after


@pytest.fixture
def images():
    return np.random.default_rng(2).integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)


def rows(images: np.ndarray) -> np.ndarray:
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def test_the_bytes_of_python_2_are_a_pickle_that_python_reads_the_same(images):
    content = python2(rows(images), "labels", list(range(10)) + [3, 4])
    expected = pickle.loads(content, encoding="latin1")  # the oracle; the reader itself never does this
    result = parse_pickle(content, "batch")
    assert (
        set(result) == set(expected)
        and result["labels"] == expected["labels"]
        and result["filenames"] == expected["filenames"]
    )
    np.testing.assert_array_equal(result["data"], expected["data"])


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_later_versions_of_python_write_files_that_are_read_too(images, protocol):
    if protocol == 4:
        with pytest.raises(ValueError, match="it holds the instruction"):
            parse_pickle(pickle.dumps({"data": rows(images)}, protocol), "batch")
        return
    result, labels = parse_batch(pickle.dumps({"data": rows(images), "labels": [1] * 12}, protocol), "batch", "labels")
    np.testing.assert_array_equal(result, images)
    np.testing.assert_array_equal(labels, [1] * 12)


def write_cifar10(folder, images):
    folder.mkdir()
    for k, name in enumerate(CIFAR10_PYTHON_MD5):
        (folder / name).write_bytes(python2(rows(images[2 * k : 2 * k + 2]), "labels", [k, 9 - k]))


@pytest.mark.parametrize("packed", [False, True])
def test_cifar10_reads_folder_and_archive(tmp_path, images, packed):
    folder = tmp_path / "cifar-10-batches-py"
    write_cifar10(folder, images)
    if packed:
        with tarfile.open(tmp_path / "set.tar.gz", "w:gz") as tar:
            tar.add(folder, folder.name)
    result = cifar10(tmp_path / "set.tar.gz" if packed else folder)
    np.testing.assert_array_equal(result.train_images, images[:10])
    np.testing.assert_array_equal(result.train_labels, [0, 9, 1, 8, 2, 7, 3, 6, 4, 5])
    np.testing.assert_array_equal(result.test_images, images[10:])
    np.testing.assert_array_equal(result.test_labels, [5, 4])
    assert result.class_names == CIFAR10_NAMES
    with pytest.raises(ValueError, match="data_batch_1 in .* has md5"):
        cifar10(folder, check_md5=True)


def test_cifar100_takes_the_fine_labels_and_their_names(tmp_path, images):
    for name, part, labels in (("train", images[:2], [0, 99]), ("test", images[2:3], [50])):
        (tmp_path / name).write_bytes(python2(rows(part), "fine_labels", labels))
    names = [f"class_{k}" for k in range(100)]
    (tmp_path / "meta").write_bytes(pickle.dumps({"fine_label_names": names}, 2))
    result = cifar100(tmp_path)
    np.testing.assert_array_equal(result.train_images, images[:2])
    np.testing.assert_array_equal(result.train_labels, [0, 99])
    assert result.class_names == tuple(names) and result.test_labels.tolist() == [50]


class Evil:
    def __reduce__(self):
        return os.mkdir, ("it-ran",)


def test_a_file_that_would_run_something_is_refused_and_runs_nothing(tmp_path, monkeypatch, images):
    monkeypatch.chdir(tmp_path)
    for protocol in range(5):
        content = pickle.dumps({"data": Evil(), "labels": [1]}, protocol)
        with pytest.raises(ValueError, match="data_batch_1 is not one of CIFAR's files"):
            parse_batch(content, "data_batch_1", "labels")
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.filterwarnings("ignore")
def test_any_damage_is_refused_in_a_sentence(images):
    good, rng = python2(rows(images[:2]), "labels", [1, 2]), np.random.default_rng(0)
    answers = 0
    for _ in range(400):
        bad = bytearray(good)
        places = rng.integers(0, 200, 2) if rng.random() < 0.7 else rng.integers(0, len(bad), 2)
        for place in places:
            bad[place] = rng.integers(256)
        content = bytes(bad[: rng.integers(len(bad))]) if rng.random() < 0.2 else bytes(bad)
        try:
            result, labels = parse_batch(content, "data_batch_1", "labels")
        except ValueError as error:
            assert str(error).startswith("data_batch_1 ") and "\n" not in str(error)
        else:
            assert result.shape == (len(labels), 32, 32, 3)
            answers += 1
    assert 0 < answers < 400


BYTES = np.zeros((1, 3072), np.uint8)


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"data": 3},
        {"labels": [1]},
        {"data": [1], "labels": [1]},
        {"data": BYTES, "labels": [1.5]},
        {"data": BYTES.astype(float), "labels": [1]},
        {"data": BYTES, "labels": [1, 2]},
    ],
)
def test_other_contents_are_refused(value):
    with pytest.raises(ValueError, match="data_batch_1"):
        parse_batch(pickle.dumps(value, 2), "data_batch_1", "labels")
