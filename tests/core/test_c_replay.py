"""The replay learner in C beside the one in Python: latents, answers, state files and hashes after every change."""

from __future__ import annotations

import ctypes
import random
import re
from collections.abc import Callable
from ctypes import byref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, Settings, statefile, zoo
from bitreplay.core.interface import br_answer, br_progress
from bitreplay.engine import native
from bitreplay.export import image_of
from tests import tiny
from tests.core.c_learner import Failed, check, name_info, picture
from tests.core.c_replay import CReplay
from tests.core.test_c_learner import NAMES, POOL, PROBE, _refused
from tests.core.test_c_states import Flash, lied, resealed

SMALL: dict[str, Any] = {
    "strategy": "replay",
    "batch_size": 3,
    "replay_batch_size": 5,
    "memory_per_class": 3,
    "epochs": 1,
    "min_steps": 2,
}


def both(model, classes: int = 16, **changes: Any) -> tuple[Learner, CReplay]:
    python = Learner.from_pretrained(model, **(SMALL | changes))
    return python, CReplay(image_of(python, classes), classes=classes)


def same(python: Learner, c: CReplay) -> None:
    assert c.labels == python.labels
    assert c.state_hash() == python.state_hash()
    assert c.to_bytes() == statefile.to_bytes(python._content())
    assert c.classes() == [(row.label, row.seen, row.samples) for row in python.stored()]


def answers(python: Learner, c: CReplay) -> None:
    answered = [c.answer(image) for image in PROBE]
    assert [name for name, _, _ in answered] == python.predict(PROBE).tolist()
    assert np.array_equal(np.array([shares for _, _, shares in answered]) / 2.0**30, python.predict_proba(PROBE))


STEPS = ["learn", "learn", "learn", "forget", "forget sample", "rename", "reload", "answer"]
CHANGES = st.sampled_from(
    [
        {},
        {"bits": "8/8/16"},
        {"bits": "16/4/32", "latent_bits": 8},
        {"seed": 2**64 - 1, "learning_rate": "1/50"},
        {"epochs": 3, "learning_rate": 1},
        {"latent_bits": 2, "batch_size": 1, "replay_batch_size": 1},
    ]
)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_sequence_of_calls_ends_in_the_same_bytes(tiny_model, data):
    """Whatever is done in whatever order, both have the same names, hash and file; what one refuses the other does."""
    python, c = both(tiny_model, **data.draw(CHANGES))
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=7)):
        if step == "learn":
            chosen = data.draw(st.lists(st.integers(0, len(POOL) - 1), min_size=1, max_size=8))
            labels = [data.draw(st.sampled_from(NAMES)) for _ in chosen]
            python.learn(POOL[chosen], labels)
            c.learn(POOL[chosen], labels, steps=data.draw(st.booleans()))
        elif step == "forget":
            label = data.draw(st.sampled_from(NAMES))
            refused = _refused(lambda: python.forget(label))  # noqa: B023
            assert _refused(lambda: c.forget(label)) == refused  # noqa: B023
        elif step == "forget sample":
            sample = data.draw(st.integers(-1, 20))
            assert python.forget(sample=sample) != _refused(lambda: c.forget_sample(sample))  # noqa: B023
        elif step == "rename":
            old, new = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(NAMES))
            refused = _refused(lambda: python.rename(old, new))  # noqa: B023
            assert _refused(lambda: c.rename(old, new)) == refused  # noqa: B023
        elif step == "reload":
            other = CReplay(image_of(python))
            other.from_bytes(statefile.to_bytes(python._content()))
            python = Learner._of(statefile.from_bytes(c.to_bytes(), "C's"), tiny_model, "C's")
            c = other
        elif step == "answer" and python.labels:
            answers(python, c)
        same(python, c)


@pytest.mark.parametrize("path", native.available_isas())
@pytest.mark.parametrize("bits", ["8/1/16", "8/8/16"])
def test_a_model_of_the_zoo_learns_alike_on_every_instruction_set(path, bits, record_property):
    record_property("path", path)
    before = native.library().br_isa().decode()
    images = np.random.default_rng(1).integers(0, 256, (8, 40, 30, 3), np.uint8)
    try:
        native.set_isa(path)
        python, c = both(zoo.find("react_tiny"), bits=bits)
        assert np.array_equal([c.code(image) for image in images], python.encode(images).reshape(8, -1))
        for _ in range(2):
            python.learn(images, [1, 2, 1, 2, 3, 3, 3, 1])
            c.learn(images, [1, 2, 1, 2, 3, 3, 3, 1])
            same(python, c)
        assert [c.answer(image)[0] for image in images] == python.predict(images).tolist()
    finally:
        native.set_isa(before)


def test_rooms_for_more_classes_are_those_of_python(tiny_model):
    """16, then 32, then 64; forgotten numbers are used again."""
    python, c = both(tiny_model, classes=40)
    for first in (0, 11, 22, 28):
        labels = [f"k{(first + i) % 40}" for i in range(12)]
        python.learn(POOL[:12], labels)
        c.learn(POOL[:12], labels)
        same(python, c)
        other = CReplay(image_of(python, 40), classes=40)
        other.from_bytes(c.to_bytes())
        python.forget(labels[3])
        other.forget(labels[3])
        same(python, other)
        c = other
    assert len(tiny.inside(python).head.past) == 64
    with pytest.raises(Failed, match="no room"):
        CReplay(image_of(python, 32), classes=32).from_bytes(c.to_bytes())


def test_another_instruction_set_meanwhile_does_no_harm():
    """A larger tail may not fit then: the learner refuses everything until it is cleared."""
    before, images = native.isa(), np.concatenate([POOL, POOL])[:20]
    labels = [f"k{number}" for number in range(20)]
    try:
        native.set_isa("scalar")
        python, c = both(zoo.find("react_tiny"), classes=20)
        for path in native.available_isas():
            native.set_isa(path)
            refused = _refused(lambda: c.learn(images, labels))  # noqa: B023
            assert _refused(c.state_hash) == refused == _refused(lambda: c.answer(images[0]))
            native.set_isa("scalar")
            c.core.br_learner_clear(c.learner)
            same(python, c)
    finally:
        native.set_isa(before)


def test_a_state_may_change_what_is_read_only_while_learning(tiny_model):
    """Seed, rate, epochs and least steps are the state's own; other widths of a minibatch are refused."""
    python, c = both(tiny_model)
    other = Learner.from_pretrained(
        tiny_model, **(SMALL | {"seed": 5, "learning_rate": "1/7", "epochs": 2, "min_steps": 9})
    )
    other.learn(POOL[:5], list("abcab"))
    c.from_bytes(statefile.to_bytes(other._content()))
    other.learn(POOL[5:9], list("abcd"))
    c.learn(POOL[5:9], list("abcd"))
    same(other, c)
    before = c.to_bytes()
    for change in (
        {"batch_size": 2},
        {"replay_batch_size": 4},
        {"memory_per_class": 4},
        {"latent_bits": 2},
        {"bits": "8/1/32"},
        {"augment": True},
    ):
        another = Learner.from_pretrained(tiny_model, **(SMALL | change))
        another.learn(POOL[:5], list("abcab"))
        with pytest.raises(Failed, match="other settings"):
            c.from_bytes(statefile.to_bytes(another._content()))
    exact = Learner.from_pretrained(tiny_model, strategy="exact")
    exact.learn(POOL[:2], ["a", "b"])
    with pytest.raises(Failed, match="other settings"):
        c.from_bytes(statefile.to_bytes(exact._content()))
    assert c.to_bytes() == before


def test_the_order_of_calls_and_what_there_is_no_room_for(tiny_model):
    python = Learner.from_pretrained(tiny_model, **SMALL)
    c = CReplay(image_of(python), classes=2, samples=3, name_bytes=4)
    call, own, code = c.core, c.learner, c.code(POOL[0])
    fresh = c.state_hash()

    def add(label: Any) -> None:
        check(call.br_learner_add(own, byref(picture(POOL[0])), byref(name_info(label))))

    for wrong in (call.br_learner_end, lambda learner: call.br_learner_step(learner, None)):
        with pytest.raises(Failed, match="not begun"):
            check(wrong(own))
    with pytest.raises(Failed, match="nothing has been learned"):
        c.answer(POOL[0])
    check(call.br_learner_begin(own))
    check(call.br_learner_end(own))  # no picture: no experience
    assert c.state_hash() == fresh
    check(call.br_learner_begin(own))
    add("a")
    with pytest.raises(Failed, match="out of range"):
        add("\udcc4")  # half a character: test_c_learner.py
    for label in ("aaaaa", "b" * 9):
        with pytest.raises(Failed, match="no room"):
            add(label)
    add(7)
    with pytest.raises(Failed, match="no room"):
        add("c")
    add("a")
    with pytest.raises(Failed, match="no room"):
        add("a")
    progress = br_progress()
    check(call.br_learner_step(own, byref(progress)))
    assert (progress.done, progress.steps) == (1, 2)
    answer = br_answer()
    refused: list[Callable[[], Any]] = [
        lambda: add("a"),
        lambda: check(call.br_learner_begin(own)),
        lambda: check(call.br_learner_predict_encoded(own, code.ctypes.data_as(ctypes.c_void_p), byref(answer))),
        lambda: c.forget("a"),
        c.state_hash,
    ]
    for early in refused:
        with pytest.raises(Failed, match="not ended"):
            early()
    check(call.br_learner_end(own))
    python.learn(POOL[[0, 0, 0]], ["a", 7, "a"])
    same(python, c)
    share = br_answer(share=1)
    assert call.br_learner_predict(own, byref(picture(POOL[0])), byref(share)) != 0
    # given up: reading the state before ends it
    before = c.to_bytes()
    check(call.br_learner_begin(own))
    add(7)
    check(call.br_learner_step(own, None))
    c.from_bytes(before)
    same(python, c)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"augment": True}, "augment"), ({"unknown": "1/20"}, "unknown"), ({"strategy": "naive"}, "exact and replay")],
)
def test_what_c_does_not_have_is_not_exported(tiny_model, change, sentence):
    from bitreplay.export import model_image

    with pytest.raises(ValueError, match=sentence):
        model_image(zoo.find(tiny_model), Settings.of(**(SMALL | change)))


def test_an_end_of_counters_is_refused_as_in_python(tiny_model):
    python, c = both(tiny_model)
    python.learn(POOL[:3], ["a", "b", "a"])
    state = python.state()
    for part, counter in (("tail", "steps"), ("memory", "offered"), ("memory", "draws")):
        given_: Any = state.parts[part]
        counted = {counter: 1 << 61} if part == "memory" else {"counters": {"steps": 1 << 61}}
        late = replace(given_, **counted)
        python.restore(replace(state, parts={**state.parts, part: late}))
        c.from_bytes(statefile.to_bytes(python._content()))
        assert c.state_hash() == python.state_hash()
        with pytest.raises(Failed, match="no room"):
            c.learn(POOL[:1], ["a"])
        with pytest.raises(ValueError, match="begin a new state"):
            python.learn(POOL[:1], ["a"])


# files


def test_a_damaged_file_changes_nothing(tiny_model):
    python, c = both(tiny_model)
    python.learn(POOL[:6], COLOURS)
    data = statefile.to_bytes(python._content())
    c.learn(POOL[:2], ["x", "y"])
    before = c.to_bytes()
    generator = random.Random(0)
    for at in generator.sample(range(len(data)), 150):
        changed = bytearray(data)
        changed[at] ^= 1 << generator.randrange(8)
        with pytest.raises(Failed):
            c.from_bytes(bytes(changed))
        with pytest.raises(Failed):
            c.from_bytes(data[:at])
    assert c.to_bytes() == before


COLOURS = ["red", 7, "\\u00e4\n", "red", 7, "x"]


def test_a_file_that_lies_is_refused_or_is_a_state_for_python_too(tiny_model):
    """Bytes are changed and the checksum is made anew; both refuse the same."""
    python, c = both(tiny_model)
    python.learn(POOL[:6], COLOURS)
    python.forget(7)
    data = statefile.to_bytes(python._content())
    generator, accepted = random.Random(1), 0
    for _ in range(1000):
        sealed = resealed(lied(data, generator))
        try:
            c.from_bytes(sealed)
        except Failed as error:
            if not re.search("other settings|no room", str(error)):  # Python has any settings, and any room
                with pytest.raises(ValueError, match=r"."):
                    Learner.from_bytes(sealed, tiny_model)
            continue
        accepted += 1
        other = Learner.from_bytes(sealed, tiny_model)
        assert other.state_hash() == c.state_hash()
        c.learn(POOL[:2], ["red", "new"])
        other.learn(POOL[:2], ["red", "new"])
        assert other.state_hash() == c.state_hash()
    assert accepted > 30


def test_power_may_fail_at_any_moment_of_a_save(tiny_model):
    image = image_of(Learner.from_pretrained(tiny_model, **SMALL))
    flash, c = Flash(), CReplay(image)
    c.learn(POOL[:4], ["crimson", "b", "crimson", "b"])
    check(c.core.br_learner_save(c.learner, byref(flash.slots)))
    old, before = c.state_hash(), c.to_bytes()
    for change in ("learn", "forget"):
        hashes = set()
        for changes in range(1, 200):
            c.from_bytes(before)
            if change == "learn":
                c.learn(POOL[4:6], ["c", "crimson"])
            else:
                c.forget("crimson")
            new, cut = c.state_hash(), flash.copy(changes)
            done = c.core.br_learner_save(c.learner, byref(cut.slots)) == 0
            again = CReplay(image)
            check(c.core.br_learner_load(again.learner, byref(cut.slots)))
            hashes.add(again.state_hash())
            assert again.state_hash() == new if done else again.state_hash() in (old, new)
            if done:
                break
        assert done and hashes == {old, new}
        if change == "forget":
            assert not any(b"crimson" in place for place in cut.places)
