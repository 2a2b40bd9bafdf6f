"""Folders of states and messages merged by a tree: one hash, a line for each file, and again after any stop."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.fleet import tree
from bitreplay.fleet.places import Place
from bitreplay.fleet.since import content_of
from bitreplay.fleet.tree import merge_tree, one_after_another
from tests.fleet.test_gathering import lot
from tests.fleet.test_message import COLOURS, POOL, learner_of


def states(folder, model, devices, base=None, **changes):
    """A state file for each device, which began as the base."""
    folder.mkdir()
    rng = np.random.default_rng(devices)
    seen = []
    for number in range(devices):
        chosen = rng.permutation(len(POOL))[: 2 + number % 3]
        learner = learner_of(model, **changes)
        if base is not None:
            learner.restore(base.state())
        learner.learn(POOL[chosen], [COLOURS[k] for k in chosen])
        (folder / f"device-{number:03}.state").write_bytes(learner.to_bytes())
        seen.append(chosen)
    return seen


@pytest.mark.parametrize("with_base", [False, True])
def test_a_folder_of_states_is_one_learner(tiny_model, tmp_path, with_base):
    base = learner_of(tiny_model, range(0, 32, 4)) if with_base else None
    seen = states(tmp_path / "in", tiny_model, 41, base)
    merged = merge_tree(tmp_path / "in", tmp_path / "work", None if base is None else content_of(base), files_a_task=3)
    alone = learner_of(tiny_model, np.concatenate([*([range(0, 32, 4)] if with_base else []), *seen]).astype(int))
    assert merged.content.state.hash() == alone.state_hash()
    assert [line.verdict for line in merged.report] == ["counted"] * 41
    assert [line.pictures for line in merged.report] == [len(chosen) for chosen in seen]


def test_messages_with_a_base(tiny_model, tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(7):
        (tmp_path / "in" / f"{number}.msg").write_bytes(lot(tiny_model, f"d{number}", 0, [number, number + 8]))
    base = learner_of(tiny_model, [30, 31])
    merged = merge_tree(tmp_path / "in", tmp_path / "work", content_of(base), files_a_task=2)
    seen = [30, 31, *(k for number in range(7) for k in (number, number + 8))]
    assert merged.content.state.hash() == learner_of(tiny_model, seen).state_hash()
    assert [line.device for line in merged.report] == [f"d{number}" for number in range(7)]


def test_who_is_refused_and_why(tiny_model, tmp_path):
    seen = states(tmp_path / "in", tiny_model, 5)
    folder = tmp_path / "in"
    good = (folder / "device-000.state").read_bytes()
    replaying = Learner.from_pretrained(tiny_model, strategy="replay", epochs=1)
    replaying.learn(POOL[:4], COLOURS[:4])
    bad = {
        "damaged.state": (good[:-3] + b"abc", "damaged"),
        "other-network.state": (learner_of("react_tiny", range(4)).to_bytes(), "belongs to the model"),
        "other-settings.state": (learner_of(tiny_model, range(4), exact_forget=True).to_bytes(), "exact_forget"),
        "replay.state": (replaying.to_bytes(), "Only states of the strategy"),
        "text.state": (b"a note", ""),
        "message.state": (lot(tiny_model, "d", 0, [1, 2]), "It is a message, the others are states."),
        "empty.state": (learner_of(tiny_model).to_bytes(), "It has learned nothing."),
    }
    for name, (data, _) in bad.items():
        (folder / name).write_bytes(data)
    (folder / "again.state").write_bytes(good)
    longer = Learner.from_bytes((folder / "device-001.state").read_bytes(), tiny_model)
    longer.learn(POOL[:3], COLOURS[:3])
    (folder / "longer.state").write_bytes(longer.to_bytes())
    merged = merge_tree(folder, tmp_path / "work", files_a_task=4)
    lines = {line.name: line for line in merged.report}
    for name, (_, reason) in bad.items():
        assert lines[name].verdict == "refused" and reason in lines[name].reason and "\n" not in lines[name].reason
    assert {lines["again.state"].verdict, lines["device-000.state"].verdict} == {"counted", "repeat"}
    assert lines["device-001.state"].reason == "longer.state holds it." and lines["longer.state"].verdict == "counted"
    alone = learner_of(tiny_model, np.concatenate([*seen, range(3)]).astype(int))
    assert merged.content.state.hash() == alone.state_hash()


def test_a_folder_of_strangers_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(ValueError, match="There are no files"):
        merge_tree(tmp_path / "in", tmp_path / "work")
    (tmp_path / "in" / "a").write_text("hello")
    with pytest.raises(ValueError, match="No file of .* can be merged: a: "):
        merge_tree(tmp_path / "in", tmp_path / "work")


def test_a_merge_that_was_stopped_goes_on(tiny_model, tmp_path, monkeypatch):
    seen = states(tmp_path / "in", tiny_model, 20)
    read: list[str] = []
    plain = Place.read

    def noted(self, name):
        read.append(name)
        return plain(self, name)

    monkeypatch.setattr(Place, "read", noted)

    def stops(tasks):
        for number, used in enumerate(one_after_another(tasks)):
            if number == 6:
                raise KeyboardInterrupt
            yield used

    with pytest.raises(KeyboardInterrupt):
        merge_tree(tmp_path / "in", tmp_path / "work", files_a_task=2, run=stops)
    before = {name for name in read if name.startswith("device")}
    read.clear()
    merged = merge_tree(tmp_path / "in", tmp_path / "work", files_a_task=2)
    again = {name for name in read if name.startswith("device")} - {"device-000.state"}  # the first says what they are
    assert 12 <= len(before) <= 14 and len(again) <= 20 - 12 and not again & set(sorted(before)[:12])
    assert merged.content.state.hash() == learner_of(tiny_model, np.concatenate(seen)).state_hash()
    (tmp_path / "in" / "device-003.state").write_bytes((tmp_path / "in" / "device-004.state").read_bytes())
    changed = merge_tree(tmp_path / "in", tmp_path / "work", files_a_task=2)
    rest = np.concatenate([chosen for number, chosen in enumerate(seen) if number != 3])
    assert changed.content.state.hash() == learner_of(tiny_model, rest).state_hash(), (
        "a file that changed is read again"
    )


def test_object_stores_by_fsspec(tiny_model, tmp_path):
    pytest.importorskip("fsspec", reason="fsspec comes with the extra ray")
    seen = states(tmp_path / "in", tiny_model, 6)
    bucket = Place("memory://bucket/states")
    for path in (tmp_path / "in").iterdir():
        bucket.write(path.name, path.read_bytes())
    merged = merge_tree("memory://bucket/states", "memory://bucket/work", files_a_task=2)
    assert merged.content.state.hash() == learner_of(tiny_model, np.concatenate(seen)).state_hash()
    with pytest.raises(ValueError, match="cannot be opened"):
        Place("nothing://here")


def test_a_task_that_dies_in_the_middle_leaves_nothing_that_counts(tiny_model, tmp_path, monkeypatch):
    """Between the sum and its report: the sum is written again."""
    seen = states(tmp_path / "in", tiny_model, 6)
    plain = Place.write

    def dies(self, name, data):
        if name.endswith(".json"):
            raise OSError("the power failed")
        plain(self, name, data)

    monkeypatch.setattr(tree.Place, "write", dies)
    with pytest.raises(OSError, match="power"):
        merge_tree(tmp_path / "in", tmp_path / "work", files_a_task=2)
    monkeypatch.setattr(tree.Place, "write", plain)
    merged = merge_tree(tmp_path / "in", tmp_path / "work", files_a_task=2)
    assert merged.content.state.hash() == learner_of(tiny_model, np.concatenate(seen)).state_hash()
