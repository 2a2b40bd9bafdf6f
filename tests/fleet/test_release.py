"""Releases and devices: signed, numbered, taken back; devices that were away, lost power or are lied to."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from functools import partial

import numpy as np
import pytest

from bitreplay import Learner, statefile
from bitreplay.cli import main
from bitreplay.fleet import Gathering, Message
from bitreplay.fleet.device import Device
from bitreplay.fleet.places import Place
from bitreplay.fleet.since import content_of
from tests.fleet.test_message import COLOURS, POOL, learner_of

pytest.importorskip("cryptography", reason="cryptography is not installed: pip install 'bitreplay[fleet]'")

from bitreplay.fleet import release  # noqa: E402


@pytest.fixture
def keys(tmp_path):
    public = release.new_key(tmp_path / "fleet.key")
    assert (tmp_path / "fleet.key").stat().st_mode & 0o077 == 0
    return release.read_key(tmp_path / "fleet.key"), bytes.fromhex(public)


def device_of(path, model, name, factory) -> Device:
    Learner.from_bytes(factory.to_bytes(), model).save(path)
    return Device.joined(path, name)


def learn(device: Device, model, chosen) -> None:
    learner = Learner.load(device.path, model)
    learner.learn(POOL[list(chosen)], [COLOURS[k] for k in chosen])
    learner.save(device.path)


def hash_of(device: Device) -> str:
    return statefile.load(device.path)[0].state.hash()


def test_a_year_of_a_fleet(tiny_model, tmp_path):
    """Two devices learn, send, lose messages and get releases; one is away for three of them and still counts once."""
    factory = learner_of(tiny_model, [0, 8])
    here, away = (device_of(tmp_path / f"{name}.state", tiny_model, name, factory) for name in ("here", "away"))
    gathering = Gathering(factory)
    learn(away, tiny_model, [30, 31])
    first = away.message(1)  # lost on its way
    assert first is not None and away.message(1) is None
    learn(away, tiny_model, [28])
    seen = [0, 8]
    for number, chosen in enumerate(([1, 2], [9, 10], [3])):
        learn(here, tiny_model, chosen)
        data = here.message(1)
        assert data is not None and gathering.receive(data).verdict == "counted"
        assert gathering.receive(data).verdict == "repeat"
        seen += chosen
        assert here.receive(gathering.content(), number + 1, number + 1) == 1 and here.unanswered() == []
        assert hash_of(here) == learner_of(tiny_model, seen).state_hash() == gathering.content().state.hash()
    learn(away, tiny_model, [29])
    assert away.receive(gathering.content(), 3, 3) == 0
    assert hash_of(away) == learner_of(tiny_model, [*seen, 28, 29, 30, 31]).state_hash(), "answers with all it knows"
    second = away.message(1)
    assert second is not None
    assert [Message.from_bytes(data).pictures for data in away.unanswered()] == [2, 2]
    for data in (second, first, second):
        assert gathering.receive(data).verdict in ("counted", "repeat")
    final = learner_of(tiny_model, [*seen, 28, 29, 30, 31]).state_hash()
    assert gathering.content().state.hash() == final
    for device, arrived in ((away, 2), (here, 0)):
        assert device.receive(gathering.content(), 4, 4) == arrived and hash_of(device) == final
    gathering.withdraw("away")
    assert gathering.content().state.hash() == learner_of(tiny_model, seen).state_hash()


def test_power_fails_while_a_release_is_received(tiny_model, tmp_path, monkeypatch):
    """The record is written, the state is not: the device is as before, and takes the release again."""
    factory = learner_of(tiny_model, [0])
    device = device_of(tmp_path / "a.state", tiny_model, "a", factory)
    learn(device, tiny_model, [1, 2])
    device.message(1)
    learn(device, tiny_model, [3])
    before, new = hash_of(device), learner_of(tiny_model, [0, 20, 21])

    def fails(*arguments):
        raise OSError("the power failed")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="power"):
        patch.setattr(statefile, "save", fails)
        device.receive(content_of(new), 1, 1)
    again = Device(device.path)
    assert hash_of(again) == before and again.record.version == 0 and len(again.unanswered()) == 1
    assert again.receive(content_of(new), 1, 1) == 0
    assert hash_of(again) == learner_of(tiny_model, [0, 20, 21, 1, 2, 3]).state_hash()
    assert Device(device.path).record.version == 1


def test_a_device_goes_back_by_itself(tiny_model, tmp_path):
    factory = learner_of(tiny_model, [0])
    device = device_of(tmp_path / "a.state", tiny_model, "a", factory)
    learn(device, tiny_model, [1, 2])
    device.message(1)
    device.receive(content_of(learner_of(tiny_model, [0, 20, 21])), 1, 1)
    Learner.rollback(device.path, tiny_model)
    back = Device(device.path)
    assert back.record.version == 0 and hash_of(back) == learner_of(tiny_model, [0, 1, 2]).state_hash()
    learn(back, tiny_model, [5])
    message = Message.from_bytes(back.message(1) or b"")
    assert message.content.state.hash() == learner_of(tiny_model, [5]).state_hash()


def test_releases_are_numbered_and_taken_back(tiny_model, tmp_path, keys):
    private, public = keys
    place = Place(tmp_path / "releases")
    states = [learner_of(tiny_model, range(1 + k)) for k in range(3)]
    for number, learner in enumerate(states, start=1):
        manifest = release.publish(place, learner.to_bytes(), private)
        assert (manifest.version, manifest.serial, manifest.pictures) == (number, number, number)
    assert release.publish_again(place, 1, private).serial == 4
    newest = release.latest(place, public, 3)
    assert newest.version == 1
    assert release.fetched(place, public, newest.version)[1].state.hash() == states[0].state_hash()
    assert release.publish(place, states[2].to_bytes(), private).version == 4
    assert release.fetched(place, public, 3)[1].state.hash() == states[2].state_hash()


def test_what_somebody_between_can_do_to_a_release_is_refused(tiny_model, tmp_path, keys):
    private, public = keys
    folder = tmp_path / "releases"
    place = Place(folder)
    for count in (1, 2):
        release.publish(place, learner_of(tiny_model, range(count)).to_bytes(), private)
    old = (folder / "release-000001.json").read_bytes()
    state = (folder / "release-000002.state").read_bytes()
    (folder / "release-000002.state").write_bytes(learner_of(tiny_model, [5, 6]).to_bytes())
    with pytest.raises(release.ReleaseError, match="not what its manifest says"):
        release.fetched(place, public, 2)
    (folder / "release-000002.state").write_bytes(state)
    (folder / "latest.json").write_bytes(old)
    assert release.latest(place, public, 1).version == 1
    with pytest.raises(release.ReleaseError, match="an old one came back"):
        release.latest(place, public, 2)
    forged = json.loads(old)
    forged["manifest"] = forged["manifest"].replace('"serial":1', '"serial":9')
    (folder / "latest.json").write_text(json.dumps(forged))
    with pytest.raises(release.ReleaseError, match="not signed with this key"):
        release.latest(place, public)
    other = bytes.fromhex(release.new_key(tmp_path / "other.key"))
    with pytest.raises(release.ReleaseError, match="not signed with this key"):
        release.fetched(place, other, 1)
    for text in ("", "[]", "{}", '{"manifest": 3, "signature": "zz"}', "null"):
        (folder / "latest.json").write_text(text)
        with pytest.raises(ValueError):
            release.latest(place, public)


def test_commands_over_a_web_server(tiny_model, tmp_path, keys, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(text: str) -> dict:
        monkeypatch.setattr(sys, "argv", ["bitreplay", *text.split(), "--json"])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code, capsys.readouterr()
        return json.loads(capsys.readouterr().out)

    factory = learner_of(tiny_model, [0, 8])
    for name in ("a", "b"):
        Learner.from_bytes(factory.to_bytes(), tiny_model).save(f"{name}.state")
        run(f"fleet join {name}.state --device {name}")
    factory.save("factory.state")
    for name, chosen in (("a", [1, 2]), ("b", [9, 10])):
        learn(Device(f"{name}.state"), tiny_model, chosen)
        assert run(f"fleet status {name}.state")["not_sent"] == {COLOURS[chosen[0]]: 2}
        assert run(f"fleet send {name}.state inbox --min-pictures 2")["messages"] == 1
    merged = run("fleet merge inbox --out chain.state --base factory.state --report report.jsonl")
    assert merged["counted"] == 2 and merged["refused"] == 0
    assert [json.loads(line)["device"] for line in (tmp_path / "report.jsonl").read_text().splitlines()] == ["a", "b"]
    run("fleet push releases --key fleet.key --state chain.state")
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "releases"))
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *arguments: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        for name in ("a", "b"):
            assert run(f"fleet pull {name}.state {address} --key fleet.key.pub")["arrived"] == 1
            status = run(f"fleet status {name}.state --place {address} --key fleet.key.pub")
            assert (status["version"], status["latest"], status["waiting"]) == (1, 1, 0)
        with pytest.raises(ValueError, match="the server answered 404"):
            Place(address).read("nothing")
        with pytest.raises(ValueError, match="read only"):
            Place(address).write("a", b"")
    finally:
        server.shutdown()
        server.server_close()
    everything = learner_of(tiny_model, [0, 8, 1, 2, 9, 10]).state_hash()
    assert merged["hash"] == everything == hash_of(Device("a.state")) == hash_of(Device("b.state"))
    run("fleet push releases --key fleet.key --state factory.state")
    run("fleet push releases --key fleet.key --back-to 1")
    assert np.array_equal([run("fleet pull a.state releases --key fleet.key.pub")["version"]], [1])
