"""Lines of docs/fleet.md's threat model that other tests do not attack. Where it says "no", the attack works."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.fleet import Gathering, Message, begun, since
from bitreplay.fleet.device import Device
from bitreplay.fleet.since import marks_of
from bitreplay.parts.lineage import Lineage, brought
from bitreplay.sections.native import mark_of
from tests.fleet.test_gathering import lot
from tests.fleet.test_message import COLOURS, POOL, learner_of

pytest.importorskip("cryptography", reason="cryptography is not installed: pip install 'bitreplay[fleet]'")

from bitreplay.fleet import release  # noqa: E402
from bitreplay.fleet.masking import keys, shamir  # noqa: E402
from bitreplay.fleet.masking.device import MaskedDevice  # noqa: E402
from bitreplay.fleet.masking.server import MaskedRound  # noqa: E402
from bitreplay.fleet.masking.vector import content_of as content_from  # noqa: E402
from bitreplay.fleet.masking.vector import vector_of  # noqa: E402
from bitreplay.fleet.places import Place  # noqa: E402
from tests.fleet.test_masking import contents, play, terms_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def test_a_server_reads_the_features_of_a_single_picture_from_an_open_message(tiny_model):
    learner = learner_of(tiny_model, [0])
    message = Message.from_bytes(Message.of("a", learner, min_pictures=1).to_bytes())
    sums = message.content.state.parts["sums"].arrays["class_sums"]
    assert np.array_equal(sums[0], learner.encode(POOL[:1])[0])
    with pytest.raises(ValueError, match="the sums of fewer would show them"):
        Message.of("a", learner)


def test_the_difference_of_two_releases_is_what_came_between(tiny_model):
    gathering = Gathering(learner_of(tiny_model, range(4)))
    before = gathering.content()
    gathering.receive(lot(tiny_model, "a", 0, [8, 9]))
    assert since(gathering.content(), before).state.hash() == learner_of(tiny_model, [8, 9]).state_hash()


def test_a_server_with_everybody_else_reads_the_last_device_of_a_masked_round(tiny_model):
    _, found = contents(tiny_model, 6)
    terms = terms_of(6, found[0])
    total = play(terms, found)[0].total()
    others = np.sum([vector_of(content, terms) for content in found[1:]], axis=0)
    assert np.array_equal(total - others, vector_of(found[0], terms))


@pytest.mark.parametrize("colluding", [4, 3])
def test_a_server_needs_a_majority_of_a_devices_neighbours_to_read_it(tiny_model, colluding):
    """Neighbours that give away all that they hold: 4 of 6 are enough, 3 are not."""
    _, found = contents(tiny_model, 7)
    terms = terms_of(7, found[0])
    assert terms.threshold == 4
    server, devices = MaskedRound(terms), [MaskedDevice.joining(terms, content) for content in found]
    public = {place: device.public_keys() for place, device in enumerate(devices)}
    server.joined(public)
    for place, device in enumerate(devices):
        server.shared(place, device.shares(place, server.keys_for(place)))
    vectors = [device.masked(server.shares_for(place)) for place, device in enumerate(devices)]
    traitors = range(1, 1 + colluding)
    seeds = {place + 1: bytes.fromhex(devices[place].held["0"][0]) for place in traitors}
    private = {place + 1: bytes.fromhex(devices[place].held["0"][1]) for place in traitors}
    if colluding < terms.threshold:
        with pytest.raises(ValueError, match="shares are needed"):
            shamir.join(seeds, terms.threshold)
        guessed = shamir.join(seeds, colluding) if _fits(seeds, colluding) else b""
        assert guessed != bytes.fromhex(devices[0].seed)
        return
    own = np.frombuffer(vectors[0], "<u4") - keys.mask(shamir.join(seeds, 4), terms.length, terms.bits)
    key = shamir.join(private, 4)
    for other in terms.neighbours_of(0):
        own = own - keys.mask(keys.agreed(key, public[other][0], f"mask {terms.round}".encode()), terms.length, 32)
    assert np.array_equal(own.view("<i4"), vector_of(found[0], terms))


def _fits(shares, threshold) -> bool:
    try:
        shamir.join(shares, threshold)
    except ValueError:
        return False
    return True


def test_possible_lies_are_counted_and_can_be_taken_out(tiny_model):
    """An insider who gives all pictures a wrong name."""
    honest = learner_of(tiny_model, range(24))
    gathering = Gathering(honest)
    before = gathering.content().state.hash()
    liar = learner_of(tiny_model)
    begun(liar, "liar", 0)
    liar.learn(np.repeat(POOL[:8], 20, axis=0), "green")
    assert gathering.receive(Message.of("liar", liar).to_bytes()).verdict == "counted"
    assert COLOURS[0] == "red"
    assert "green" in Learner.from_bytes(gathering.state_bytes(), tiny_model).predict(POOL[:8]).tolist()
    gathering.withdraw("liar")
    assert gathering.content().state.hash() == before


def test_impossible_lies_spoil_a_masked_round_and_nothing_else(tiny_model):
    _, found = contents(tiny_model, 5)
    terms = terms_of(5, found[0])
    server, devices = MaskedRound(terms), [MaskedDevice.joining(terms, content) for content in found]
    lie = vector_of(found[1], terms) + np.eye(1, terms.length, terms.length - 1, dtype=np.int64)[0] * -(10**6)
    devices[1] = replace(devices[1], vector=lie.astype("<i8").tobytes().hex())
    server.joined({place: device.public_keys() for place, device in enumerate(devices)})
    for place, device in enumerate(devices):
        server.shared(place, device.shares(place, server.keys_for(place)))
    for place, device in enumerate(devices):
        server.came(place, device.masked(server.shares_for(place)))
    for place, device in enumerate(devices):
        server.unmasked(place, *device.unmasking(*server.to_unmask(place)))
    with pytest.raises(ValueError):
        content_from(server.total(), terms, found[0], frozenset())


def test_a_message_does_not_prove_who_sent_it(tiny_model):
    gathering = Gathering()
    forged = Message("b", Message.from_bytes(lot(tiny_model, "a", 0, [0, 1])).content).to_bytes()
    verdict = gathering.receive(forged)
    assert (verdict.device, verdict.verdict) == ("b", "counted")


def test_a_message_sent_again_by_somebody_between_counts_once(tiny_model):
    gathering = Gathering()
    data = lot(tiny_model, "a", 0, [0, 1])
    assert [gathering.receive(data).verdict for _ in range(3)] == ["counted", "repeat", "repeat"]
    assert gathering.content().state.hash() == learner_of(tiny_model, [0, 1]).state_hash()


def test_who_withholds_a_release_is_not_noticed(tiny_model, tmp_path):
    public = bytes.fromhex(release.new_key(tmp_path / "k"))
    place, private = Place(tmp_path / "releases"), release.read_key(tmp_path / "k")
    release.publish(place, learner_of(tiny_model, [0]).to_bytes(), private)
    seen = release.latest(place, public)
    stale = (tmp_path / "releases" / "latest.json").read_bytes()
    release.publish(place, learner_of(tiny_model, [0, 1]).to_bytes(), private)
    (tmp_path / "releases" / "latest.json").write_bytes(stale)
    assert release.latest(place, public, seen.serial) == seen


def test_who_knows_all_pictures_but_one_reads_its_features(tiny_model):
    merged = learner_of(tiny_model, range(6))
    merged.unlearn(POOL[1:6], list(COLOURS[1:6]))
    assert np.array_equal(merged.state().parts["sums"].arrays["class_sums"][0], merged.encode(POOL[:1])[0])


def test_who_has_all_pictures_of_a_lot_and_the_devices_name_sees_that_they_were_learned(tiny_model):
    message = Message.from_bytes(lot(tiny_model, "a", 0, [0, 1]))
    first = mark_of(b"a/0")
    x = learner_of(tiny_model).encode(POOL[:2])
    experience = hashlib.sha256(brought(x, list(COLOURS[:2]))).digest()
    assert Lineage(frozenset({first})).learned(experience).marks == message.marks
    other = hashlib.sha256(brought(x[:1], list(COLOURS[:1]))).digest()
    assert not Lineage(frozenset({first})).learned(other).marks == message.marks


def test_who_steals_a_device_reads_what_it_has_not_sent(tiny_model, tmp_path):
    learner_of(tiny_model, [0]).save(tmp_path / "a.state")
    Device.joined(tmp_path / "a.state", "a")
    learner = Learner.load(tmp_path / "a.state", tiny_model)
    learner.learn(POOL[8:10], list(COLOURS[8:10]))
    learner.save(tmp_path / "a.state")
    assert Device(tmp_path / "a.state").learned().state.hash() == learner_of(tiny_model, [8, 9]).state_hash()


def test_a_device_that_was_counted_openly_cannot_add_itself_in_a_masked_round(tiny_model):
    gathering = Gathering()
    data = lot(tiny_model, "a", 0, [0, 1])
    gathering.receive(data)
    assert gathering.knows(marks_of(Message.from_bytes(data).content))
    assert not gathering.knows(marks_of(Message.from_bytes(lot(tiny_model, "a", 1, [0, 1])).content))


def test_every_line_of_the_threat_model_names_tests_that_exist():
    page = (ROOT / "docs" / "fleet.md").read_text().partition("## Threat model")[2].partition("\n## ")[0]
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| who", "|---"))]
    there = {
        f"{path.name}::{name}"
        for folder in ("fleet", "cluster")
        for path in (ROOT / "tests" / folder).glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert len(rows) >= 18
    for row in rows:
        named = re.findall(r"`(\w+\.py::\w+)`", row)
        assert named and set(named) <= there, row
