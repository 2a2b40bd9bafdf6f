"""Sums that no pictures have: refused at every door, and never written over a state that can be loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, StateFileError, statefile
from bitreplay.cli.commands.merge import merge as merge_command
from bitreplay.core.interface import br_read
from bitreplay.engine import native_sums, possible
from bitreplay.engine.sums import Sums, add, diagonal
from bitreplay.export import image_of
from bitreplay.parts.class_statistics import ClassStatisticsState
from bitreplay.statefile import to_bytes, verify
from tests import tiny
from tests.core.c_learner import CLearner, Failed, check, reader
from tests.statefile.edited import edited

POOL, COLOURS = tiny.pictures("red", "green", "blue", each=4, seed=3)
Arrays = dict[str, np.ndarray]


def a_pair_beyond_its_squares(arrays: Arrays) -> None:
    arrays["sums.products"][1] = int(np.sqrt(int(arrays["sums.products"][0]) * int(arrays["sums.products"][2]))) + 2


def squares_below_the_sums(arrays: Arrays) -> None:
    arrays["sums.products"][diagonal(arrays["sums.class_sums"].shape[1])[1]] = 1


def three_that_cannot_vary_so(arrays: Arrays) -> None:
    """Each pair could: 1 and 2 alike, 1 and 3 alike, 2 and 3 opposite."""
    for name in ("sums.class_sums", "sums.products"):
        arrays[name][:] = 0
    arrays["sums.products"][diagonal(3)] = 400
    arrays["sums.products"][[1, 3, 4]] = 360, 360, -360


def squares_of_more_pictures(arrays: Arrays) -> None:
    arrays["sums.products"][0] = 127**2 * int(arrays["sums.counts"].sum()) + 1


CASES = [a_pair_beyond_its_squares, squares_below_the_sums, three_that_cannot_vary_so, squares_of_more_pictures]


def learner_of(model, **changes) -> Learner:
    learner = Learner.from_pretrained(model, strategy="exact", **changes)
    learner.learn(POOL, COLOURS)
    return learner


def changed(data: bytes, change: Callable[[Arrays], None]) -> bytes:
    """A file whose checksum fits."""
    return edited(data, lambda arrays, learned, others: change(arrays))


@pytest.mark.parametrize("change", CASES)
def test_it_is_refused_at_every_door(tiny_model, tmp_path, change):
    learner = learner_of(tiny_model)
    good, wrong = to_bytes(learner._content()), changed(to_bytes(learner._content()), change)
    (tmp_path / "good").write_bytes(good)
    (tmp_path / "wrong").write_bytes(wrong)
    with pytest.raises(StateFileError, match="not sums of images"):
        Learner.load(tmp_path / "wrong", tiny_model)
    with pytest.raises(StateFileError, match="not sums of images"):
        Learner.from_bytes(wrong, tiny_model)
    for base in (None, tmp_path / "good"):
        with pytest.raises(StateFileError, match="not sums of images"):
            merge_command([tmp_path / "good", tmp_path / "wrong"], tmp_path / "out", base=base)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("change", CASES)
def test_the_learner_in_c_refuses_the_same(tiny_model, change):
    learner = learner_of(tiny_model)
    good, wrong = to_bytes(learner._content()), changed(to_bytes(learner._content()), change)
    c = CLearner(image_of(learner))
    c.from_bytes(good)
    kept = c.to_bytes()
    for door in (c.from_bytes, c.merge, lambda data: c.merge(data, good), lambda data: c.merge(good, data),
                 lambda data: c.merge(data, how="take_out")):  # fmt: skip
        with pytest.raises(Failed, match="no images have these class statistics"):
            door(wrong)
        assert c.to_bytes() == kept
    check(c.core.br_learner_verify(c.learner, br_read(reader(good)), None, len(good)))
    if change is not three_that_cannot_vary_so:  # that takes a factor, which one's own files are not asked for
        with pytest.raises(Failed, match="no images have these class statistics"):
            check(c.core.br_learner_verify(c.learner, br_read(reader(wrong)), None, len(wrong)))
    assert c.to_bytes() == kept


@pytest.mark.parametrize("forgets", [False, True])
def test_what_cannot_be_loaded_replaces_nothing(tiny_model, tmp_path, forgets):
    """Whatever went wrong before: the file is opened again before it is renamed, over either generation."""
    path = tmp_path / "state"
    learner = learner_of(tiny_model)
    learner.save(path)
    learner.learn(POOL[:2], COLOURS[:2])
    learner.save(path)
    if forgets:
        learner.forget("red")
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    whole = learner._published.snapshot
    sums = whole.state.parts["sums"]
    assert isinstance(sums, ClassStatisticsState)
    arrays = {name: array.copy() for name, array in sums.arrays.items()}
    arrays["products"][0] = -1
    broken = replace(whole.state, parts={**whole.state.parts, "sums": replace(sums, arrays=arrays)})
    learner._published.snapshot = replace(whole, state=broken)
    sentence = "cannot be written: .*not sums of images.*The state on disk is the old one"
    with pytest.raises(StateFileError, match=sentence):
        learner.save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files
    learner._published.snapshot = whole
    learner.save(path)
    assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()


def test_a_disk_that_keeps_other_bytes_replaces_nothing(tiny_model, tmp_path, monkeypatch):
    path = tmp_path / "state"
    learner = learner_of(tiny_model)
    learner.save(path)
    kept = path.read_bytes()
    learner.learn(POOL[:1], COLOURS[:1])
    write = statefile.atomic_write.os.write
    monkeypatch.setattr(statefile.atomic_write.os, "write", lambda to, data: write(to, bytes(data[:-1]) + b"\x7f"))
    with pytest.raises(StateFileError, match="damaged"):
        learner.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == kept
    with pytest.raises(StateFileError, match="another state"):
        verify(path, "0" * 64)


def test_a_state_made_by_hand_is_refused(tiny_model):
    learner = learner_of(tiny_model)
    before = learner.state_hash()
    sums = learner.state().parts["sums"]
    assert isinstance(sums, ClassStatisticsState)
    arrays = {name: array.copy() for name, array in sums.arrays.items()}
    arrays["products"][1] = 2**30
    with pytest.raises(ValueError, match="not sums of images"):
        learner.restore(replace(learner.state(), parts={**learner.state().parts, "sums": replace(sums, arrays=arrays)}))
    assert learner.state_hash() == before


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32 - 1), st.integers(0, 127))
def test_sums_of_pictures_are_possible_and_have_a_factor(pictures, classes, n_features, seed, spread):
    """Reference and core, also of pictures that hardly differ, of equal numbers, and of the ends."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-spread, spread + 1, (pictures, n_features)).astype(np.int8)
    x[:, rng.integers(0, n_features)] = x[:, 0]
    x[:, rng.integers(0, n_features)] = rng.choice([-127, 127])
    sums = Sums.empty(n_features, classes)
    add(sums, x, rng.integers(0, classes, pictures))
    assert possible.possible(sums) and native_sums.possible(sums)
    assert possible.has_factor(sums) and native_sums.has_factor(sums)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_core_and_reference_refuse_the_same(n_features, classes, seed, wide, forgot):
    """Numbers near the bounds, and anywhere."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, classes) + (np.arange(classes) == 0)
    x = rng.integers(-127, 128, (int(counts.sum()), n_features)).astype(np.int8)
    sums = Sums.empty(n_features, classes)
    add(sums, x, np.repeat(np.arange(classes), counts))
    if wide:
        sums = Sums(sums.counts, sums.class_sums.astype(np.int64), sums.products.astype(np.int64))
    sums.forgot = forgot
    far = np.iinfo(sums.products.dtype)
    for array in (sums.class_sums, sums.products):
        place = rng.integers(0, array.size)
        array.reshape(-1)[place] += rng.choice([0, 0, 0, 1, -1, 5, -5, 127, -16129])
        if rng.integers(0, 8) == 0:
            array.reshape(-1)[place] = rng.choice([far.min, far.max])
    right = possible.possible(sums)
    assert native_sums.possible(sums) == right
    if right and sums.extent < 2**31:
        assert native_sums.has_factor(sums) == possible.has_factor(sums)
