"""What is taught through the server is what a learner of one's own learns, and it is there after a restart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bitreplay import Learner
from tests import tiny
from tests.serve.serving import Client, as_file, colours, served
from tests.strategies.prior_companion import model_with_prior

EACH = 10
HELD = (4, 9)


@pytest.fixture
def state(tmp_path):
    return tmp_path / "scale.state"


def taught(state, **pictures) -> Learner:
    """A learner that saw the pictures that are not held back."""
    learner = Learner.from_pretrained(tiny.model(state.parent))
    for name, shown in pictures.items():
        learner.learn(np.delete(shown, HELD, axis=0), name)
    return learner


def teach(client: Client, **pictures) -> dict:
    for name, shown in pictures.items():
        answer = client.learn(name, list(shown))
        assert answer.status == 200, answer
    return client.now()


def test_it_learns_and_answers_as_a_learner_does(state):
    pictures = colours("red", "green", "blue", each=EACH)
    own = taught(state, **pictures)
    with served(state) as client:
        assert client.predict(pictures["red"][0]).json()["answers"] == []
        now = teach(client, **pictures)
        assert now["hash"] == own.state_hash()
        assert now["classes"] == [{"name": name, "pictures": 8} for name in sorted(pictures)]
        assert [held for _, _, held in now["pictures"]] == 3 * [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
        shown = {id: name for id, name, _ in now["pictures"]}
        held = np.concatenate([pictures[name][list(HELD)] for name in pictures])
        assert [taken for _, taken in now["tested"]] == own.predict(held).tolist()
        right = now["steps"][-1]["right"]
        assert {name: all for name, (_, all) in right.items()} == dict.fromkeys(pictures, 2)
        assert sum(good for good, _ in right.values()) == sum(taken == shown[id] for id, taken in now["tested"])
        for picture in held:
            answer = client.predict(picture).json()
            shares = dict(zip(own.labels, own.predict_proba(picture)[0].tolist(), strict=True))
            assert answer["turn"] == now["turn"]
            assert [one["share"] for one in answer["answers"]] == sorted(shares.values(), reverse=True)
            assert all(shares[one["name"]] == one["share"] for one in answer["answers"])
        assert Learner.from_bytes(client.get("/api/state").body, tiny.model(state.parent)).state_hash() == now["hash"]
    assert Learner.load(state, tiny.model(state.parent)).state_hash() == own.state_hash()


def test_a_prior_is_served_as_it_is_learned(state):
    model = model_with_prior(state.parent, default_components=9)
    pictures = colours("red", "green", each=EACH)
    own = taught(state, **pictures)
    assert own.settings.n_components == 9
    with served(state) as client:
        assert teach(client, **pictures)["hash"] == own.state_hash()
        for picture in pictures["red"][list(HELD)]:
            told = {one["name"]: one["share"] for one in client.predict(picture).json()["answers"]}
            assert told == dict(zip(own.labels, own.predict_proba(picture)[0].tolist(), strict=True))
    assert Learner.load(state, model).state_hash() == own.state_hash()


def test_unknown_is_said_with_a_share_that_the_held_back_pictures_bear(tmp_path):
    """As often as few enough of them are refused; the setting, where there is one, as it is."""
    pictures = colours("red", "green", each=30)
    is_ood = np.random.default_rng(0).integers(0, 256, (8, tiny.SIDE, tiny.SIDE, 3), dtype=np.uint8)
    with served(tmp_path / "a.state") as client:
        now = teach(client, **pictures)
        share = now["unknown"]
        own = Learner.from_bytes(client.get("/api/state").body, tiny.model(tmp_path))
        held = np.concatenate([shown[4::5] for shown in pictures.values()])
        refused = {
            one: sum(name is None for name in own.predict(held, unknown=one)) for one in (0.5, 0.3, 0.2, 0.1, 0.05)
        }
        assert share == next((one for one, count in refused.items() if count <= 0.05 * len(held)), 0)
        for picture in [*is_ood, *held[:3]]:
            assert client.predict(picture).json()["unknown"] == (own.predict(picture, unknown=share)[0] is None)
    (tmp_path / "b").mkdir()
    with served(tmp_path / "b" / "b.state", unknown=0.25) as client:
        assert teach(client, **pictures)["unknown"] == 0.25


def test_a_picture_of_any_size_is_fitted_as_files_are(state):
    large = np.random.default_rng(0).integers(0, 256, (37, 61, 3), dtype=np.uint8)
    own = Learner.from_pretrained(tiny.model(state.parent))
    own.learn(large, "noise")
    with served(state) as client:
        assert client.learn("noise", [large]).json()["hash"] == own.state_hash()


def test_changes_and_their_undoing(state):
    pictures = colours("red", "green", "blue", each=EACH)
    with served(state) as client:
        first = teach(client, red=pictures["red"], green=pictures["green"])
        turn = first["turn"]

        def undone(answer, **expected):
            """Back to the hash, the pictures and the steps of the first."""
            nonlocal turn
            changed = answer.json()
            assert answer.status == 200 and changed["turn"] == turn + 1, changed
            assert {name: changed[name] for name in expected} == expected
            back = client.change("undo", turn=changed["turn"]).json()
            turn = back["turn"]
            same = ("hash", "classes", "pictures", "tested", "steps", "undo")
            assert {name: back[name] for name in same} == {name: first[name] for name in same}
            return changed

        changed = undone(client.change("forget", name="red"), classes=first["classes"][:1])
        assert {name for _, name, _ in changed["pictures"]} == {"green"}
        undone(client.change("rename", old="red", new="rouge"))
        changed = undone(client.change("merge-classes", old="red", new="green"))
        assert changed["classes"] == [{"name": "green", "pictures": 16}]
        changed = undone(client.change("forget-picture", id=first["pictures"][0][0]))
        own = Learner.from_pretrained(tiny.model(state.parent))
        for name in ("red", "green"):
            own.learn(np.delete(pictures[name], HELD, axis=0), name)
        own.unlearn(pictures["red"][:1], "red")
        assert changed["hash"] == own.state_hash()
        held = [id for id, _, held in first["pictures"] if held]
        undone(client.change("forget-picture", id=held[0]), hash=first["hash"])
        nothing = Learner.from_pretrained(tiny.model(state.parent)).state_hash()
        undone(client.change("clear"), classes=[], pictures=[], hash=nothing)
        other = taught(state, blue=pictures["blue"])
        undone(client.send("open", other.to_bytes()), hash=other.state_hash(), pictures=[])
        both = taught(state, **pictures)
        undone(client.send("merge", other.to_bytes()), hash=both.state_hash())
        thumbnail = client.get(f"/api/pictures/{first['pictures'][0][0]}")
        assert thumbnail.status == 200 and thumbnail.body.startswith(b"\xff\xd8\xff")


def test_all_is_there_after_a_restart(state):
    pictures = colours("red", "green", each=EACH)
    with served(state) as client:
        before = teach(client, **pictures)
        thumbnails = [client.get(f"/api/pictures/{id}").body for id, *_ in before["pictures"]]
    with served(state) as client:
        after = client.now()
        assert after | {"undo": None} == before | {"undo": None}
        assert after["undo"] is None
        assert [client.get(f"/api/pictures/{id}").body for id, *_ in after["pictures"]] == thumbnails
        assert client.change("forget-picture", id=after["pictures"][0][0]).status == 200


def test_what_somebody_else_learned_in_between_is_served(state):
    """Which pictures such a state has learned is not known: those that were held back stay."""
    pictures = colours("red", "green", "blue", each=EACH)
    with served(state) as client:
        teach(client, red=pictures["red"], green=pictures["green"])
    learner = Learner.load(state, tiny.model(state.parent))
    learner.learn(pictures["blue"], "blue")
    learner.save(state)
    with served(state) as client:
        now = client.now()
        assert now["hash"] == learner.state_hash() and len(now["classes"]) == 3
        assert [(name, held) for _, name, held in now["pictures"]] == [("red", 1)] * 2 + [("green", 1)] * 2
        assert len(now["tested"]) == 4


def test_a_rolled_back_state_takes_its_pictures_back(state):
    pictures = colours("red", "green", each=EACH)
    with served(state) as client:
        first = teach(client, red=pictures["red"])
        teach(client, green=pictures["green"])
    Learner.rollback(state, tiny.model(state.parent))
    with served(state) as client:
        now = client.now()
        assert now == first | {"undo": None}


def test_other_viewers_are_told(state):
    import http.client

    pictures = colours("red", each=EACH)["red"]
    with served(state) as client:
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        connection.request("GET", "/api/events")
        stream = connection.getresponse()
        assert stream.headers["content-type"].startswith("text/event-stream")

        def turn() -> int:
            while (line := stream.readline()) != b"event: turn\n":
                assert line
            return int(stream.readline().removeprefix(b"data: "))

        assert turn() == client.now()["turn"]
        assert client.learn("red", list(pictures)).status == 200
        assert turn() == client.now()["turn"]
        connection.close()


@pytest.mark.parametrize("strategy", ["cwr", "naive"])
def test_baselines_never_say_unknown(state, strategy):
    with served(state, strategy=strategy, epochs=1) as client:
        now = teach(client, **colours("red", "green", each=EACH))
        assert now["unknown"] == 0 and len(now["classes"]) == 2
        assert client.predict(np.zeros((9, 9, 3), np.uint8)).json()["unknown"] is False


def test_steps_of_learning_are_told(state):
    import http.client

    with served(state, strategy="replay", memory_per_class=4, epochs=1) as client:
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        connection.request("GET", "/api/events")
        stream = connection.getresponse()
        while stream.readline() != b"event: turn\n":
            pass
        teach(client, red=colours("red", each=6)["red"])
        while stream.readline() != b"event: progress\n":
            pass
        done, steps = json.loads(stream.readline().removeprefix(b"data: "))
        assert 0 < done <= steps
        connection.close()


def test_replay_is_served_too(state):
    pictures = colours("red", "green", each=6)
    with served(state, strategy="replay", memory_per_class=4, epochs=1) as client:
        now = teach(client, **pictures)
        assert [one["name"] for one in now["classes"]] == ["red", "green"]
        refused = client.change("forget-picture", id=now["pictures"][0][0])
        assert refused.status == 422 and "replay" in refused.error
        assert client.now() == now
        assert client.change("forget-picture", id=now["pictures"][4][0]).status == 200


def test_files_beside_the_state_are_for_the_owner_alone(state):
    with served(state) as client:
        client.learn("red", [as_file(colours("red", each=1)["red"][0])])
        assert {path.name: oct(path.stat().st_mode & 0o777) for path in state.parent.glob("scale*")} == dict.fromkeys(
            ("scale.state", "scale.state.before", "scale.state.lock", "scale.state.pictures"), "0o600"
        )
