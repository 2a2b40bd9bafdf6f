"""What a device sends: packed and back without a bit changed, named by lineage, refused where it is damaged."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, zoo
from bitreplay.fleet import Message, MessageError, begun, need_sendable, since
from bitreplay.fleet.message import MAGIC
from bitreplay.fleet.packing import expected_products, packed, unpacked
from bitreplay.fleet.since import content_of, marks_of
from bitreplay.planning.plan import plan
from bitreplay.settings import Settings
from tests import tiny

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=8, seed=5)


def learner_of(model, chosen=(), **changes) -> Learner:
    learner = Learner.from_pretrained(model, strategy="exact", **changes)
    if len(chosen):
        learner.learn(POOL[list(chosen)], [COLOURS[k] for k in chosen])
    return learner


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(2**62), 2**62), max_size=40), st.booleans())
def test_numbers_come_back(values, small):
    numbers = np.array(values, np.int64) >> (40 if small else 0)
    data, width = packed(numbers)
    assert unpacked(data, width, len(numbers)).tolist() == numbers.tolist()
    for wrong in (len(numbers) + 1, len(numbers) - 1):
        with pytest.raises(ValueError, match="other numbers"):
            unpacked(data, width, max(wrong, 0) if wrong >= 0 else 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.lists(st.integers(-900, 900), min_size=3, max_size=3)), max_size=4))
def test_expected_products_are_floors_of_fractions(rows):
    from fractions import Fraction
    from math import floor

    counts = np.array([count for count, _ in rows], np.int64)
    sums = np.array([row for _, row in rows], np.int64).reshape(-1, 3)
    expected = [
        sum(floor(Fraction(row[i] * row[j], count)) for count, row in rows) for i in range(3) for j in range(i + 1)
    ]
    assert expected_products(counts, sums).tolist() == expected


@pytest.mark.parametrize(
    "changes", [{}, {"digests": True}, {"exact_forget": True}, {"digests": True, "exact_forget": True}]
)
def test_a_message_has_what_was_learned_since_the_base_and_nothing_else(tiny_model, changes):
    base = learner_of(tiny_model, range(0, 32, 3), **changes)
    device = Learner.from_bytes(base.to_bytes(), tiny_model)
    new = [1, 2, 9, 10]  # two of the four classes
    device.learn(POOL[new], [COLOURS[k] for k in new])
    message = Message.from_bytes(Message.of("scale-1", device, base, 2).to_bytes())
    assert message.content.state.hash() == learner_of(tiny_model, new, **changes).state_hash()
    assert message.device == "scale-1" and message.pictures == 4 and len(message.content.state.names) == 2
    assert message.marks == marks_of(content_of(device)) - marks_of(content_of(base)) != frozenset()


def test_a_message_is_smaller_than_a_state_and_than_the_plan_says(tiny_model):
    learner = Learner.from_pretrained("react_tiny", n_components=128)
    learner.learn(POOL, COLOURS)
    size = len(Message("a", content_of(learner)).to_bytes())
    planned = plan(zoo.find("react_tiny"), Settings(n_components=128), 4)
    assert planned.message is not None and size < len(learner.to_bytes()) / 2 < planned.message
    assert planned.to_json()["message"] == planned.message > planned.state
    replaying = plan(zoo.find("react_tiny"), Settings(strategy="replay"), 4)
    assert replaying.message is None


def test_the_largest_numbers_stay_below_the_plan():
    """Random bits cannot be packed: the worst that a device can send."""
    from bitreplay.fleet.message import most_bytes

    numbers = np.random.default_rng(0).integers(-(1 << 30), 1 << 30, 200_000)
    data, width = packed(numbers)
    assert width == 4 and len(data) <= most_bytes(4 * len(numbers))


def test_lots_of_equal_pictures_have_other_marks(tiny_model):
    marks = []
    for device, lot in (("a", 0), ("a", 1), ("b", 0)):
        learner = learner_of(tiny_model)
        begun(learner, device, lot)
        learner.learn(POOL[:6], "red")
        message = Message(device, content_of(learner))
        marks.append(Message.from_bytes(message.to_bytes()).marks)
        assert learner.state_hash() == learner_of(tiny_model, range(6)).state_hash()
    assert not (marks[0] & marks[1] or marks[0] & marks[2] or marks[1] & marks[2])
    with pytest.raises(ValueError, match="knows nothing"):
        begun(learner, "a", 2)


def test_a_class_of_few_pictures_is_not_sent(tiny_model):
    learner = learner_of(tiny_model, [*range(6), 8])
    with pytest.raises(ValueError, match=r"wait for 4 of 'green'"):
        need_sendable(content_of(learner))
    need_sendable(content_of(learner), 1)
    base = content_of(learner)
    with pytest.raises(ValueError, match="nothing to send"):
        need_sendable(since(content_of(learner), base))


def test_a_flipped_bit_anywhere_is_refused(tiny_model):
    data = Message("a", content_of(learner_of(tiny_model, range(6)))).to_bytes()
    rng = np.random.default_rng(0)
    for place in rng.permutation(len(data))[:200]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(MessageError, match="damaged"):
            Message.from_bytes(bytes(damaged))
    for end in (0, 8, 40, len(data) - 1):
        with pytest.raises(MessageError):
            Message.from_bytes(data[:end])


def forged(data: bytes, **changes) -> bytes:
    """The message with another header and a checksum that fits: what an insider can write."""
    start = len(MAGIC) + 4
    size = int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.dumps(json.loads(data[start : start + size]) | changes).encode()
    body = MAGIC + len(header).to_bytes(4, "little") + header + data[start + size : -32]
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize("changes", [
    {"names": ["red", "red"]}, {"names": []}, {"names": 3}, {"n_features": 8192}, {"n_features": 10**9},
    {"n_features": "16"}, {"settings": None}, {"settings": {"strategy": "replay"}}, {"device": "../../etc"},
    {"device": ""}, {"device": None}, {"model": []}, {"lineage": "x"}, {"lineage": None}, {"forgotten": -1},
    {"forgotten": 2.5}, {"experiences": -1}, {"arrays": []}, {"arrays": [[10**9, 4, 1]]}, {"arrays": None},
    {"arrays": [[1, 3, 1]] * 3},
])  # fmt: skip
def test_forged_headers_are_refused_with_a_sentence(tiny_model, changes):
    data = Message("a", content_of(learner_of(tiny_model, range(6)))).to_bytes()
    assert Message.from_bytes(forged(data)).pictures == 6
    with pytest.raises(MessageError) as error:
        Message.from_bytes(forged(data, **changes))
    assert "\n" not in str(error.value)


def test_sums_that_no_pictures_have_are_refused(tiny_model):
    from bitreplay.fleet.message import packed as pack

    content = content_of(learner_of(tiny_model, range(6)))
    data = Message("a", content).to_bytes()
    start = len(MAGIC) + 4
    size = int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start : start + size])
    counts, _ = pack(np.array([1]))  # the sums of six pictures as those of one
    lengths = [[len(counts), 4, 1], *header["arrays"][1:]]
    old = header["arrays"][0][0]
    header_bytes = json.dumps(header | {"arrays": lengths}).encode()
    body = MAGIC + len(header_bytes).to_bytes(4, "little") + header_bytes + counts + data[start + size + old : -32]
    with pytest.raises(MessageError, match="cannot be used"):
        Message.from_bytes(body + hashlib.sha256(body).digest())
