"""bitreplay confusions: pairs of classes from a state of sums; a sentence for other states."""

from __future__ import annotations

import json

from bitreplay import Learner
from tests import tiny


def test_pairs_are_told_as_a_table_and_as_json(shell, tiny_model, tmp_path):
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(*tiny.pictures(*tiny.COLOURS, each=6))
    learner.save(tmp_path / "state")
    confused = learner.confusions()
    code, out, _ = shell("confusions", tmp_path / "state", "--model", tiny_model, "--top", 2, "--json")
    result = json.loads(out)
    assert code == 0 and result["pairs"] == len(confused)
    assert [(pair["one"], pair["other"]) for pair in result["confusions"]] == [pair[:2] for pair in confused[:2]]
    assert [pair["share"] for pair in result["confusions"]] == [round(pair.share, 6) for pair in confused[:2]]
    code, out, _ = shell("confusions", tmp_path / "state", "--model", tiny_model)
    assert code == 0 and f"{100 * confused[0].share:.1f} %" in out and confused[0].one in out


def test_a_state_of_replay_is_refused(shell, tiny_model, tmp_path):
    learner = Learner.from_pretrained(tiny_model, strategy="replay", min_steps=1, epochs=1)
    learner.learn(*tiny.pictures("red", "green", each=2))
    learner.save(tmp_path / "state")
    code, _, err = shell("confusions", tmp_path / "state", "--model", tiny_model)
    assert code == 1 and "Only the strategy exact expects confusions" in err
