import numpy as np
import pytest

from bitreplay.data import Dataset
from bitreplay.streams.scenario import grouped, new_classes, new_instances


def numbered(labels, classes):
    """A data set whose image k is the number k in its first two bytes, so that samples can be told apart."""
    labels = np.array(labels, np.int64)
    images = np.zeros((len(labels), 1, 1, 3), np.uint8)
    images[:, 0, 0, 0], images[:, 0, 0, 1] = np.divmod(np.arange(len(labels)), 256)
    return Dataset(images, labels, images[:1], labels[:1], tuple(f"class {k}" for k in range(classes)))


def identities(experience):
    return experience.images[:, 0, 0, 0].astype(int) * 256 + experience.images[:, 0, 0, 1]


@pytest.fixture
def data():
    return numbered(np.random.default_rng(5).permutation(np.repeat(np.arange(10), 33)), 10)


@pytest.mark.parametrize("sizes", [[2] * 5, [4, 3, 3], [10], [1] * 10])
def test_new_classes_come_once_and_whole(data, sizes):
    stream = list(new_classes(data, sizes, np.random.default_rng(0)))
    assert [e.index for e in stream] == list(range(len(sizes)))
    assert [len(e.classes) for e in stream] == sizes
    assert sorted(c for e in stream for c in e.classes) == list(range(10))
    for e in stream:
        assert set(e.labels.tolist()) == set(e.classes)
        assert len(e.labels) == 33 * len(e.classes)
    assert sorted(np.concatenate([identities(e) for e in stream])) == list(range(330))


def test_new_instances_share_every_class_equally(data):
    stream = list(new_instances(data, 8, np.random.default_rng(0)))
    counts = np.array([np.bincount(e.labels, minlength=10) for e in stream])
    np.testing.assert_array_equal(counts, [[5] * 10] + [[4] * 10] * 7)
    assert all(e.classes == tuple(range(10)) for e in stream)
    assert sorted(np.concatenate([identities(e) for e in stream])) == list(range(330))


@pytest.mark.parametrize("divide", [lambda d, r: new_classes(d, [2] * 5, r), lambda d, r: new_instances(d, 3, r)])
def test_images_keep_their_labels_and_the_seed_decides(data, divide):
    first, again, other = (list(divide(data, np.random.default_rng(seed))) for seed in (1, 1, 2))
    for e in first:
        np.testing.assert_array_equal(e.labels, data.train_labels[identities(e)])
    for a, b in zip(first, again, strict=True):
        assert a.classes == b.classes
        np.testing.assert_array_equal(a.images, b.images)
    assert not np.array_equal(first[0].images, other[0].images)


@pytest.mark.parametrize("divide", [lambda d, r: new_classes(d, [2] * 5, r), lambda d, r: new_instances(d, 3, r)])
def test_a_seed_is_as_good_as_its_generator(data, divide):
    expected = list(divide(data, np.random.default_rng(7)))
    for seed in (7, np.int64(7)):
        for a, b in zip(divide(data, seed), expected, strict=True):
            assert a.classes == b.classes
            np.testing.assert_array_equal(a.images, b.images)
    for wrong in (None, -1, 1.0, "7", True, np.random.RandomState(7), [7]):
        with pytest.raises(ValueError, match="rng must be a numpy Generator or a seed, an integer from 0, got"):
            divide(data, wrong)


def test_an_experience_unpacks_as_images_and_labels(data):
    for experience in new_classes(data, [5, 5], 0):
        images, labels = experience
        assert images is experience.images and labels is experience.labels


def test_all_draws_are_made_at_the_call(data):
    rng = np.random.default_rng(0)
    stream = new_classes(data, [5, 5], rng)
    rng.permutation(10)
    late = [e.classes for e in stream]
    assert late == [e.classes for e in new_classes(data, [5, 5], np.random.default_rng(0))]


@pytest.mark.parametrize("sizes", [[], [9], [5, 6], [10, 0], [11, -1], [5.0, 5.0], ["10"], [None], 10, None])
def test_sizes_that_do_not_fit_are_refused(data, sizes):
    with pytest.raises(ValueError, match="sum to the 10 classes"):
        new_classes(data, sizes, np.random.default_rng(0))


@pytest.mark.parametrize("count", [0, 34, 2.0, None, "3"])
def test_a_count_that_does_not_fit_is_refused(data, count):
    with pytest.raises(ValueError, match="one class has 33"):
        new_instances(data, count, np.random.default_rng(0))


def test_an_experience_without_an_image_is_refused():
    with pytest.raises(ValueError, match="There is no training image of class 2"):
        new_classes(numbered([0, 1, 0], 3), [1, 1, 1], np.random.default_rng(0))
    with pytest.raises(ValueError, match="one class has 0"):
        new_instances(numbered([0, 1, 0], 3), 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="one class has 0"):
        new_instances(numbered([], 0), 1, np.random.default_rng(0))


def test_groups_may_be_a_list():
    stream = list(grouped(numbered([0, 1, 0], 2), [8, 3, 8]))  # type: ignore[arg-type]
    assert [e.labels.tolist() for e in stream] == [[1], [0, 0]]
