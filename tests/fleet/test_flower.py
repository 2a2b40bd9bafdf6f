"""Flower's simulation: devices that fail, are late and are asked twice; one hash, openly and masked. Smaller than
`python experiments/fleet_simulation.py groceries 1000`, whose rows are committed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("flwr", reason="Flower is not installed: pip install 'bitreplay[flower]', or make test-fleet")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DEVICES = 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    from bitreplay.data.groceries import groceries

    data = groceries()
    np.save(tmp_path / "images.npy", data.train_images[:160])
    np.save(tmp_path / "labels.npy", data.train_labels[:160])
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "experiments"), str(ROOT / "src")]))
    return tmp_path


@pytest.mark.parametrize("masked", [False, True])
def test_the_merged_state_is_that_of_one_learner_that_saw_what_arrived(folder, masked):
    import fleet_simulation

    assert len(fleet_simulation.failing(DEVICES)) == 4 and fleet_simulation.late(DEVICES)
    run = fleet_simulation.simulated(folder, DEVICES, masked, delay=1.0)
    came, planned = fleet_simulation.counted(run), fleet_simulation.planned(folder, DEVICES, masked)
    assert came == planned, (sorted(planned ^ came), run["report"])
    assert run["hash"] == fleet_simulation.expected(folder, DEVICES, planned).state_hash()
    said = [verdict.verdict for verdict in run["report"]]
    assert said.count("counted") == len(came) and (masked or "repeat" in said)


def context_of(number: int):
    from flwr.app import Context, RecordDict

    return Context(1, number, {"partition-id": number}, RecordDict(), {})


def asked(app, context, action: str, **values):
    """What a device answers, without a network between."""
    from flwr.app import ConfigRecord, Message, RecordDict

    message = Message(RecordDict({"bitreplay": ConfigRecord(values)}), dst_node_id=1, message_type=f"query.{action}")
    message.metadata.__dict__["_message_id"] = "1"
    return app(message, context).content.config_records["bitreplay"]


def test_a_device_says_why_it_does_not_answer(tiny_model):
    from bitreplay.adapters.flower import client_app
    from bitreplay.fleet.masking.terms import Terms
    from tests.fleet.test_message import learner_of

    got: list[bytes] = []
    app = client_app(
        lambda context: learner_of(tiny_model, [0, 1, 2]),
        received=lambda context, state: got.append(state),
        min_pictures=3,
    )
    context = context_of(7)
    assert (
        asked(app, context, "masked", places=[], shares=[])["refused"] == "This device takes part in no masked round."
    )
    assert list(asked(app, context, "ready", names=False)["names"]) == []
    assert list(asked(app, context, "ready", names=True)["names"]) == ["str red"]
    terms = Terms("r", 3, ("red",), 16, False, 100, 1)
    assert "from 3 pictures on, not 1" in asked(app, context, "join", terms=terms.to_json())["refused"]
    asked(app, context, "merged", state=b"a state")
    assert got == [b"a state"]
    few = client_app(lambda context: learner_of(tiny_model, [0]))
    answer = asked(few, context, "sums")
    assert answer["device"] == "node-7" and "wait for 4 of 'red'" in answer["refused"]
