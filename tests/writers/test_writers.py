"""Figures of a stream, read back from where they were written."""

import csv

import pytest

from bitreplay import History, Learner, follow
from bitreplay.writers import CsvWriter, TensorBoardWriter, figures
from tests import tiny

TEST = tiny.pictures("red", "green", "blue", each=4, seed=1)
STREAM = [tiny.pictures("red", "green"), tiny.pictures("blue")]


@pytest.fixture
def learner(tiny_model):
    return Learner.from_pretrained(tiny_model)


def test_every_metric_hears_of_every_step_before_the_next_is_learned(learner):
    heard: list[tuple[int, int]] = []
    steps = follow(learner, STREAM, *TEST, metrics=[lambda step: heard.append((step.number, learner.experiences))])
    found = [step.number for step in steps]
    assert found == [0, 1] and heard == [(0, 1), (1, 2)]


def test_one_function_alone_is_taken_and_what_is_none_is_refused(learner):
    heard: list[float] = []
    list(follow(learner, STREAM[:1], *TEST, metrics=lambda step: heard.append(step.evaluation.accuracy)))
    assert len(heard) == 1
    with pytest.raises(ValueError, match="metrics must be a function"):
        list(follow(learner, STREAM, *TEST, metrics=3))  # type: ignore[arg-type]


def test_csv_has_what_was_measured_and_goes_on(learner, tmp_path):
    with CsvWriter(tmp_path / "rows.csv") as rows:
        first = History(follow(learner, STREAM[:1], *TEST, metrics=rows))
    second = History(follow(learner, STREAM[1:], *TEST, metrics=CsvWriter(tmp_path / "rows.csv")))
    with open(tmp_path / "rows.csv", newline="") as file:
        read = list(csv.DictReader(file))
    steps = first.steps + second.steps
    assert [int(row["experience"]) for row in read] == [0, 1]
    for row, step in zip(read, steps, strict=True):
        assert {name: float(row[name]) for name in figures(step)} == figures(step)
    plain = {"experience", "accuracy", "seen_accuracy", "pictures", "seconds"}
    assert set(read[0]) == plain | {"class/red", "class/green", "class/blue"}
    (tmp_path / "other.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="has other columns"):
        CsvWriter(tmp_path / "other.csv")(steps[0])
    assert (tmp_path / "other.csv").read_text() == "a,b\n"


def test_tensorboard_reads_what_was_measured(learner, tmp_path):
    pytest.importorskip("tensorboard", reason="tensorboard is an extra: `make test-adapters` has it")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with TensorBoardWriter(tmp_path / "logs") as board:
        history = History(follow(learner, STREAM, *TEST, metrics=board))
    read = EventAccumulator(str(tmp_path / "logs")).Reload()
    for name in figures(history.steps[0]):
        found = [(event.step, event.value) for event in read.Scalars(name)]
        assert found == [(step.number, pytest.approx(figures(step)[name])) for step in history.steps]


def test_without_tensorboard_its_writer_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(ValueError, match=r"pip install 'bitreplay\[tensorboard\]'"):
        TensorBoardWriter(tmp_path)
