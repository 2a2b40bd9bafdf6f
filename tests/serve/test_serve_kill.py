"""A process that is killed at any moment loses nothing that was acknowledged, and what is left fits together."""

from __future__ import annotations

import os
import pkgutil
import random
import signal
import sqlite3
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.serve import learner_service
from bitreplay.serve.limits import Limits
from bitreplay.serve.picture_store import Picture
from bitreplay.statefile import Lock
from tests import tiny
from tests.serve.serving import Client, heavy, process, served

KILLS = 3
EACH = 12
HELD = (4, 9)


def batch(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 256, (EACH, 40, 40, 3), dtype=np.uint8)


def fits_together(now: dict) -> None:
    """The album shows exactly the pictures that the state has learned."""
    shown: dict[str, int] = {}
    for _, name, held in now["pictures"]:
        shown[name] = shown.get(name, 0) + (not held)
    assert {one["name"]: one["pictures"] for one in now["classes"]} == shown


def killed_in_the_middle(tmp_path, kills: int, seed: int, *words: str, model) -> int:
    """Learns class after class; kills the process at a random moment of a change; starts it again. Returns how many of
    the changes at work were neither acknowledged nor kept."""
    rng, state = random.Random(seed), tmp_path / "a.state"
    own = Learner.from_pretrained(model)
    hashes, acknowledged, lost = [own.state_hash()], 0, 0
    took = 0.1
    for _ in range(kills):
        with process(state, "--model", str(model), *words) as (server, client):
            now = client.now()
            fits_together(now)
            assert now["hash"] in hashes[acknowledged:], "something acknowledged is lost"
            if len(hashes) > acknowledged + 1:
                lost += now["hash"] == hashes[acknowledged]
            acknowledged = hashes.index(now["hash"])
            del hashes[acknowledged + 1 :]
            own.restore(Learner.load(state, model).state())
            moment = time.monotonic() + took * (1 + 2 * rng.random())
            threading.Thread(target=kill_at, args=(moment, server.pid)).start()
            while True:
                number = acknowledged + 1
                own.learn(np.delete(batch(number), HELD, axis=0), f"class {number}")
                hashes.append(own.state_hash())
                start = time.monotonic()
                try:
                    answer = client.learn(f"class {number}", list(batch(number)))
                except OSError:
                    break
                assert answer.status == 200 and answer.json()["hash"] == hashes[number]
                acknowledged, took = number, time.monotonic() - start
            server.wait()
            assert server.returncode == -signal.SIGKILL
    with process(state, "--model", str(model), *words) as (_, client):
        now = client.now()
        fits_together(now)
        assert now["hash"] in hashes[acknowledged:]
    return lost


def kill_at(moment: float, pid: int) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))
    os.kill(pid, signal.SIGKILL)


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path):
    killed_in_the_middle(tmp_path, KILLS, seed=1, model=tiny.model(tmp_path))


@heavy
def test_kill_9_many_times_with_a_real_network(tmp_path):
    lost = killed_in_the_middle(tmp_path, 20, seed=2, model="react_tiny")
    assert lost > 0, "no change was ever hit in its middle"


POINTS = {
    "before the learner": ("bitreplay.learner.Learner.learn", False),
    "after the learner": ("bitreplay.learner.Learner.learn", True),
    "before the pictures": ("bitreplay.serve.picture_store.PictureStore.write", False),
    "after the pictures": ("bitreplay.serve.picture_store.PictureStore.write", True),
    "before the file": ("bitreplay.statefile.write_revision", False),
    "before the rename": ("os.replace", False),
    "after the rename": ("os.replace", True),
    "after the file": ("bitreplay.statefile.write_revision", True),
    "before the sweep": ("bitreplay.serve.picture_store.PictureStore.sweep", False),
    "after the sweep": ("bitreplay.serve.picture_store.PictureStore.sweep", True),
}


CHANGES = {
    # the change, and the classes before it and after it
    "learn": ({"class 1", "class 2"}, {"class 1", "class 2", "class 3"}),
    "forget": ({"class 1", "class 2"}, {"class 2"}),
    "undo": ({"other", "class 2"}, {"class 1", "class 2"}),
}
FEWER = ("before the pictures", "after the pictures", "after the rename", "after the file")
CASES = [("learn", point) for point in POINTS] + [(change, point) for change in ("forget", "undo") for point in FEWER]


@contextmanager
def service_of(state, model):
    with Lock(state) as lock:
        learner = Learner.load(state, model) if state.exists() else Learner.from_pretrained(model)
        own = learner_service.LearnerService(learner, state, lock, Limits())
        yield own
        own.close()


@pytest.mark.parametrize(("change", "point"), CASES)
def test_power_fails_at_each_step_of_a_change(tmp_path, monkeypatch, change, point):
    """In a process of its own that ends at this point without a word; the state is that of before or of after."""
    state, model = tmp_path / "a.state", tiny.model(tmp_path)
    with service_of(state, model) as service:
        for number in (1, 2):
            service.learn(f"class {number}", shown(number))
    child = os.fork()
    if child == 0:
        with service_of(state, model) as service:
            if change == "undo":
                service.rename("class 1", "other")
            name, after = POINTS[point]
            monkeypatch.setattr(name, ending(name, after))
            if change == "learn":
                service.learn("class 3", shown(3))
            elif change == "forget":
                service.forget("class 1")
            else:
                service.undo(service.view.turn)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    with service_of(state, model) as service:
        now = service.view.facts
        fits_together(now)
        # the first of two renames is that of the generation before
        done = point in ("after the file", "before the sweep", "after the sweep")
        assert {one["name"] for one in now["classes"]} == CHANGES[change][done]
        assert all(service.store.thumbnail(id) for id, *_ in now["pictures"])
        learned = next(id for id, _, held in now["pictures"] if not held)
        fits_together(service.forget_picture(learned).facts)


def shown(number: int) -> list[Picture]:
    rng = np.random.default_rng(number)
    pixels = rng.integers(0, 256, (EACH, tiny.SIDE, tiny.SIDE, 3), dtype=np.uint8)
    return [Picture(one, b"\xff\xd8\xff") for one in pixels]


def ending(name: str, after: bool):
    """The function of that name, with the process's end before it or after it."""
    place, _, own = name.rpartition(".")
    found = pkgutil.resolve_name(place)
    act = getattr(found, own)

    def called(*words, **named):
        if after:
            act(*words, **named)
        os._exit(9)

    return called


def test_a_full_disk_changes_nothing(tmp_path, monkeypatch):
    with served(tmp_path / "a.state") as client:
        assert client.learn("red", list(batch(1))).status == 200
        before = client.now()

        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("os.replace", full)
            for answer in (client.learn("green", list(batch(2))), client.change("forget", name="red")):
                assert answer.status == 507 and "No space left" in answer.error
            assert client.now() == before
        with monkeypatch.context() as patched:
            patched.setattr(
                "bitreplay.serve.picture_store.PictureStore.write", raising(sqlite3.OperationalError("disk is full"))
            )
            answer = client.learn("green", list(batch(2)))
            assert answer.status == 507 and "disk is full" in answer.error
            assert client.now() == before
        assert client.learn("green", list(batch(2))).status == 200
        fits_together(client.now())
        with monkeypatch.context() as patched:  # what is done is done, though the pictures cannot be swept
            patched.setattr(
                "bitreplay.serve.picture_store.PictureStore.sweep", raising(sqlite3.OperationalError("disk is full"))
            )
            assert client.change("forget", name="red").status == 200
            fits_together(client.now())
        assert client.change("rename", old="green", new="verde").status == 200
    with sqlite3.connect(tmp_path / "a.state.pictures") as own:
        assert own.execute("SELECT COUNT(*) FROM pictures").fetchone() == (EACH,)


def raising(error: Exception):
    def called(*_: object, **__: object) -> None:
        raise error

    return called


def test_a_damaged_album_is_named_and_the_state_stays(tmp_path):
    state = tmp_path / "a.state"
    with served(state) as client:
        client.learn("red", list(batch(1)))
    hash = Learner.load(state, tiny.model(tmp_path)).state_hash()
    picture_store = tmp_path / "a.state.pictures"
    picture_store.write_bytes(b"no database" * 1000)
    with pytest.raises(ValueError, match="a.state.pictures cannot be used"), served(state):
        pass
    picture_store.unlink()
    with served(state) as client:
        now = client.now()
        assert now["hash"] == hash and now["pictures"] == []


def test_sigterm_ends_it_with_everything_saved(tmp_path):
    state, model = tmp_path / "a.state", tiny.model(tmp_path)
    with process(state, "--model", str(model)) as (server, client):
        stream = Client(client.port)
        threading.Thread(target=lambda: stream.get("/api/events"), daemon=True).start()
        hash = client.learn("red", list(batch(1))).json()["hash"]
        start = time.monotonic()
        server.terminate()
        assert server.wait(30) == 0
        assert time.monotonic() - start < 20
    assert Learner.load(state, model).state_hash() == hash
    with Lock(state):  # it is free
        pass
