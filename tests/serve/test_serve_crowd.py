"""Fifty clients ask while it learns: no error, and every answer is that of a finished state."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from bitreplay import Learner
from tests import tiny
from tests.serve.serving import Client, colours, heavy, process, served

CLIENTS = 50
EACH = 10
HELD = (4, 9)


def crowd(client: Client, model, asked: int, experiences: int, pictures: dict) -> None:
    """The answers say from which turn they are, and are compared with a learner that stood there."""
    probe = np.concatenate([shown[:4] for shown in pictures.values()])
    own, learner = {}, Learner.from_pretrained(model)
    answers: list[tuple[int, dict]] = []
    errors: list[str] = []
    end = threading.Event()

    def look(number: int) -> None:
        for turn in range(asked):
            which = (number + turn) % len(probe)
            try:
                found = client.predict(probe[which])
                assert found.status == 200, found
                answers.append((which, found.json()))
            except Exception as error:
                errors.append(repr(error))
                return

    def teach() -> None:
        names = [*pictures]
        for k in range(experiences):
            name = names[k % len(names)]
            shown = np.roll(pictures[name], k, axis=0)
            found = client.learn(name, list(shown))
            if found.status != 200:
                errors.append(repr(found))
                return
            # the place in its class goes on, so the same places of each experience of 10 are held back
            learner.learn(np.delete(shown, HELD, axis=0), name)
            own[found.json()["turn"]] = (learner.labels, learner.predict_proba(probe), found.json()["hash"])
            assert found.json()["hash"] == learner.state_hash()
        end.set()

    threads = [threading.Thread(target=look, args=(k,)) for k in range(CLIENTS)] + [threading.Thread(target=teach)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and end.is_set()
    assert len(answers) == CLIENTS * asked
    for which, found in answers:
        if found["turn"] == 0:
            assert found["answers"] == []
            continue
        labels, shares, _ = own[found["turn"]]
        expected = dict(zip(map(str, labels), shares[which].tolist(), strict=True))
        assert {one["name"]: one["share"] for one in found["answers"]}.items() <= expected.items()
        assert [one["share"] for one in found["answers"]] == sorted(expected.values(), reverse=True)[:3]


def test_fifty_clients_get_answers_of_finished_states(tmp_path):
    with served(tmp_path / "a.state") as client:
        crowd(client, tiny.model(tmp_path), asked=6, experiences=8, pictures=colours("red", "green", "blue", each=EACH))


@heavy
@pytest.mark.parametrize(("model", "asked", "experiences"), [("react_tiny", 20, 8), ("react18", 6, 4)])
def test_fifty_clients_of_a_process_with_a_real_network(tmp_path, model, asked, experiences):
    with process(tmp_path / "a.state", "--model", model) as (_, client):
        pictures = {name: tiny.pictures(name, each=EACH, side=32)[0] for name in ("red", "green", "blue", "white")}
        crowd(client, model, asked, experiences, pictures)
