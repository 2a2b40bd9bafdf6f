import numpy as np
import pytest

from bitreplay.data import Dataset


def small(train_labels, test_labels):
    def images(labels):
        return np.arange(len(labels), dtype=np.uint8)[:, None, None, None] * np.ones((1, 2, 2, 3), np.uint8)

    train, test = np.array(train_labels, np.int64), np.array(test_labels, np.int64)
    return Dataset(images(train), train, images(test), test, ("a", "b", "c"))


def test_limit_keeps_the_first_of_each_class_and_the_order():
    result = small([2, 0, 2, 1, 2, 0], [0, 0, 1]).limit(2)
    np.testing.assert_array_equal(result.train_labels, [2, 0, 2, 1, 0])
    np.testing.assert_array_equal(result.train_images[:, 0, 0, 0], [0, 1, 2, 3, 5])
    np.testing.assert_array_equal(result.test_labels, [0, 0, 1])


def test_limit_of_the_test_set():
    result = small([0, 1, 2], [1, 0, 1, 0]).limit(1, 1)
    np.testing.assert_array_equal(result.test_images[:, 0, 0, 0], [0, 1])


@pytest.mark.parametrize("label", [-1, 3])
def test_labels_outside_the_names_are_refused(label):
    with pytest.raises(ValueError, match=f"train_labels must be 0 to 2, got {label} to {label}"):
        small([label], [])


def test_other_types_are_refused():
    good = small([0], [0])
    with pytest.raises(ValueError, match=r"train_images must be uint8 .*, got float64 \(1, 2, 2, 3\)"):
        Dataset(good.train_images.astype(float), good.train_labels, good.test_images, good.test_labels, ("a",))
    with pytest.raises(ValueError, match=r"train_images must be uint8 .*, got list"):
        Dataset(good.train_images.tolist(), good.train_labels, good.test_images, good.test_labels, ("a",))
    with pytest.raises(ValueError, match="test_labels must be 1 int64, got list"):
        Dataset(good.train_images, good.train_labels, good.test_images, [0], ("a",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="class_names must be a tuple of strings, got None"):
        Dataset(good.train_images, good.train_labels, good.test_images, good.test_labels, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="train_labels must be 1 int64, got int32"):
        Dataset(good.train_images, good.train_labels.astype(np.int32), good.test_images, good.test_labels, ("a",))


@pytest.mark.parametrize("limits", [(0,), (-1,), ("x",), (2.0,), (True,), (1, 0), (1, "x")])
def test_a_limit_below_one_is_refused(limits):
    with pytest.raises(ValueError, match=f"A limit must be 1 or more, got {limits[-1]!r}"):
        small([0], [0]).limit(*limits)
