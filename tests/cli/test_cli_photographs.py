"""bitreplay data photographs: files in folders that `learn` reads as the data set that they come from."""

from __future__ import annotations

import json

import numpy as np

from bitreplay.cli.reading import SkippedFiles, read_labelled
from bitreplay.data.groceries import groceries


def test_the_photographs_are_those_of_the_data_set(shell, tmp_path):
    code, out, _ = shell("data", "photographs", "photos", "--json")
    data = groceries()
    assert code == 0
    assert json.loads(out) == {"folder": "photos", "classes": list(data.class_names), "train": 732, "test": 661}
    images, labels, _ = read_labelled(tmp_path / "photos" / "train", None, 64, SkippedFiles(False))
    assert labels == [data.class_names[label] for label in data.train_labels]
    assert np.array_equal(images, data.train_images)


def test_some_of_them(shell, tmp_path):
    shell("data", "photographs", "some", "--each", "3", "--classes", "Orange,Kaiser")
    found = sorted(path.parent.relative_to(tmp_path / "some").as_posix() for path in tmp_path.rglob("*.webp"))
    assert found == [
        f"{part}/{label}" for part in ("test", "train") for label in ("Kaiser", "Orange") for _ in range(3)
    ]


def test_a_class_that_is_not_there_is_refused(shell, tmp_path):
    code, _, error = shell("data", "photographs", "some", "--classes", "Orange,Brick")
    assert code == 1 and not list(tmp_path.iterdir())
    assert "There are no photographs of 'Brick'; expected some of Anjou, " in " ".join(error.split())
