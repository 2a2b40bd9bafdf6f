"""Who may read a state: nobody else by default, and after a save whoever could before."""

import os
import stat
from typing import Any

import pytest

from bitreplay import Learner
from tests import tiny

FAST: dict[str, Any] = {"learning_rate": 0.3, "memory_per_class": 4, "min_steps": 1, "epochs": 1}
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")


@pytest.fixture
def learner(tiny_model):
    learner = Learner.from_pretrained(tiny_model, **FAST)
    learner.learn(*tiny.pictures("red", "green", each=2))
    return learner


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def open_to_all():
    """A umask that hides nothing."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_new_state_and_its_lock_are_the_owners_alone(learner, tmp_path):
    learner.save(tmp_path / "state")
    assert [mode(path) for path in sorted(tmp_path.iterdir())] == [0o600, 0o600]


@pytest.mark.parametrize("wanted", [0o600, 0o640, 0o664, 0o444])
def test_the_mode_stays_through_every_change(learner, tmp_path, tiny_model, wanted):
    path, before = tmp_path / "state", tmp_path / "state.before"
    learner.save(path)
    path.chmod(wanted)
    learner.rename("red", "cherry")
    learner.save(path)
    assert mode(path) == mode(before) == wanted
    learner.forget("cherry")
    learner.save(path)
    assert mode(path) == mode(before) == wanted
    Learner.rollback(path, tiny_model)
    assert mode(path) == wanted


def test_a_rollback_does_not_open_what_was_closed_since(learner, tmp_path, tiny_model):
    path = tmp_path / "state"
    learner.save(path)
    path.chmod(0o644)
    learner.save(path)
    path.chmod(0o600)
    Learner.rollback(path, tiny_model)
    assert mode(path) == 0o600


def test_a_copy_where_links_are_not_made_has_the_mode_too(learner, tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path, before = tmp_path / "state", tmp_path / "state.before"
    learner.save(path)
    path.chmod(0o640)
    learner.save(path)
    assert mode(path) == mode(before) == 0o640 and before.stat().st_ino != path.stat().st_ino


@as_root
def test_root_leaves_a_state_to_its_owner(learner, tmp_path, tiny_model):
    path, before = tmp_path / "state", tmp_path / "state.before"
    learner.save(path)
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    learner.forget("red")
    learner.save(path)
    for file in (path, before):
        assert (file.stat().st_uid, file.stat().st_gid, mode(file)) == (1234, 2345, 0o640)
    Learner.rollback(path, tiny_model)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


@as_root
def test_who_cannot_keep_the_group_opens_the_state_to_no_other(learner, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "state"
    learner.save(path)
    os.chown(path, 1234, 2345)
    path.chmod(0o664)
    monkeypatch.setattr(os, "fchown", refuse)
    learner.save(path)
    assert mode(path) == 0o604 and path.stat().st_gid != 2345
