"""Messages in any order, late, twice, longer, from strangers: the hash of one learner that saw what was counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.fleet import Gathering, Message, begun
from bitreplay.fleet.since import content_of
from tests.fleet.test_message import COLOURS, POOL, learner_of


def lot(model, device, number, *experiences, **changes):
    """The message of a device about some experiences, which are lists of pictures."""
    learner = learner_of(model, **changes)
    begun(learner, device, number)
    for chosen in experiences:
        learner.learn(POOL[list(chosen)], [COLOURS[k] for k in chosen])
    return Message(device, content_of(learner)).to_bytes()


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_order_with_repeats_and_withdrawals_has_one_hash(tiny_model, data):
    order = data.draw(st.permutations(range(len(POOL))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(POOL) - 1), min_size=2, max_size=6)))
    base, *parts = np.split(np.array(order), cuts)
    messages = [lot(tiny_model, f"d{k}", 0, part) for k, part in enumerate(parts)]
    arrivals = data.draw(st.lists(st.integers(0, len(parts) - 1), min_size=1, max_size=3 * len(parts)))
    gathering = Gathering(content_of(learner_of(tiny_model, base)))
    for k in arrivals:
        first = not gathering.knows(Message.from_bytes(messages[k]).marks)
        assert gathering.receive(messages[k]).verdict == ("counted" if first else "repeat")
    arrived = sorted(set(arrivals))
    withdrawn = data.draw(st.sets(st.sampled_from(arrived)))
    for k in withdrawn:
        gathering.withdraw(f"d{k}")
    seen = np.concatenate([base, *(parts[k] for k in arrived if k not in withdrawn)])
    assert gathering.content().state.hash() == learner_of(tiny_model, seen).state_hash()


def test_a_device_that_sends_again_and_more_replaces_what_it_sent(tiny_model):
    gathering = Gathering()
    assert gathering.receive(lot(tiny_model, "a", 0, [0, 1])).verdict == "counted"
    assert gathering.receive(lot(tiny_model, "a", 0, [0, 1], [8, 9])).verdict == "replaced"
    assert gathering.receive(lot(tiny_model, "a", 0, [0, 1])).verdict == "repeat"
    assert gathering.receive(lot(tiny_model, "a", 1, [0, 1])).verdict == "counted"  # a new lot of equal pictures
    assert gathering.content().state.hash() == learner_of(tiny_model, [0, 1, 8, 9, 0, 1]).state_hash()
    gathering.withdraw("a")
    assert gathering.content().state.names == ()


def test_what_would_count_twice_is_refused(tiny_model):
    base = learner_of(tiny_model, range(4))
    gathering = Gathering(content_of(base))
    verdict = gathering.receive(Message("a", content_of(base)).to_bytes())
    assert (verdict.verdict, verdict.reason) == ("refused", "It contains pictures of the base or of a masked round.")
    gathering.receive(lot(tiny_model, "a", 0, [8]))
    stolen = Message("b", Message.from_bytes(lot(tiny_model, "a", 0, [8], [9])).content).to_bytes()
    verdict = gathering.receive(stolen)
    assert (verdict.verdict, verdict.reason) == ("refused", "Part of it has been counted with a.")
    assert gathering.content().state.hash() == learner_of(tiny_model, [0, 1, 2, 3, 8]).state_hash()


def test_strangers_are_refused_and_change_nothing(tiny_model):
    gathering = Gathering(content_of(learner_of(tiny_model, range(4))), min_pictures=2)
    before = gathering.content().state.hash()
    other = lot("react_tiny", "b", 0, range(6))
    for data, reason in (
        (other, "belongs to the model"),
        (lot(tiny_model, "c", 0, range(6), exact_forget=True), "exact_forget"),
        (lot(tiny_model, "d", 0, [0, 1, 8]), "from 2 pictures on"),
        (b"", "damaged"),
        (other[:-1], "damaged"),
    ):
        verdict = gathering.receive(data)
        assert verdict.verdict == "refused" and reason in verdict.reason, verdict
    assert gathering.content().state.hash() == before and len(gathering.report) == 5
    with pytest.raises(ValueError, match="Nothing of the device b"):
        gathering.withdraw("b")
