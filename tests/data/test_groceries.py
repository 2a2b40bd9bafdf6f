import zipfile

import numpy as np
import pytest

from bitreplay.data import groceries as module
from bitreplay.data.groceries import ARCHIVE, groceries


@pytest.fixture(scope="module")
def data():
    return groceries()


def test_the_sizes_are_those_of_the_description(data):
    assert data.train_images.shape == (732, 64, 64, 3) and data.test_images.shape == (661, 64, 64, 3)
    text = ARCHIVE.with_name("groceries.md").read_text()
    for label, name in enumerate(data.class_names):
        counts = [int((part == label).sum()) for part in (data.train_labels, data.test_labels)]
        assert f"| {name} | {counts[0]} | {counts[1]} |" in text
    assert len(data.class_names) == 14 and "MIT License" in text


def test_no_photograph_stands_twice(data):
    both = np.concatenate([data.train_images, data.test_images]).reshape(732 + 661, -1)
    assert len({row.tobytes() for row in both}) == 732 + 661


def test_labels_are_those_of_the_archive(data):
    with zipfile.ZipFile(ARCHIVE) as archive:
        names = sorted(archive.namelist())
    train = [name.split("/")[1] for name in names if name.startswith("train/")]
    assert [data.class_names[label] for label in data.train_labels] == train


def test_fruit_has_the_colour_of_fruit(data):
    """Satsumas are far redder than Granny Smiths: labels and channels are not mixed up."""
    middle = data.train_images[:, 16:48, 16:48].astype(int).mean(axis=(1, 2))
    redness = middle[:, 0] - middle[:, 1]
    mean = {name: redness[data.train_labels == k].mean() for k, name in enumerate(data.class_names)}
    assert mean["Satsumas"] > 30 and mean["Granny-Smith"] < 10


def test_the_archive_stays_small():
    assert ARCHIVE.stat().st_size < 4 << 20


def test_a_missing_archive_and_an_empty_one_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        module.groceries(tmp_path / "none.zip")
    with pytest.raises(ValueError, match="no pictures"):
        module.groceries(tmp_path)
    with pytest.raises(ValueError, match="The archive of groceries must be a path, got 3"):
        module.groceries(3)  # type: ignore[arg-type]
