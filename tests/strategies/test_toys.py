"""What can be added without changing the package: toys of toys.py through learning, files and the command line."""

import json
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner, StateFileError
from bitreplay.cli import main
from bitreplay.data.named import SETS
from bitreplay.strategies import STRATEGIES, Strategy
from tests import tiny
from tests.serve.serving import served
from tests.strategies import toys

FAST: dict[str, Any] = {
    "learning_rate": 0.3,
    "memory_per_class": 4,
    "batch_size": 5,
    "replay_batch_size": 20,
    "min_steps": 40,
}
PROBE = tiny.pictures(*tiny.COLOURS, each=5, seed=9)


@pytest.fixture(autouse=True)
def added(monkeypatch):
    """One line for each: a name in a registry."""
    monkeypatch.setitem(STRATEGIES, "means", toys.Means)
    monkeypatch.setitem(STRATEGIES, "latest", toys.Latest)
    monkeypatch.setitem(SETS, "colours", toys.colours)


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["bitreplay", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Done(int(end.value.code or 0), *capsys.readouterr())

    return call


@pytest.fixture
def shell(command):
    def call(*arguments: object) -> dict:
        done = command(*arguments, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return call


@pytest.mark.parametrize("strategy", ["means", "latest"])
def test_a_toy_learns_saves_loads_forgets_and_goes_on(tiny_model, tmp_path, strategy):
    learner = Learner.from_pretrained(tiny_model, strategy=strategy, **FAST)
    learner.learn(*tiny.pictures("red", "green", each=6))
    learner.learn(*tiny.pictures("blue", "white", each=6, seed=1))
    learner.rename("white", "snow")
    assert learner.evaluate(PROBE[0], [{"white": "snow"}.get(name, name) for name in PROBE[1]]).accuracy > 0.8
    learner.save(tmp_path / "state")
    loaded = Learner.load(tmp_path / "state", tiny_model)
    assert loaded.state_hash() == learner.state_hash() and loaded.experiences == 2
    assert np.array_equal(loaded.predict(PROBE[0]), learner.predict(PROBE[0]))
    for each in (learner, loaded):
        each.forget("red")
        each.learn(*tiny.pictures("green", seed=3))
        assert "red" not in each.predict(PROBE[0])
    assert loaded.state_hash() == learner.state_hash()


def test_a_strategy_may_keep_counters_outside_the_hash(tiny_model, tmp_path):
    """The order of pictures and their division into experiences do not matter to sums."""
    images, labels = tiny.pictures(*tiny.COLOURS, each=6)
    divisions = [np.array_split(np.random.default_rng(n).permutation(24), n) for n in (1, 3, 5)]
    hashes = set()
    for parts in divisions:
        learner = Learner.from_pretrained(tiny_model, strategy="means")
        for chosen in parts:
            learner.learn(images[chosen], [labels[k] for k in chosen])
        assert learner.experiences == len(parts)
        hashes.add(learner.state_hash())
        learner.save(tmp_path / str(len(parts)))
        assert Learner.load(tmp_path / str(len(parts)), tiny_model).experiences == len(parts)
    assert len(hashes) == 1


def test_a_failed_change_leaves_sums_as_they_were(tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="means")
    learner.learn(*tiny.pictures("red"))
    before, calls = learner.state_hash(), iter([False, False, True])
    with pytest.raises(Exception, match="cancelled"):
        learner.learn(*tiny.pictures("red", "blue", each=20), cancel=lambda: next(calls))
    assert learner.state_hash() == learner.strategy.state().hash() == before


def test_the_toy_memory_keeps_the_last_samples_and_the_toy_head_what_was_trained_last(tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="latest", **FAST)
    learner.learn(*tiny.pictures("red", each=6))
    learner.learn(*tiny.pictures("red", "blue", each=3, seed=1))
    assert {kept.label: sorted(kept.ids) for kept in learner.stored()} == {"red": [5, 6, 7, 8], "blue": [9, 10, 11]}
    inside = tiny.inside(learner)
    assert np.array_equal(inside.head.consolidated_weights, inside.tail.head_weights)


def test_versions_of_toys_are_kept_and_older_programs_refuse_them(tiny_model, tmp_path, monkeypatch):
    learner = Learner.from_pretrained(tiny_model, strategy="latest", **FAST)
    learner.learn(*tiny.pictures("red"))
    learner.save(tmp_path / "state")
    assert Learner.load(tmp_path / "state", tiny_model).state_hash() == learner.state_hash()
    monkeypatch.setattr(toys.LatestMemory, "version", 2)
    with pytest.raises(StateFileError, match="memory has version 3; this program reads versions up to 2"):
        Learner.load(tmp_path / "state", tiny_model)


@pytest.mark.parametrize("strategy", ["means", "latest"])
def test_toys_on_the_command_line(shell, tiny_model, tmp_path, strategy):
    found = shell("run", "--data", "colours", "--model", tiny_model, "--strategy", strategy, "--out", "run")
    assert found["final"] > 0.8 and [row["pictures"] for row in found["rows"]] == [24, 24]
    state = tmp_path / "run" / "state"
    about = shell("info", state)
    assert about["strategy"] == STRATEGIES[strategy].title and about["hash"] == found["hash"]
    assert sorted(about["classes"]) == sorted(tiny.COLOURS)
    assert about["part_bytes"].keys() == STRATEGIES[strategy].kinds.keys()
    assert shell("forget", state, "red", "--model", tiny_model)["classes"] == [
        name for name in about["classes"] if name != "red"
    ]
    again = shell("run", "--data", "colours", "--scenario", "ni", "--model", tiny_model, "--strategy", strategy)
    assert [row["experience"] for row in again["rows"]] == [0, 1, 2] and again["final"] > 0.8


def test_a_name_is_enough():
    class Bare(Strategy):
        name = "bare"

    assert Bare.title == Bare.latents == "bare" and Bare.keeps


@pytest.mark.parametrize("json_flag", [("--json",), ()])
@pytest.mark.parametrize("strategy", ["means", "latest"])
def test_every_command_knows_them(command, tiny_model, tmp_path, strategy, json_flag):
    """Whatever a command says of a strategy, the strategy says itself: none asks for its name."""
    for colour in ("red", "green"):
        (tmp_path / "in" / colour).mkdir(parents=True)
        for number, picture in enumerate(tiny.pictures(colour, each=3)[0]):
            Image.fromarray(picture).save(tmp_path / "in" / colour / f"{number}.png")
    chosen = ("--model", tiny_model, "--strategy", strategy)
    title = STRATEGIES[strategy].title
    for words, expected in (
        (("learn", "state", "in", *chosen), "green"),
        (("predict", "state", "in", "--model", tiny_model), "red"),
        (("evaluate", "state", "in", "--model", tiny_model), "100" if not json_flag else "accuracy"),
        (("info", "state"), title),
        (("plan", tiny_model, "--strategy", strategy, "--classes", 5, "--measure"), strategy),
        (("rename", "state", "red", "rot", "--model", tiny_model), "rot"),
    ):
        done = command(*words, *json_flag)
        assert done.code == 0 and expected in done.out.lower(), (words, done)
    planned = json.loads(command("plan", tiny_model, "--strategy", strategy, "--classes", 5, "--measure", "--json").out)
    assert planned["strategy"] == strategy and planned["ram"] > 0 and planned["state"] > 0
    (tmp_path / "other").write_bytes((tmp_path / "state").read_bytes())
    for words, sentence in (
        (
            ("merge", "state", "other", "--out", "all"),
            f"Only states of the strategy exact can be merged; state has {strategy}.",
        ),
        (
            ("export", tiny_model, "--strategy", strategy, "--out", "folder"),
            f"strategies exact and replay, got {strategy}.",
        ),
        (("plan", tiny_model, "--strategy", strategy, "--target", "linux"), f"for the strategy exact, got {strategy}."),
        (("unlearn", "state", "in", "--model", tiny_model), f"not {strategy}."),
    ):
        done = command(*words, *json_flag)
        assert done.code == 1 and sentence in " ".join(done.err.split()) and not done.out, (words, done)
    assert not (tmp_path / "all").exists() and not (tmp_path / "folder").exists()


@pytest.mark.parametrize("strategy", ["means", "latest"])
def test_they_are_served(tmp_path, strategy):
    with served(tmp_path / "state", strategy=strategy, min_steps=4) as client:
        for colour in ("red", "blue"):
            learned = client.learn(colour, list(tiny.pictures(colour, each=6)[0]))
            assert learned.status == 200, learned
        assert {one["name"]: one["pictures"] for one in learned.json()["classes"]} == {"red": 5, "blue": 5}
        assert client.predict(tiny.pictures("blue", each=1, seed=5)[0][0]).json()["answers"][0]["name"] == "blue"
        assert client.change("undo", turn=client.now()["turn"]).status == 200
        assert client.change("forget", name="red").json()["classes"] == []
