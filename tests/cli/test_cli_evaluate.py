"""bitreplay evaluate: the same figures as in Python, and the names of the worst pictures."""

import json
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.cells import cell_len

from bitreplay import Learner
from bitreplay.cli import matrix
from bitreplay.data.groceries import groceries
from bitreplay.evaluation.evaluation import Evaluation
from tests import tiny


@pytest.fixture
def begun(taught, tmp_path):
    """A state that knows red and green, and a folder of red, green and blue pictures."""
    images, labels = tiny.pictures("red", "green", "blue", each=4, seed=5, side=12)
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        (tmp_path / "test" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "test" / label / f"{number:02d}.png")
    return taught, images, labels


def test_evaluate_agrees_with_python(shell, begun, tiny_model):
    learner, images, labels = begun
    code, out, err = shell("evaluate", "state", "test", "--model", tiny_model, "--json")
    assert code == 0, err
    result, wanted = json.loads(out), learner.evaluate(images, labels)
    for word in ("samples", "accuracy", "seen_accuracy", "per_class"):
        assert result[word] == getattr(wanted, word), word
    order = [result["labels"].index(label) for label in wanted.labels] + [len(wanted.labels)]
    assert np.array_equal(np.array(result["confusion"])[order[:-1]][:, order], wanted.confusion)


def test_evaluate_names_the_worst_pictures(shell, begun, tiny_model):
    learner, images, labels = begun
    _, out, _ = shell("evaluate", "state", "test", "--model", tiny_model, "--worst", 100, "--json")
    result = json.loads(out)["worst"]
    shares, answers = learner.predict_proba(images), learner.predict(images)
    wrong = {k for k in range(len(labels)) if answers[k] != labels[k]}
    assert {int(one["image"][-6:-4]) for one in result} == wrong and {8, 9, 10, 11} <= wrong
    for one in result:
        k = int(one["image"][-6:-4])
        assert one["image"] == f"test/{labels[k]}/{k:02d}.png" and one["truth"] == labels[k]
        assert one["label"] == answers[k] and one["probability"] == round(shares[k].max(), 6)
    keys = [(one["probability_of_truth"], -one["probability"]) for one in result]
    assert keys == sorted(keys)
    _, out, _ = shell("evaluate", "state", "test", "--model", tiny_model, "--worst", 2, "--json")
    assert json.loads(out)["worst"] == result[:2]


def test_evaluate_prints_classes_matrix_and_names(shell, begun, tiny_model):
    learner, images, labels = begun
    code, out, _ = shell("evaluate", "state", "test", "--model", tiny_model)
    right = learner.evaluate(images, labels).accuracy
    assert code == 0 and out.startswith(f"{100 * right:.1f} % of 12 pictures of 3 classes are right, ")
    assert "most often taken for" in out and "worst predictions, in test/blue" in out and "08.png" in out
    assert "\nClasses that were never learned: blue.\n" in out


def test_evaluate_takes_a_data_set_by_name(shell, tiny_model):
    data = groceries()
    names = np.array(data.class_names)
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(data.train_images, names[data.train_labels])
    learner.save("state")
    code, out, err = shell("evaluate", "state", "groceries", "--model", tiny_model, "--json")
    assert code == 0, err
    result, wanted = json.loads(out), learner.evaluate(data.test_images, names[data.test_labels])
    assert result["accuracy"] == wanted.accuracy and result["samples"] == 661
    assert result["confusion"] == wanted.confusion.tolist() and result["per_class"] == wanted.per_class


def test_the_picture_is_drawn(shell, begun, tiny_model, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is an extra (plot)")
    code, _, err = shell("evaluate", "state", "test", "--model", tiny_model, "--plot", "c.png")
    assert code == 0, err
    with Image.open(tmp_path / "c.png") as drawn:
        assert drawn.format == "PNG" and min(drawn.size) > 150
    for place, sentence in (("c.txt", "is not a .png, .svg or .pdf"), ("none/c.png", "cannot be drawn")):
        code, _, err = shell("evaluate", "state", "test", "--model", tiny_model, "--plot", place)
        assert code == 1 and sentence in err


def test_a_picture_without_matplotlib_is_refused_before_anything_is_read(shell, begun, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    code, out, err = shell("evaluate", "state", "test", "--plot", "c.png")
    assert code == 1 and out == "" and "pip install 'bitreplay[plot]'" in err


def test_columns_of_the_matrix_stand_below_each_other_whatever_the_script():
    names: list[Any] = ["kiwi", "苹果", "ﾊﾝｶｸ", "an apple and a pear 梨 in a name"]
    evaluation = Evaluation.of(names, names, names)
    head, *rows = matrix.lines(evaluation, 80)[1:]
    assert len({cell_len(row) for row in (head, *rows)}) == 1 and "~" in rows[0]


def test_the_matrix_as_text():
    evaluation = Evaluation.of(["a", "b", "b", None], ["a", "a", "bean", "bean"], ["a", "b"])
    assert matrix.lines(evaluation, 80) == [
        "Rows are true classes, columns are answers; . is 0.",
        "       1 2 3 unknown",
        "1 a    1 1 .       .",
        "3 bean . 1 .       1",
    ]
    assert matrix.lines(evaluation, 19) == [
        "The confusion matrix of 3 classes is wider than 19 characters: --plot FILE draws it."
    ]
