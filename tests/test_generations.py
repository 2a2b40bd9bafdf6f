"""Generations of a state: rolled back, forgotten everywhere, reached through links, swept up, never too large."""

import pytest

from bitreplay import Learner, StateFileError, StateInUse
from bitreplay.modelfile import container
from bitreplay.statefile import Lock
from tests import tiny


def two_generations(tiny_model, path):
    """One experience, saved, and a second one, saved over it."""
    learner = Learner.from_pretrained(tiny_model, rate=0.3, per_class=4, least_steps=1, epochs=1)
    learner.learn(*tiny.pictures("red", each=4))
    learner.save(path)
    learner.learn(*tiny.pictures("red", each=40, seed=5))
    learner.save(path)
    return learner


def test_a_rollback_that_is_refused_changes_nothing(tiny_model, tmp_path):
    path = tmp_path / "state"
    learner = two_generations(tiny_model, path)
    for model in ("bireal18", None):
        with pytest.raises(StateFileError, match="belongs to"):
            Learner.rollback(path, model)
        assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()
    assert Learner.rollback(path, tiny_model).experiences == 1


def test_a_sample_that_was_replaced_is_forgotten_in_the_generation_before_too(tiny_model, tmp_path):
    path = tmp_path / "state"
    learner = two_generations(tiny_model, path)
    gone = next(number for number in range(4) if number not in learner.stored()[0].ids)
    assert not learner.forget(sample=gone)
    learner.save(path)
    assert gone not in Learner.rollback(path, tiny_model).stored()[0].ids


def test_what_is_forgotten_leaves_every_file_that_is_saved_over(tiny_model, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    learner = two_generations(tiny_model, first)
    learner.learn(*tiny.pictures("blue", each=4))
    learner.forget("red")
    learner.save(second)
    learner.save(first, overwrite=True)
    for path in (first, second):
        assert Learner.rollback(path, tiny_model).labels == ["blue"]


def test_a_lock_holds_behind_a_link_and_a_save_through_it_reaches_the_file(tiny_model, tmp_path):
    path, link = tmp_path / "state", tmp_path / "link"
    learner = two_generations(tiny_model, path)
    link.symlink_to(path)
    with Lock(link) as lock:
        with pytest.raises(StateInUse):
            learner.save(path)
        learner.save(path, lock=lock)
    learner.rename("red", "crimson")
    learner.save(link)
    assert link.is_symlink() and Learner.load(path, tiny_model).labels == ["crimson"]


def test_a_writer_sweeps_away_only_what_writers_leave(tiny_model, tmp_path):
    left, own = tmp_path / "state.before.123.part", tmp_path / "state.backup.part"
    for file in (left, own):
        file.write_bytes(b"x")
    two_generations(tiny_model, tmp_path / "state")
    assert own.exists() and not left.exists()


def test_a_state_that_no_reader_would_take_is_not_written(tiny_model, tmp_path, monkeypatch):
    path = tmp_path / "state"
    learner = two_generations(tiny_model, path)
    kept = path.read_bytes()
    monkeypatch.setattr(container, "MOST_HEADER", 1000)
    with pytest.raises(StateFileError, match="header would have"):
        learner.save(path)
    assert path.read_bytes() == kept
