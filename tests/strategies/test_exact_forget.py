"""Products kept by class: `forget` ends in the state that never saw the class, bit for bit, and in files too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, statefile
from bitreplay.engine.sums import NARROW_PICTURES
from bitreplay.parts.class_statistics import ClassStatistics
from bitreplay.statefile import StateFileError
from tests import tiny
from tests.statefile.edited import opened, with_arrays

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=6, seed=3)
NAMES = ["b", "a", 10, "10"]


def learner_of(model, chosen=(), labels=COLOURS, **changes) -> Learner:
    learner = Learner.from_pretrained(model, strategy="exact", exact_forget=True, **changes)
    if len(chosen):
        learner.learn(POOL[np.array(chosen)], [labels[number] for number in chosen])
    return learner


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_class_that_is_forgotten_was_never_there(tiny_model, data):
    """After any experiences, merges with and without a base, unlearning and renaming; one hash, the same answers."""
    labels = data.draw(st.lists(st.sampled_from(NAMES), min_size=12, max_size=12))
    gone = data.draw(st.sampled_from(labels))
    changes = {"digests": data.draw(st.booleans())}
    cut = data.draw(st.integers(1, 11))
    one = learner_of(tiny_model, range(cut), labels, **changes)
    if data.draw(st.booleans()):  # two devices, and whether they began as one
        base = learner_of(tiny_model, range(cut), labels, **changes) if data.draw(st.booleans()) else None
        other = learner_of(tiny_model, (), labels, **changes)
        if base is not None:
            other.restore(base.state())
        other.learn(POOL[cut:12], labels[cut:])
        one.merge(other, base=base)
    else:
        one.learn(POOL[cut:12], labels[cut:])
    before = one.state_hash()
    one.learn(POOL[12:14], ["x", gone])
    one.unlearn(POOL[12:14], ["x", gone])
    assert one.state_hash() == before == learner_of(tiny_model, range(12), labels, **changes).state_hash()
    one.rename(gone, "renamed")
    one.forget("renamed")
    stays = [number for number in range(12) if labels[number] != gone]
    never = learner_of(tiny_model, stays, labels, **changes)
    assert one.state_hash() == never.state_hash() and one.labels == never.labels
    assert one.state().counters()["forgotten"] == 0
    if stays:
        assert np.array_equal(one.predict_proba(POOL), never.predict_proba(POOL))


def test_no_byte_of_the_class_stays_in_any_file(tiny_model, tmp_path):
    """Each generation is what a device that never saw the class would have written."""
    learner = learner_of(tiny_model, range(12))
    learner.save(tmp_path / "state")
    learner.learn(POOL[12:], COLOURS[12:])
    learner.save(tmp_path / "state")
    arrays, row = learner.state().arrays(), learner.labels.index("green")
    of_class = [arrays[name][row].tobytes() for name in ("sums.class_sums", "sums.class_products")]
    assert all(part in (tmp_path / "state").read_bytes() for part in of_class)
    learner.forget("green")
    learner.save(tmp_path / "state")
    never = learner_of(tiny_model, [n for n in range(24) if COLOURS[n] != "green"]).state().arrays()
    files = [path for path in tmp_path.iterdir() if path.name != "state.lock"]
    assert {path.name for path in files} == {"state", "state.before"}
    for path in files:
        data = path.read_bytes()
        assert not any(part in data for part in of_class)
        found = statefile.load(path)[0].state.arrays()
        assert found.keys() == never.keys() and all(np.array_equal(found[name], never[name]) for name in never)


def test_bytes_are_told(tiny_model):
    plain = Learner.from_pretrained(tiny_model, strategy="exact")
    learner = learner_of(tiny_model, range(24))
    plain.learn(POOL, COLOURS)
    triangle = 80 * 81 // 2 * 4
    assert learner.memory_bytes == plain.memory_bytes + 4 * triangle
    assert learner.strategy.footprint()["class_products"] == 4 * triangle
    assert "class_products" not in plain.strategy.footprint()
    assert np.array_equal(learner.predict_proba(POOL), plain.predict_proba(POOL))


def test_products_by_class_follow_the_width_of_the_sums():
    """Beyond 131,072 pictures all have 8 bytes, and 4 again when a class goes."""
    rng = np.random.default_rng(0)
    few, many = rng.integers(-127, 128, (5, 3)).astype(np.int8), np.full((NARROW_PICTURES, 3), 127, np.int8)
    class_statistics, alone = ClassStatistics(3, by_class=True), ClassStatistics(3, by_class=True)
    for each in (class_statistics, alone):
        each.make_room(["few"])
        each.add(few, ["few"] * 5)
    class_statistics.make_room(["many"])
    class_statistics.add(many, ["many"] * len(many))
    assert class_statistics.state_dict().arrays["class_products"].dtype == np.int64
    assert class_statistics.state_dict().arrays["class_products"][1].tolist() == [127**2 * NARROW_PICTURES] * 6
    once, more = ClassStatistics(3, by_class=True), ClassStatistics(3, by_class=True)
    once.combine(class_statistics.state_dict())
    more.combine(alone.state_dict())
    more.combine(class_statistics.state_dict())
    more.combine(alone.state_dict(), sign=-1)
    class_statistics.remove(many[:7], ["many"] * 7)
    assert class_statistics.state_dict().arrays["class_products"].dtype == np.int32
    once.forget("many")
    assert once.state_dict().arrays["class_products"].dtype == np.int32
    for name, array in alone.state_dict().arrays.items():
        assert np.array_equal(array, once.state_dict().arrays[name])
    assert more.state_dict().arrays["class_products"].tolist() == both_by_class(few, many).tolist()


def both_by_class(few, many):
    whole = ClassStatistics(3, by_class=True)
    whole.make_room(["few", "many"])
    whole.add(np.concatenate([few, many]), ["few"] * len(few) + ["many"] * len(many))
    return whole.state_dict().arrays["class_products"]


def test_states_that_do_not_fit_are_refused(tiny_model, tmp_path):
    one, plain = learner_of(tiny_model, range(12)), Learner.from_pretrained(tiny_model, strategy="exact")
    plain.learn(POOL[:12], COLOURS[:12])
    with pytest.raises(
        ValueError, match="learned with exact_forget False, this learner with True; they cannot be merged"
    ):
        one.merge(plain)
    with pytest.raises(ValueError, match="its class products do not match its settings"):
        one.restore(plain.state())
    with pytest.raises(ValueError, match="exact_forget must be True or False, got 'yes'"):
        Learner.from_pretrained(tiny_model, strategy="exact", exact_forget="yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="exact_forget must be False with replay"):
        Learner.from_pretrained(tiny_model, strategy="replay", exact_forget=True)
    one.save(tmp_path / "state")
    good = (tmp_path / "state").read_bytes()
    rows = opened(good)["learned/parts/sums.class_products"]
    wrong = rows.copy()
    wrong[0, 0] += 1
    far = rows + np.array([[10**6], [-(10**6)]], np.int32)
    for changed in (wrong, rows[:1], far, rows.astype(np.int64)):
        (tmp_path / "state").write_bytes(with_arrays(good, sums__class_products=changed))
        with pytest.raises(StateFileError, match="not sums of images|missing or has another type"):
            statefile.load(tmp_path / "state")
    with pytest.raises(ValueError, match="These pictures cannot all have been learned"):
        small = learner_of(tiny_model, [0, 1, 8])
        small.unlearn(POOL[20:21], COLOURS[0])
