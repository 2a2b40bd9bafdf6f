"""Unlearning pictures: the state that never saw them, bit for bit; what cannot have been learned is refused."""

from __future__ import annotations

import os
import resource
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, LearningStopped, StateFileError
from bitreplay.engine.possible import possible_rows
from bitreplay.engine.sums import Sums, diagonal
from bitreplay.engine.sums import add as add_sums
from bitreplay.parts.class_statistics import ClassStatisticsState
from tests import tiny
from tests.statefile.test_power import killed_at, succeeds

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=6, seed=3)
OTHERS, _ = tiny.pictures(*tiny.COLOURS, each=6, seed=4)
NAMES = ["b", "a", 10, 9, "10"]


def learner_of(model, **changes) -> Learner:
    return Learner.from_pretrained(model, strategy="exact", **changes)


def sums_of(learner: Learner) -> ClassStatisticsState:
    found = learner.state().parts["sums"]
    assert isinstance(found, ClassStatisticsState)
    return found


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_learned_and_unlearned_is_the_hash_before(tiny_model, data):
    """In any order and division, with digests and without, also when the learner went through a file's bytes."""
    learner = learner_of(tiny_model, digests=data.draw(st.booleans()))
    count = data.draw(st.integers(1, 12))
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=2 * count, max_size=2 * count))
    if data.draw(st.booleans()):
        learner.learn(POOL[:count], names[:count])
    before = learner.state_hash()
    more = np.array(data.draw(st.permutations(range(count))))
    for part in np.array_split(more, data.draw(st.integers(1, min(3, count)))):
        learner.learn(OTHERS[part], [names[count + number] for number in part])
    if data.draw(st.booleans()):
        state, learner = learner.state(), learner_of(tiny_model, digests=learner.settings.digests)
        learner.restore(state)
    gone = np.array(data.draw(st.permutations(range(count))))
    for part in np.array_split(gone, data.draw(st.integers(1, min(3, count)))):
        learner.unlearn(OTHERS[part], [names[count + number] for number in part])
    assert learner.state_hash() == before


@pytest.mark.parametrize("digests", [False, True])
def test_what_cannot_have_been_learned_is_refused_and_changes_nothing(tiny_model, digests):
    learner = learner_of(tiny_model, digests=digests)
    learner.learn(POOL[:3], ["a", "a", "b"])
    state = learner.state_hash()
    for images, labels, sentence in (
        (POOL[:1], "c", "no class 'c'"),
        (POOL[[2, 2]], "b", "Only 1 pictures of 'b'|never learned as 'b'"),
        (POOL[8:9], "b", "cannot all have been learned|never learned as 'b'"),  # the class would be empty, not its sums
        (POOL[[0, 1, 8]], ["a", "a", "b"], "cannot all have been learned|never learned as 'b'"),
        (np.full((2, 8, 8, 3), 255, np.uint8), "a", "cannot all have been learned|never learned as 'a'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            learner.unlearn(images, labels)
        assert learner.state_hash() == state and learner.labels == ["a", "b"]
    with pytest.raises(LearningStopped):
        learner.unlearn(POOL[:1], "a", cancel=lambda: True)
    assert learner.state_hash() == state


def test_digests_alone_tell_a_picture_that_was_never_learned(tiny_model):
    """Many alike pictures hide one that was not there: its sums are possible ones."""
    stranger, _ = tiny.pictures("red", each=1, seed=99)
    many, _ = tiny.pictures("red", each=200, seed=5)
    plain, careful = learner_of(tiny_model), learner_of(tiny_model, digests=True)
    for learner in (plain, careful):
        learner.learn(many, "red")
    plain.unlearn(stranger, "red")
    assert sums_of(plain).sums.pictures == 199
    with pytest.raises(ValueError, match="1 of the pictures were never learned as 'red'"):
        careful.unlearn(stranger, "red")
    careful.learn(many[:1], "blue")
    careful.unlearn(many[:1], "red")
    with pytest.raises(ValueError, match="never learned as 'red'"):
        careful.unlearn(many[:1], "red")
    careful.rename("blue", "azure")
    careful.unlearn(many[:1], "azure")
    assert careful.labels == ["red"]


def test_digests_are_in_files_and_in_the_hash_and_go_with_their_class(tiny_model, tmp_path):
    learner, plain = learner_of(tiny_model, digests=True), learner_of(tiny_model)
    for each in (learner, plain):
        each.learn(POOL, COLOURS)
    assert learner.state_hash() != plain.state_hash()
    learner.save(tmp_path / "state")
    loaded = Learner.load(tmp_path / "state", tiny_model)
    assert loaded.state_hash() == learner.state_hash() and loaded.settings.digests
    red = learner.state().parts["digests"].arrays["values"]
    loaded.forget("red")
    left = loaded.state().parts["digests"].arrays
    assert left["sizes"].tolist() == [6, 6, 6] and len(set(red) - set(left["values"])) == 6
    with pytest.raises(ValueError, match="digests"):
        plain.restore(learner.state())
    with pytest.raises(ValueError, match="digests must be False with replay"):
        Learner.from_pretrained(tiny_model, strategy="replay", digests=True)


def test_other_strategies_say_that_they_cannot(tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="replay", learning_rate=0.3)
    learner.learn(POOL, COLOURS)
    with pytest.raises(ValueError, match="Only the strategy exact can unlearn single pictures, not replay"):
        learner.unlearn(POOL[:1], "red")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_sums_of_pictures_are_possible(pictures, classes, seed, extreme):
    rng = np.random.default_rng(seed)
    x = rng.integers(-127, 128, (pictures, 3)).astype(np.int8)
    x = np.where(x < 0, -127, 127).astype(np.int8) if extreme else x
    sums = Sums.empty(3, classes)
    add_sums(sums, x, rng.integers(0, classes, pictures))
    assert possible_rows(sums.counts, sums.class_sums, sums.products[diagonal(3)], False)
    least = [
        sum(Fraction(int(s) ** 2, int(n)) for s, n in zip(column, sums.counts, strict=True) if n)
        for column in sums.class_sums.T
    ]
    short = np.array([int(value) - classes for value in least])
    assert not possible_rows(sums.counts, sums.class_sums, short, False)


# files


def saved(path, model) -> Learner:
    learner = learner_of(model)
    learner.learn(POOL, COLOURS)
    learner.save(path)
    learner.learn(OTHERS[:3], "red")
    learner.save(path)
    return learner


def unlearn(path, model) -> str:
    learner = Learner.load(path, model)
    learner.unlearn(OTHERS[:3], "red")
    learner.save(path)
    return learner.state_hash()


def test_a_killed_unlearn_loses_nothing(tiny_model, tmp_path):
    """The file holds the old state or the new one; unlearning again from the old one leaves no generation with it."""
    ends = set()
    for moment in range(1, 60, 4):
        path = tmp_path / f"state{moment}"
        old = saved(path, tiny_model).state_hash()
        killed_at(moment, lambda say, path=path: unlearn(path, tiny_model))  # type: ignore[misc]
        found = Learner.load(path, tiny_model)
        ends.add(found.state_hash())
        new = unlearn(path, tiny_model) if found.state_hash() == old else found.state_hash()
        for generation in (path, path.with_name(path.name + ".before")):
            assert Learner.load(generation, tiny_model).state_hash() == new
    assert len(ends) == 2


def test_a_full_disk_leaves_what_was_learned(tiny_model, tmp_path):
    path = tmp_path / "state"
    saved(path, tiny_model)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        with pytest.raises(StateFileError, match="The state on disk is the old one"):
            unlearn(path, tiny_model)

    assert succeeds(limited)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files


def test_a_forgotten_class_leaves_no_byte_of_its_sums_in_any_file(tiny_model, tmp_path):
    path = tmp_path / "state"
    learner = saved(path, tiny_model)
    row = sums_of(learner).names.index("red")
    total = sums_of(learner).sums.class_sums[row]
    assert any(total.tobytes() in file.read_bytes() for file in tmp_path.iterdir())
    learner.forget("red")
    learner.save(path)
    assert len(os.listdir(tmp_path)) == 3
    for file in tmp_path.iterdir():
        data = file.read_bytes()
        assert not any(total[start : start + 4].tobytes() in data for start in range(0, len(total) - 3)), file
        assert b'"red"' not in data
    assert sums_of(learner).counters["forgotten"] == 1
    assert sums_of(Learner.rollback(path, tiny_model)).counters["forgotten"] == 1
