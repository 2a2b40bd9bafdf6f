"""What the settings digests and exact_forget keep, and merging since a base, in C: the states of Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bitreplay import Learner, statefile
from bitreplay.export import image_of
from bitreplay.strategies.exact import statistics_of
from tests import tiny
from tests.core.c_learner import CLearner, Failed
from tests.core.test_c_learner import KEPT, _many, both, same

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=4, seed=3)


def test_a_class_forgotten_exactly_was_never_seen(tiny_model):
    _, c = both(tiny_model, exact_forget=True)
    never, other = both(tiny_model, exact_forget=True)
    c.learn(POOL, COLOURS)
    c.forget("green")
    others = [number for number, colour in enumerate(COLOURS) if colour != "green"]
    never.learn(POOL[others], [COLOURS[number] for number in others])
    other.learn(POOL[others], [COLOURS[number] for number in others])
    assert c.state_hash() == other.state_hash() == never.state_hash()


def test_what_was_never_learned_is_told_by_digests_alone(tiny_model):
    """A picture that might have been in the sums is taken out of them; digests refuse it, also twice."""
    python, c = both(tiny_model, digests=True)
    for learner in (python, c):
        learner.learn(POOL[:6], ["a", "a", "a", "b", "b", "b"])
    before = c.state_hash()
    for number, name in [(7, "a"), (0, "b"), (3, "a")]:
        with pytest.raises(Failed, match="never learned"):
            c.unlearn(POOL[number : number + 1], [name])
        with pytest.raises(ValueError, match="never learned"):
            python.unlearn(POOL[number], [name])
    assert c.state_hash() == before == python.state_hash()
    for learner in (python, c):
        learner.unlearn(POOL[[1]], ["a"])
    same(python, c)
    with pytest.raises(Failed, match="never learned"):
        c.unlearn(POOL[1:2], ["a"])


def test_digests_have_the_room_that_was_asked_for(tiny_model):
    python = Learner.from_pretrained(tiny_model, strategy="exact", digests=True)
    small, large = CLearner(image_of(python), pictures=3), CLearner(image_of(python), pictures=4)
    python.learn(POOL[:4], list("abca"))
    data = statefile.to_bytes(python._content())
    with pytest.raises(Failed, match="no room"):
        small.learn(POOL[:4], list("abca"))
    with pytest.raises(Failed, match="no room"):
        CLearner(image_of(python), pictures=3).from_bytes(data)
    large.learn(POOL[:4], list("abca"))
    same(python, large)
    with pytest.raises(Failed, match="no room"):
        large.merge(data)
    same(python, large)


@pytest.mark.parametrize("extra", KEPT, ids=lambda extra: " and ".join(extra) or "plain")
def test_devices_that_began_as_one_state_are_added_up(tiny_model, extra):
    """What the base saw counts once: the state of one device that saw everything."""
    base, c = both(tiny_model, **extra)
    base.learn(POOL[:5], COLOURS[:5])
    began = statefile.to_bytes(base._content())
    devices = [Learner._of(base._content(), tiny_model, "a device") for _ in range(3)]
    c.from_bytes(began)
    c.learn(POOL[5:7], COLOURS[5:7])
    for number, device in enumerate(devices):
        chosen = [7 + number, 12 + number]
        device.learn(POOL[chosen], [COLOURS[k] for k in chosen])
        c.merge(statefile.to_bytes(device._content()), began)
    joint, _ = both(tiny_model, **extra)
    seen = [*range(10), *range(12, 15)]
    joint.learn(POOL[seen], [COLOURS[k] for k in seen])
    assert c.state_hash() == joint.state_hash()
    other, _ = both(tiny_model, **extra)
    other.learn(POOL[:5], ["x"] * 5)
    for files in [(statefile.to_bytes(other._content()), began), (began, statefile.to_bytes(other._content()))]:
        with pytest.raises(Failed, match="does not contain the base"):
            c.merge(*files)
    assert c.state_hash() == joint.state_hash()


def test_products_of_classes_change_their_width_with_the_pictures(tiny_model):
    """131,072 pictures' sums are int32, one more makes them int64; and back."""
    python, _ = both(tiny_model, exact_forget=True)
    x = np.full((2, python.strategy.latent_shape[0]), 127, np.int8)
    x[1, ::2] = -5
    python.learn_encoded(x, ["a", "b"])
    state = _many(python.state(), x[0], 131_070)
    triangle = np.outer(x[0].astype(np.int64), x[0])[np.tril_indices(len(x[0]))].astype(np.int32)
    first = python.state().parts["sums"].arrays["class_products"] + np.array([[131_070], [0]], np.int32) * triangle
    arrays = {**state.parts["sums"].arrays, "class_products": first}
    python.restore(replace(state, parts={**state.parts, "sums": replace(statistics_of(state), arrays=arrays)}))
    c = CLearner(image_of(python), wide=1)
    c.from_bytes(statefile.to_bytes(python._content()))
    same(python, c)
    python.learn_encoded(x[:1], ["c"])
    c.learn_features(x[:1], ["c"])
    same(python, c)
    python.rename("a", "z")
    c.rename("a", "z")
    same(python, c)
    python.forget("c")
    c.forget("c")
    same(python, c)
