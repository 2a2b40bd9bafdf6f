"""Generations of a state: rolled back, forgotten everywhere, reached through links, swept up, never too large."""

import os
from pathlib import Path

import pytest

from bitreplay import Learner, StateFileError, StateInUse, statefile
from bitreplay.statefile import Lock, StateFileWarning, revisions
from tests import tiny


def two_revisions(tiny_model, path):
    """One experience, saved, and a second one, saved over it."""
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=4, min_steps=1, epochs=1)
    learner.learn(*tiny.pictures("red", each=4))
    learner.save(path)
    learner.learn(*tiny.pictures("red", each=40, seed=5))
    learner.save(path)
    return learner


def test_a_rollback_that_is_refused_changes_nothing(tiny_model, tmp_path):
    path = tmp_path / "state"
    learner = two_revisions(tiny_model, path)
    for model in ("bireal18", None):
        with pytest.raises(StateFileError, match="belongs to"):
            Learner.rollback(path, model)
        assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()
    assert Learner.rollback(path, tiny_model).experiences == 1


def test_a_sample_that_was_replaced_is_forgotten_in_the_generation_before_too(tiny_model, tmp_path):
    path = tmp_path / "state"
    learner = two_revisions(tiny_model, path)
    gone = next(number for number in range(4) if number not in learner.stored()[0].ids)
    assert not learner.forget(sample=gone)
    learner.save(path)
    assert gone not in Learner.rollback(path, tiny_model).stored()[0].ids


def test_what_is_forgotten_leaves_every_file_that_is_saved_over(tiny_model, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    learner = two_revisions(tiny_model, first)
    learner.learn(*tiny.pictures("blue", each=4))
    learner.forget("red")
    learner.save(second)
    learner.save(first, overwrite=True)
    for path in (first, second):
        assert Learner.rollback(path, tiny_model).labels == ["blue"]


def test_a_lock_holds_behind_a_link_and_a_save_through_it_reaches_the_file(tiny_model, tmp_path):
    path, link = tmp_path / "state", tmp_path / "link"
    learner = two_revisions(tiny_model, path)
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
    two_revisions(tiny_model, tmp_path / "state")
    assert own.exists() and not left.exists()


def test_a_state_that_no_reader_would_take_is_not_written(tiny_model, tmp_path, monkeypatch):
    path = tmp_path / "state"
    learner = two_revisions(tiny_model, path)
    kept = path.read_bytes()
    monkeypatch.setattr(statefile, "MAX_BYTES", 1000)
    with pytest.raises(StateFileError, match="at most 1000 are allowed"):
        learner.save(path)
    assert path.read_bytes() == kept


def test_folders_that_look_like_parts_block_no_save(tiny_model, tmp_path):
    for number in (77, os.getpid(), os.getpid() + 1):
        for name in ("state", "state.before"):
            (tmp_path / f"{name}.{number}.part").mkdir()
    learner = two_revisions(tiny_model, tmp_path / "state")
    learner.forget("red")
    learner.save(tmp_path / "state")
    assert len([place for place in tmp_path.glob("*.part") if place.is_dir()]) == 6 == len([*tmp_path.glob("*.part")])


def test_a_part_that_is_a_link_is_not_followed(tiny_model, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f"state.{os.getpid()}.part").symlink_to(precious)
    two_revisions(tiny_model, tmp_path / "state")
    assert precious.read_text() == "mine"


def test_what_is_no_file_gets_no_lock(tiny_model, tmp_path):
    learner = Learner.from_pretrained(tiny_model)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for place in (Path("/dev/null"), tmp_path / "pipe", tmp_path / "folder"):
        for change in (lambda: learner.save(place), lambda: Learner.rollback(place)):  # noqa: B023
            with pytest.raises(StateFileError, match="is not a file|no revision before"):
                change()
        assert not place.with_name(f"{place.name}.lock").exists()


def test_a_failing_sync_of_the_folder_is_a_warning(tiny_model, tmp_path, monkeypatch):
    """The state is saved: an error would make callers learn it once more."""
    path = tmp_path / "state"
    learner = two_revisions(tiny_model, path)
    learner.rename("red", "crimson")

    def fail(folder):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(revisions, "sync_folder", fail)
        with pytest.warns(StateFileWarning, match=r"state is saved, but its folder could not be synced \(Input/output"):
            learner.save(path)
        assert Learner.load(path, tiny_model).labels == ["crimson"]
        with pytest.warns(StateFileWarning, match="state is rolled back, but its folder could not be synced"):
            back = Learner.rollback(path, tiny_model)
    assert back.labels == ["red"] == Learner.load(path, tiny_model).labels
    back.save(path)


def test_a_rolled_back_learner_goes_on_saving_to_its_file(tiny_model, tmp_path):
    path = tmp_path / "state"
    two_revisions(tiny_model, path)
    back = Learner.rollback(path, tiny_model)
    back.rename("red", "crimson")
    back.save(path)
    assert Learner.load(path, tiny_model).labels == ["crimson"]


@pytest.mark.parametrize("harm", ["cut off", "changed", "empty", "missing"])
def test_a_damaged_state_names_the_way_back(tiny_model, tmp_path, harm):
    path, before = tmp_path / "state", tmp_path / "state.before"
    two_revisions(tiny_model, path)
    whole = path.read_bytes()
    path.unlink()
    harmed = {"cut off": whole[:-9], "changed": whole[:-1] + b"?", "empty": b""}
    if harm in harmed:
        path.write_bytes(harmed[harm])
    with pytest.raises(
        StateFileError, match=f"The state before it is whole: bitreplay rollback {path} goes back to it"
    ):
        Learner.load(path, tiny_model)
    assert Learner.rollback(path, tiny_model).experiences == 1
    before.write_bytes(whole[:-9])
    path.write_bytes(whole[:-9])
    with pytest.raises(StateFileError, match="damaged: its checksum does not match its content.$"):
        Learner.load(path, tiny_model)


def test_there_is_no_old_state_where_there_was_none(tiny_model, tmp_path):
    learner = Learner.from_pretrained(tiny_model)
    with pytest.raises(StateFileError, match="cannot be written: No such file or directory. Nothing was saved.$"):
        learner.save(tmp_path / "none" / "state")


def test_a_rollback_of_a_missing_file_says_so_and_leaves_no_lock(tmp_path):
    with pytest.raises(StateFileError, match="state cannot be read: No such file or directory.$"):
        Learner.rollback(tmp_path / "state")
    assert list(tmp_path.iterdir()) == []
