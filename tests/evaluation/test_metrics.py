import numpy as np
import pytest

from bitreplay.evaluation.metrics import (
    accuracy,
    accuracy_on,
    backward_transfer,
    confusion_matrix,
    forgetting,
)


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 200)
    return np.where(rng.random(200) < 0.6, labels, rng.integers(0, 5, 200)), labels


def test_confusion_matrix_agrees_with_counting(answers):
    predictions, labels = answers
    confusion = confusion_matrix(predictions, labels, 5)
    for true in range(5):
        for said in range(5):
            assert confusion[true, said] == sum((labels == true) & (predictions == said))


@pytest.mark.parametrize("wrong", [-1, 3])
def test_confusion_matrix_refuses_a_class_out_of_range(wrong):
    with pytest.raises(ValueError, match=f"Classes must be 0 to 2, got {wrong} to {wrong}"):
        confusion_matrix(np.array([wrong]), np.array([0]), 3)


def test_the_three_accuracies_agree(answers):
    predictions, labels = answers
    confusion = confusion_matrix(predictions, labels, 5)
    assert accuracy(predictions, labels) == confusion.trace() / 200
    for label, row in enumerate(confusion):
        assert row[label] / row.sum() == accuracy_on([label], predictions, labels)
    assert accuracy_on(range(5), predictions, labels) == accuracy(predictions, labels)


def test_seen_classes_leave_out_the_samples_of_others():
    predictions, labels = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])
    assert accuracy(predictions, labels) == 0.25
    assert accuracy_on({0, 1}, predictions, labels) == 0.5


def test_no_samples_or_other_shapes_are_refused():
    with pytest.raises(ValueError, match="as many predictions as labels"):
        accuracy(np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="as many predictions as labels"):
        accuracy(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="as many predictions as labels"):
        accuracy_on([7], np.zeros(2), np.zeros(2))


def test_forgetting_takes_the_best_earlier_accuracy_and_transfer_the_first():
    table = np.array([[0.5, 0.0, 0.0], [0.75, 0.25, 0.0], [0.25, 0.5, 1.0]])
    assert forgetting(table) == ((0.75 - 0.25) + (0.25 - 0.5)) / 2
    assert backward_transfer(table) == ((0.25 - 0.5) + (0.5 - 0.25)) / 2


def test_accuracies_before_a_class_was_learned_do_not_count():
    table = np.array([[1.0, 0.9], [1.0, 0.5]])
    assert forgetting(table) == 0.0
    three = np.array([[1.0, 0.9, 0.9], [1.0, 0.5, 0.9], [1.0, 0.5, 0.5]])
    assert forgetting(three) == 0.0


def test_one_experience_forgets_nothing():
    assert forgetting(np.array([[0.7]])) == backward_transfer(np.array([[0.7]])) == 0.0


def test_lists_do_as_well_as_arrays():
    table = [[0.75, 0.0, 0.0], [0.5, 0.75, 0.0], [0.25, 0.5, 1.0]]
    assert accuracy([0, 1, 1, 0], [0, 1, 1, 2]) == 0.75 and accuracy(["a", "b"], ["a", "a"]) == 0.5
    assert accuracy_on([0, 1], [0, 1, 1, 0], [0, 1, 1, 2]) == 1.0
    assert confusion_matrix([0, 1, 1, 0], [0, 1, 1, 2], 3).tolist() == [[1, 0, 0], [0, 2, 0], [1, 0, 0]]
    assert confusion_matrix([], [], 2).tolist() == [[0, 0], [0, 0]]
    assert forgetting(table) == 0.375 and backward_transfer(table) == -0.375
    assert forgetting([]) == backward_transfer([]) == 0.0


@pytest.mark.parametrize("table", [[0.5, 0.5], [[0.5, 0.5]], 0.5, np.zeros((2, 2, 2))])
def test_a_table_that_is_not_square_is_refused(table):
    for metric in (forgetting, backward_transfer):
        with pytest.raises(ValueError, match="The table needs one row and one column per experience, got the shape"):
            metric(table)


def test_lists_that_do_not_fit_are_refused():
    for measure in (accuracy, lambda said, truth: accuracy_on([0], said, truth)):
        with pytest.raises(ValueError, match="as many predictions as labels"):
            measure([0, 1], [0])
    with pytest.raises(ValueError, match="as many predictions as labels"):
        confusion_matrix([0, 1], [0], 2)
    with pytest.raises(ValueError, match="Classes must be integers, got float64"):
        confusion_matrix([0.5], [0], 2)
