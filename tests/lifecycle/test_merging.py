"""States of many devices added up: one hash whatever the tree of merges; refused, warned of, cut off."""

from __future__ import annotations

import gc
import resource
import shutil
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, Settings, StateFileError, statefile
from bitreplay.cli.commands.merge import merge
from bitreplay.lifecycle.merging import MergedTwice
from bitreplay.parts.class_statistics import ClassStatistics
from bitreplay.parts.digests import Digests
from bitreplay.parts.lineage import MAX_OWN, Lineage
from bitreplay.parts.state import State
from tests import tiny
from tests.statefile.test_power import killed_at, succeeds

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=8, seed=3)
NAMES = ["b", "a", 10, 9, "10"]


def lineage_of(learner: Learner) -> Lineage:
    return Lineage.read(learner.state().note_arrays)


def learner_of(model, chosen=(), labels=COLOURS, **changes) -> Learner:
    """One that has learned chosen pictures of the pool."""
    learner = Learner.from_pretrained(model, strategy="exact", **changes)
    if len(chosen):
        learner.learn(POOL[np.array(chosen)], [labels[number] for number in chosen])
    return learner


def copy_of(learner: Learner, model) -> Learner:
    other = Learner.from_pretrained(model, learner.settings)
    other.restore(learner.state())
    return other


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_tree_of_merges_of_any_division_ends_in_one_hash(tiny_model, data):
    """With and without a base, with and without digests; no merge of different pictures is warned of."""
    changes = {"digests": data.draw(st.booleans())}
    count = data.draw(st.integers(3, len(POOL)))
    labels = data.draw(st.lists(st.sampled_from(NAMES), min_size=count, max_size=count))
    order = np.array(data.draw(st.permutations(range(count))))
    cuts = sorted(data.draw(st.sets(st.integers(1, count - 1), min_size=1, max_size=4)))
    whole = learner_of(tiny_model, range(count), labels, **changes)
    first, *rest = np.split(order, cuts)
    base = learner_of(tiny_model, first, labels, **changes) if data.draw(st.booleans()) else None
    if base is None:
        states = [learner_of(tiny_model, part, labels, **changes) for part in (first, *rest)]
    else:
        states = [copy_of(base, tiny_model) for _ in rest]
        for learner, part in zip(states, rest, strict=True):
            learner.learn(POOL[part], [labels[number] for number in part])
    with warnings.catch_warnings():
        warnings.simplefilter("error", MergedTwice)
        while len(states) > 1:
            some = data.draw(st.integers(2, len(states)))
            taken = [states.pop(data.draw(st.integers(0, len(states) - 1))) for _ in range(some)]
            taken[0].merge(*taken[1:], base=base)
            states.append(taken[0])
    (found,) = states
    assert found.state_hash() == whole.state_hash() and found.labels == whole.labels
    assert np.array_equal(found.predict_proba(POOL), whole.predict_proba(POOL))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_state_that_is_taken_out_was_never_merged(tiny_model, data):
    """Of any states, some taken out at once or later, with and without a base: the hash of a merge of the others."""
    changes = {"digests": data.draw(st.booleans()), "exact_forget": data.draw(st.booleans())}
    count = data.draw(st.integers(4, 20))
    labels = data.draw(st.lists(st.sampled_from(NAMES), min_size=count, max_size=count))
    cuts = sorted(data.draw(st.sets(st.integers(1, count - 1), min_size=2, max_size=5)))
    first, *parts = np.split(np.array(data.draw(st.permutations(range(count)))), cuts)
    base = learner_of(tiny_model, first, labels, **changes) if data.draw(st.booleans()) else None
    sessions = []
    for part in parts:
        sessions.append(learner_of(tiny_model, (), labels, **changes) if base is None else copy_of(base, tiny_model))
        sessions[-1].learn(POOL[part], [labels[number] for number in part])
    out = data.draw(st.sets(st.integers(1, len(parts) - 1), max_size=2))
    gone, late = [sessions[number] for number in out], data.draw(st.booleans())
    found = copy_of(sessions[0], tiny_model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MergedTwice)
        found.merge(*sessions[1:], base=base, without=() if late else gone)
        for session in gone if late else ():
            found.merge(base=base, without=[session])
        stays = np.concatenate([*([] if base is None else [first]), *(p for n, p in enumerate(parts) if n not in out)])
        whole = learner_of(tiny_model, stays, labels, **changes)
        assert found.state_hash() == whole.state_hash() and found.labels == whole.labels
        again = copy_of(found, tiny_model)
        again.merge(*gone, base=base)  # and can be added again without a word
    assert again.state_hash() == learner_of(
        tiny_model, range(count) if base is not None else np.concatenate(parts), labels, **changes
    ).state_hash()  # fmt: skip


def test_what_was_never_merged_cannot_be_taken_out(tiny_model):
    one, other, stranger = (learner_of(tiny_model, chosen) for chosen in ([0, 9], [1, 10], [2, 3, 11, 12]))
    one.merge(other)
    before = one.state_hash()
    for learner in (stranger, learner_of(tiny_model, [20])):
        with pytest.raises(ValueError, match="the learner to remove is not in the states that it is removed from"):
            one.merge(without=[learner])
        assert one.state_hash() == before
    one.merge(without=[other])
    assert one.state_hash() == learner_of(tiny_model, [0, 9]).state_hash()
    one.merge(without=[learner_of(tiny_model, [0, 9])])
    fresh = learner_of(tiny_model)
    assert one.state_hash() == fresh.state_hash() and lineage_of(one) == lineage_of(fresh)


def test_files_forget_what_is_taken_out(tiny_model, tmp_path):
    """Every generation of the file is rewritten, as for forget."""
    one, winter = learner_of(tiny_model, range(0, 32, 2)), learner_of(tiny_model, range(1, 32, 2))
    one.save(tmp_path / "one")
    winter.save(tmp_path / "winter")
    merge([tmp_path / "one", tmp_path / "winter"], tmp_path / "scale", json=True)
    merge([tmp_path / "one", tmp_path / "winter"], tmp_path / "scale", overwrite=True, json=True)
    merge([tmp_path / "scale"], tmp_path / "scale", without=[tmp_path / "winter"], overwrite=True, json=True)
    for name in ("scale", "scale.before"):
        assert statefile.load(tmp_path / name)[0].state.hash() == one.state_hash()


def test_names_are_united_and_renamed(tiny_model):
    labels = ["kiwi", "pear", 7, 8]
    one = learner_of(tiny_model, [0, 1], labels)
    other = learner_of(tiny_model, [2, 3], labels)
    one.merge(other, rename={"kiwi": "fruit", "pear": "fruit", 8: "eight"})
    assert one.labels == [7, "eight", "fruit"]
    wanted = learner_of(tiny_model, range(4), ["fruit", "fruit", 7, "eight"])
    assert one.state_hash() == wanted.state_hash() and one.experiences == 2
    with pytest.raises(ValueError, match="no class 'plum' in any of the states"):
        one.merge(learner_of(tiny_model, [4], ["pear"] * 5), rename={"plum": "fruit"})
    assert one.state_hash() == wanted.state_hash()


def test_a_class_that_is_forgotten_marks_the_merged_state(tiny_model):
    one, other = learner_of(tiny_model, range(24)), learner_of(tiny_model, range(24, 32))
    one.forget("red")
    one.merge(other)
    assert one.state().counters()["forgotten"] == 1
    assert one.state_hash() != learner_of(tiny_model, range(8, 32)).state_hash()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"feature_layers": "add_0"}, "learned with feature_layers 'add_0', this learner with"),
        ({"bits": "16/1/16"}, "learned with bits"),
        ({"digests": True}, "learned with digests True, this learner with False"),
        ({"strategy": "cwr"}, "Only states of the strategy exact can be merged; the other has cwr"),
    ],
)
def test_states_that_do_not_fit_are_refused_and_nothing_changes(tiny_model, changes, sentence):
    one = learner_of(tiny_model, [0, 9])
    other = Learner.from_pretrained(tiny_model, **({"strategy": "exact"} | changes))
    before = one.state_hash()
    with pytest.raises(ValueError, match=sentence):
        one.merge(other)
    assert one.state_hash() == before


def test_another_model_and_what_is_no_learner_are_refused(tiny_model, tmp_path):
    one, other = learner_of(tiny_model, [0, 9]), learner_of(tiny.model(tmp_path, seed=1), [1])
    with pytest.raises(ValueError, match=r"belongs to the model tiny1 \(\w{12}\), this learner to tiny0"):
        one.merge(other)
    with pytest.raises(ValueError, match="merged with learners, got 'state'"):
        one.merge("state")  # type: ignore[arg-type]


def test_a_state_that_does_not_contain_the_base_is_refused(tiny_model):
    base = learner_of(tiny_model, [0, 9])
    one, stranger = copy_of(base, tiny_model), learner_of(tiny_model, [1, 10, 11])
    one.learn(POOL[2:4], "red")
    for other in (stranger, learner_of(tiny_model, [0])):
        before = one.state_hash()
        with pytest.raises(ValueError, match="the other does not contain the base"):
            one.merge(other, base=base)
        assert one.state_hash() == before
    forgetful = copy_of(base, tiny_model)
    forgetful.forget("green")
    with pytest.raises(ValueError, match="does not contain the base"):
        one.merge(forgetful, base=base)


def test_what_is_added_twice_is_warned_of(tiny_model):
    """Itself, a state that went in before, a later state of that device, devices of one factory without the base."""
    one, other = learner_of(tiny_model, [0, 9]), learner_of(tiny_model, [1, 10])
    with pytest.warns(MergedTwice, match="the other has pictures in common with the states before it"):
        copy_of(one, tiny_model).merge(one)
    both = copy_of(one, tiny_model)
    both.merge(other)
    other.learn(POOL[20:22], "blue")
    with pytest.warns(MergedTwice):
        both.merge(other)
    base = learner_of(tiny_model, [2, 11])
    devices = [copy_of(base, tiny_model) for _ in range(2)]
    for number, device in enumerate(devices):
        device.learn(POOL[[number, 12 + number]], ["red", "green"])
    with pytest.warns(MergedTwice, match="name it as the base"):
        copy_of(devices[0], tiny_model).merge(devices[1])
    with pytest.warns(MergedTwice):
        copy_of(devices[0], tiny_model).merge(devices[1], devices[0], base=base)
    merged = copy_of(devices[0], tiny_model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merged.merge(devices[1], base=base)
    with pytest.warns(MergedTwice):
        merged.merge(devices[0], base=base)


def test_a_lineage_is_in_files_beside_the_hash_and_bounded(tiny_model, tmp_path):
    learner = learner_of(tiny_model, [0, 9])
    learner.save(tmp_path / "state")
    loaded = Learner.load(tmp_path / "state", tiny_model)
    assert lineage_of(loaded) == lineage_of(learner) and len(lineage_of(loaded).since) == 1
    again = learner_of(tiny_model, [9, 0])
    assert again.state_hash() == learner.state_hash() and lineage_of(again) != lineage_of(learner)
    lineage = Lineage()
    for number in range(MAX_OWN + 5):
        lineage = lineage.learned(bytes([number % 256]))
    assert len(set(lineage.since)) == MAX_OWN and Lineage.read(lineage.arrays()) == lineage
    marks: dict[str, list[np.ndarray]] = {
        "none": [], "of another type": [np.zeros(1, np.int64)] * 2, "a table": [np.zeros((1, 1), np.uint64)] * 2,
        "too long": [np.zeros(0, np.uint64), np.zeros(MAX_OWN + 1, np.uint64)],
        "out of order": [np.array([2, 1], np.uint64), np.zeros(0, np.uint64)],
        "twice": [np.array([2, 2], np.uint64), np.zeros(0, np.uint64)],
    }  # fmt: skip
    for wrong in marks.values():
        with pytest.raises(ValueError, match="lineage"):
            Lineage.read(dict(zip(("lineage.merged", "lineage.since"), wrong, strict=False)))
    learner.unlearn(POOL[[0, 9]], [COLOURS[0], COLOURS[9]])
    assert lineage_of(learner) == lineage_of(learner_of(tiny_model))


@pytest.mark.parametrize("with_base", [False, True])
def test_any_number_of_states_merge_in_the_memory_of_two(with_base, tmp_path):
    """The whole command, file to file: the sum and a state that is read; the base besides; and a matrix of twice its
    products while its factor is tried. A tenth more is allowed."""
    class_statistics = ClassStatistics(1024)
    class_statistics.make_room(["a", "b"])
    class_statistics.add(np.random.default_rng(0).integers(-127, 128, (40, 1024)).astype(np.int8), ["a", "b"] * 20)
    state = State(
        class_statistics.names,
        {"sums": class_statistics.state_dict(), "digests": Digests().state_dict()},
        {},
        {"experiences": 1},
        Lineage().arrays(),
    )
    content = statefile.Content("tiny", "0" * 64, Settings(strategy="exact"), state, 96)
    statefile.save(tmp_path / "state", content, statefile.Origin())

    def peak(states: int) -> float:
        base, out = tmp_path / "state" if with_base else None, tmp_path / f"out{states}"
        gc.collect()
        tracemalloc.start()
        merge([tmp_path / "state"] * states, out, base=base, overwrite=True, json=True)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found / state.bytes

    peak(2)
    few, many = peak(3), peak(12)
    assert many < few + 0.1 and many < 4.2 + with_base, (few, many)
    merged = statefile.load(tmp_path / "out12")[0].state
    assert merged.arrays()["sums.counts"].tolist() == ([20, 20] if with_base else [240, 240])


# files


def devices(folder, model) -> tuple[list, str]:
    """Files of three devices, and the hash of what all saw."""
    paths = []
    for number in range(3):
        learner_of(model, range(number, len(POOL), 3)).save(folder / f"device{number}")
        paths.append(folder / f"device{number}")
    return paths, learner_of(model, range(len(POOL))).state_hash()


def test_a_killed_merge_loses_nothing_and_can_be_repeated(tiny_model, tmp_path):
    """Also when it is written over one of the states that go in."""
    paths, whole = devices(tmp_path, tiny_model)
    ends = set()
    for moment in range(1, 80, 5):
        out = tmp_path / f"out{moment}"
        shutil.copy(paths[0], out)
        old = Learner.load(out, tiny_model).state_hash()
        inputs = [out, *paths[1:]]
        killed_at(moment, lambda say, out=out, inputs=inputs: merge(inputs, out, overwrite=True, json=True))  # type: ignore[misc]
        found = Learner.load(out, tiny_model).state_hash()
        assert found in (old, whole)
        ends.add(found)
        if found == old:
            merge(inputs, out, overwrite=True, json=True)
        assert Learner.load(out, tiny_model).state_hash() == whole
    assert len(ends) == 2


def test_a_full_disk_leaves_the_states_as_they_were(tiny_model, tmp_path):
    paths, _ = devices(tmp_path, tiny_model)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        with pytest.raises(StateFileError, match="File too large. The state on disk is the old one."):
            merge(paths, paths[0], overwrite=True)

    assert succeeds(limited)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files
