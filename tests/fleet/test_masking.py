"""Masked rounds: the sum is exact whoever drops out when; parts look random; what would show a device is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine.sums import LARGEST, NARROW_PICTURES
from bitreplay.fleet import Gathering, Message, begun
from bitreplay.fleet.masking.terms import Terms, new_round
from bitreplay.fleet.masking.vector import content_of as content_from
from bitreplay.fleet.masking.vector import vector_of
from bitreplay.fleet.since import content_of, marks_of
from tests.fleet.test_message import COLOURS, POOL, learner_of

pytest.importorskip("cryptography", reason="cryptography is not installed: pip install 'bitreplay[fleet]'")

from bitreplay.fleet.masking import keys, shamir  # noqa: E402
from bitreplay.fleet.masking.device import MaskedDevice  # noqa: E402
from bitreplay.fleet.masking.server import MaskedRound  # noqa: E402

NAMES = ("blue", "green", "red", "white")


def contents(model, devices, **changes):
    """One state since the base for each device, of a few pictures each, by seed."""
    rng = np.random.default_rng(devices)
    chosen = [rng.permutation(len(POOL))[: 1 + k % 3] for k in range(devices)]
    found = []
    for number, pictures in enumerate(chosen):
        learner = learner_of(model, **changes)
        begun(learner, f"d{number}", 0)
        learner.learn(POOL[pictures], [COLOURS[k] for k in pictures])
        found.append(content_of(learner))
    return chosen, found


def terms_of(devices, content, **changes):
    sums = content.state.parts["sums"]
    values = {"max_pictures": 100, "min_pictures": 1, "neighbours": 6} | changes
    return Terms(
        new_round(), devices, NAMES, sums.sums.n_features, sums.class_products is not None, **values
    )  # fmt: skip


def play(terms, found, before_shares=(), before_vector=(), before_unmask=(), kept=lambda device: device):
    """A round in one process; devices of these places stop answering at these moments. `kept` may store a device."""
    server = MaskedRound(terms)
    devices = {place: MaskedDevice.joining(terms, content) for place, content in enumerate(found)}
    server.joined({place: device.public_keys() for place, device in devices.items()})
    devices = {place: kept(device) for place, device in devices.items() if place not in before_shares}
    for place, device in devices.items():
        server.shared(place, device.shares(place, server.keys_for(place)))
    devices = {place: kept(device) for place, device in devices.items() if place not in before_vector}
    vectors = {place: device.masked(server.shares_for(place)) for place, device in devices.items()}
    for place, vector in vectors.items():
        server.came(place, vector)
    devices = {place: kept(device) for place, device in devices.items() if place not in before_unmask}
    for place, device in devices.items():
        server.unmasked(place, *device.unmasking(*server.to_unmask(place)))
    return server, vectors


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_sum_is_that_of_those_who_came_whoever_drops_out_when(tiny_model, data):
    devices = data.draw(st.integers(3, 14))
    chosen, found = contents(tiny_model, devices, exact_forget=data.draw(st.booleans()))
    terms = terms_of(devices, found[0], max_pictures=data.draw(st.sampled_from([100, 10**6])))
    assert terms.bits == (64 if terms.max_pictures == 10**6 else 32)
    near = len(terms.neighbours_of(0))
    lost = data.draw(st.lists(st.integers(0, devices - 1), unique=True, max_size=max(near - terms.threshold, 0)))
    moments = [data.draw(st.integers(0, 2)) for _ in lost]
    gone = [[place for place, moment in zip(lost, moments, strict=True) if moment == k] for k in range(3)]
    server, _ = play(
        terms, found, gone[0], gone[1], gone[2], kept=lambda device: MaskedDevice.from_bytes(device.to_bytes())
    )
    came = [place for place in range(devices) if place not in gone[0] + gone[1]]
    assert server.survivors == came
    total = server.total()
    assert total.tolist() == np.sum([vector_of(found[place], terms) for place in came], axis=0).tolist()
    marks = frozenset().union(*(marks_of(found[place]) for place in came))
    merged = content_from(total, terms, found[0], marks)
    alone = learner_of(tiny_model, np.concatenate([chosen[place] for place in came]), exact_forget=terms.by_class)
    assert merged.state.hash() == alone.state_hash() and marks_of(merged) == marks


def test_a_device_of_a_masked_round_can_ask_to_be_taken_out(tiny_model):
    chosen, found = contents(tiny_model, 5)
    terms = terms_of(5, found[0])
    gathering = Gathering(content_of(learner_of(tiny_model, range(4))))
    marks = frozenset().union(*(marks_of(content) for content in found))
    gathering.add_sums(content_from(play(terms, found)[0].total(), terms, found[0], marks), marks)
    message = Message("d2", found[2]).to_bytes()
    assert gathering.receive(message).verdict == "refused", "it would count twice"
    gathering.take_out(message)
    rest = np.concatenate([range(4), *(chosen[place] for place in (0, 1, 3, 4))]).astype(int)
    assert gathering.content().state.hash() == learner_of(tiny_model, rest).state_hash()
    with pytest.raises(ValueError, match="is not counted"):
        gathering.take_out(message)
    assert gathering.receive(message).verdict == "counted"


def test_what_the_server_gets_of_a_device_says_nothing_of_it(tiny_model):
    """Its bytes are those of a random generator, they are others each time, and without its own mask they still are."""
    _, found = contents(tiny_model, 5)
    terms = terms_of(5, found[0])
    first, second = play(terms, found)[1], play(terms, found)[1]
    true = vector_of(found[2], terms).astype("<i4").view(np.uint32)
    for vectors in (first, second):
        numbers = np.frombuffer(vectors[2], "<u4")
        assert not np.array_equal(numbers, true) and len(set(numbers.tolist())) > 0.99 * len(numbers)
        ones = np.unpackbits(np.frombuffer(vectors[2], np.uint8)).mean()
        assert abs(ones - 0.5) < 0.05
    assert np.count_nonzero(np.frombuffer(first[2], "<u4") == np.frombuffer(second[2], "<u4")) <= 2
    assert len(set(true.tolist())) < 0.99 * len(true), "a vector without masks would be noticed"


def test_a_server_that_asks_for_both_secrets_of_a_device_gets_one(tiny_model):
    _, found = contents(tiny_model, 7)
    terms = terms_of(7, found[0])
    server = MaskedRound(terms)
    devices = [MaskedDevice.joining(terms, content) for content in found]
    server.joined({place: device.public_keys() for place, device in enumerate(devices)})
    for place, device in enumerate(devices):
        server.shared(place, device.shares(place, server.keys_for(place)))
    for place, device in enumerate(devices):
        server.came(place, device.masked(server.shares_for(place)))
    with pytest.raises(ValueError, match="both came and dropped out"):
        devices[1].unmasking([0, 2, 3, 4, 5, 6], [0])
    # It tells half of the devices that device 0 came, the others that it did not: neither secret has enough shares.
    halves = {place: device.unmasking([p for p in range(7) if p not in (place, 0 if place % 2 else place)],
                                      [0] if place % 2 else [])
              for place, device in enumerate(devices) if place > 1}  # fmt: skip
    seeds = {place + 1: given[0][0] for place, given in halves.items() if 0 in given[0]}
    mask_keys = {place + 1: given[1][0] for place, given in halves.items() if 0 in given[1]}
    assert seeds and mask_keys
    for shares in (seeds, mask_keys):
        with pytest.raises(ValueError, match="4 shares are needed"):
            shamir.join(shares, terms.threshold)
    with pytest.raises(ValueError, match="each is given once"):
        devices[2].unmasking([0, 1, 3, 4, 5, 6], [])


def test_a_sum_of_few_is_not_unmasked(tiny_model):
    _, found = contents(tiny_model, 8)
    terms = terms_of(8, found[0])
    with pytest.raises(ValueError, match="their sum is not unmasked"):
        play(terms, found, before_vector=range(1, 6))
    with pytest.raises(ValueError, match="needs 3 devices"):
        terms_of(2, found[0])
    with pytest.raises(ValueError, match="cannot be found"):
        play(terms, found, before_unmask=range(5))[0].total()


def test_shares_that_the_server_changes_are_noticed(tiny_model):
    _, found = contents(tiny_model, 4)
    terms = terms_of(4, found[0])
    server = MaskedRound(terms)
    devices = [MaskedDevice.joining(terms, content) for content in found]
    server.joined({place: device.public_keys() for place, device in enumerate(devices)})
    for place, device in enumerate(devices):
        server.shared(place, device.shares(place, server.keys_for(place)))
    shares = server.shares_for(0)
    damaged = {other: data[:-1] + bytes([data[-1] ^ 1]) for other, data in shares.items()}
    with pytest.raises(ValueError, match="changed on its way"):
        devices[0].masked(damaged)
    shares = server.shares_for(1)
    swapped = dict(zip(shares, [*list(shares.values())[1:], shares[0]], strict=True))
    with pytest.raises(ValueError, match="changed on its way"):
        MaskedDevice.from_bytes(devices[1].to_bytes()).masked(swapped)


def test_nothing_wraps_at_the_extreme():
    """As many pictures as 32 bits are for, all of the largest features: the sum comes back."""
    terms = Terms("r", 4, ("a",), 2, False, NARROW_PICTURES // 4)
    assert terms.bits == 32 and LARGEST**2 * NARROW_PICTURES < 2**31
    for sign in (1, -1):
        each = np.array([0, 1, LARGEST, -LARGEST, LARGEST**2, sign * LARGEST**2, LARGEST**2], np.int64) * (
            NARROW_PICTURES // 4
        )
        total = sum((each.astype(np.uint32) for _ in range(4)), np.zeros(7, np.uint32))
        assert total.view(np.int32).tolist() == (4 * each).tolist()
    assert Terms("r", 4, ("a",), 2, False, NARROW_PICTURES // 4 + 1).bits == 64


@pytest.mark.parametrize("changes, reason", [
    ({"max_pictures": 1}, "takes 1 pictures of a device"), ({"min_pictures": 2}, "from 2 pictures on"),
])  # fmt: skip
def test_a_device_that_does_not_fit_takes_no_part(tiny_model, changes, reason):
    _, found = contents(tiny_model, 3)
    with pytest.raises(ValueError, match=reason):
        MaskedDevice.joining(terms_of(3, found[0], **changes), found[2])


def test_a_device_with_a_strange_class_digests_or_a_forgotten_class_takes_no_part(tiny_model):
    learner = learner_of(tiny_model, range(12))
    terms = terms_of(3, content_of(learner))
    odd = Terms("r", 3, ("red",), terms.n_features, False, 100, 1)
    with pytest.raises(ValueError, match="has no class 'green'"):
        vector_of(content_of(learner), odd)
    learner.forget("green")
    for content in (content_of(learner), content_of(learner_of(tiny_model, range(6), digests=True))):
        with pytest.raises(ValueError, match="cannot be masked"):
            vector_of(content, terms)


def test_any_majority_of_shares_gives_the_secret_and_fewer_do_not():
    secret = keys.new_key()
    shares = shamir.split(secret, range(1, 6), 3)
    for some in itertools.combinations(shares, 3):
        assert shamir.join({place: shares[place] for place in some}, 3) == secret
    with pytest.raises(ValueError, match="3 shares are needed"):
        shamir.join(dict(list(shares.items())[:2]), 3)
    with pytest.raises(ValueError, match="not those of one secret"):
        shamir.join(shares | {1: shares[2]}, 3)


def test_everybody_with_neighbours_is_connected():
    for devices in (3, 4, 7, 33, 100):
        terms = Terms("r", devices, ("a",), 1, False, 10)
        near = [set(terms.neighbours_of(place)) for place in range(devices)]
        assert all(place in near[other] for place in range(devices) for other in near[place])
        assert len({len(one) for one in near}) == 1 and 2 * terms.threshold > len(near[0]) >= min(32, devices - 1)
        assert Terms.from_json(terms.to_json()) == terms
