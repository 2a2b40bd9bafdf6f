"""Pictures of results: what stands in them is what was measured."""

import pytest

from bitreplay import plots
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.learning.classes import Name

pytest.importorskip("matplotlib", reason="matplotlib is an extra (plot)")


def test_a_confusion_matrix_has_its_counts_in_its_cells():
    answers: list[Name | None] = ["a", "a", "a", "b", "b", None]
    figure = plots.confusion(Evaluation.of(answers, ["a", "a", "b", "b", "b", "b"], ["a", "b"]), "$cash$.state")
    (axes,) = figure.axes
    cells = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts}
    assert cells == {(0, 0): "2", (1, 0): "1", (1, 1): "2", (1, 2): "1"}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "unknown"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert "accuracy 66.7 % on 6 pictures" in axes.get_title(loc="left")
    figure.canvas.draw()


def test_classes_that_were_not_tested_have_a_column_and_no_row():
    figure = plots.confusion(Evaluation.of(["b", "c"], ["b", "b"], ["a", "b", "c"]))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b"]
    right, wrong = (image.get_array() for image in axes.images)
    assert right.mask.tolist() == [[True, False, True]] and wrong.mask.tolist() == [[True, True, False]]


@pytest.mark.parametrize("classes", [1, 31, 200])
def test_any_number_of_classes_can_be_drawn(classes):
    names: list[Name] = [f"class {number}" for number in range(classes)]
    figure = plots.confusion(Evaluation.of([*names], names, names))
    width, height = figure.get_size_inches()
    assert 1 < width < 40 and 1 < height < 40
    assert len(figure.axes[0].texts) == (classes if classes <= 30 else 0)


def test_curves_go_where_the_values_say():
    figure = plots.curves({"one": [0.25, 0.5], "two & $": [0.1]}, "title")
    (axes,) = figure.axes
    first, second = axes.get_lines()
    assert first.get_xydata().tolist() == [[1, 25], [2, 50]] and second.get_xydata().tolist() == [[1, 10]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one 50.0 %", r"two & \$ 10.0 %"]
    with pytest.raises(ValueError, match="at least one series"):
        plots.curves({})
