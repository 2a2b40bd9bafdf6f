"""merge and unlearn from the shell: what they print, what they refuse, how they exit."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner
from tests import tiny


@pytest.fixture
def devices(tiny_model, tmp_path):
    """Two states, a and b, of other pictures and names."""
    learners = []
    for number, name in enumerate(("a", "b")):
        learner = Learner.from_pretrained(tiny_model, strategy="exact")
        images, labels = tiny.pictures("red", "green", each=3, seed=number)
        learner.learn(images, [7 if label == "green" else label for label in labels])
        learner.save(tmp_path / name)
        learners.append(learner)
    return learners


def test_merge_prints_what_it_made_and_needs_no_model(shell, devices, tiny_model):
    code, out, err = shell("merge", "a", "b", "--out", "c", "--rename", "7=green", "--json")
    result = json.loads(out)
    assert code == 0 and not err and result["warnings"] == []
    assert result["states"] == 2 and result["pictures"] == 12 and result["classes"] == ["green", "red"]
    assert Learner.load("c", tiny_model).state_hash() == result["hash"]
    devices[0].merge(devices[1], rename={7: "green"})
    assert devices[0].state_hash() == result["hash"]


def test_merge_warns_and_does_it_nevertheless(shell, devices):
    code, out, err = shell("merge", "a", "a", "--out", "c")
    assert code == 0 and "Merged 2 states: 12 pictures of 2 classes in c" in out
    assert err.strip().startswith("warning: a has pictures in common with the states before it")


def test_merge_refuses_in_one_sentence(shell, devices, tiny_model, tmp_path):
    replay = Learner.from_pretrained(tiny_model, strategy="replay", learning_rate=0.3)
    replay.save(tmp_path / "replay")
    for arguments, sentence in (
        (("a", "b", "--out", "a"), "a exists; --overwrite replaces it"),
        (("a", "replay", "--out", "c"), "Only states of the strategy exact can be merged; replay has replay."),
        (("a", "b", "--out", "c", "--base", "b"), "a does not contain the base"),
        (("a", "b", "--out", "c", "--rename", "red"), "--rename must be OLD=NEW, got 'red'."),
        (("a", "none", "--out", "c"), "none"),
    ):
        code, out, err = shell("merge", *arguments)
        assert code == 1 and not out and sentence in err and err.strip().count("\n") == 0, err
    assert not Path("c").exists()


def test_unlearn_takes_files_and_folders(shell, tiny_model, tmp_path):
    images, labels = tiny.pictures("red", "green", each=3)
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        (tmp_path / "photos" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "photos" / label / f"{number}.png")
    code, out, _ = shell(
        "learn", "state", "photos", "--model", tiny_model, "--strategy", "exact", "--digests", "--json"
    )
    assert code == 0
    whole = json.loads(out)["hash"]
    code, out, _ = shell(
        "unlearn", "state", "photos/red/0.png", "photos/red/1.png", "--label", "red", "--model", tiny_model
    )
    assert code == 0 and "Unlearned 2 pictures. Known classes: green, red." in out
    wanted = Learner.from_pretrained(tiny_model, strategy="exact", digests=True)
    wanted.learn(images[2:], labels[2:])
    assert Learner.load("state", tiny_model).state_hash() == wanted.state_hash()
    code, out, err = shell("unlearn", "state", "photos/red", "--label", "red", "--model", tiny_model)
    assert code == 1 and "2 of the pictures were never learned as 'red'; nothing is unlearned." in err
    wanted.learn(images[:2], labels[:2])
    assert wanted.state_hash() == whole
    wanted.save("whole")
    code, out, _ = shell("unlearn", "whole", "photos", "--model", tiny_model, "--json")
    assert code == 0 and json.loads(out)["classes"] == []
    assert json.loads(out)["hash"] == Learner.from_pretrained(tiny_model, strategy="exact").state_hash()
    assert not np.any(Learner.load("whole", tiny_model).state().arrays()["sums.products"])


def test_what_unlearn_cannot_know_it_says_before_and_can_be_undone(shell, tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    images, _ = tiny.pictures("red", each=200, seed=5)
    learner.learn(images, "red")
    learner.save("state")
    before = learner.state_hash()
    for name, image in (("first.png", images[0]), ("never.png", tiny.pictures("red", each=1, seed=99)[0][0])):
        Image.fromarray(image).save(name)
    model_option = ("--model", tiny_model)
    code, out, err = shell("unlearn", "state", "never.png", "--label", "red", *model_option)
    assert code == 0 and "it cannot know whether these pictures were learned" in " ".join(err.split())
    assert "--final" in err and "`bitreplay rollback state` brings it back" in " ".join(out.split())
    assert shell("rollback", "state", *model_option)[0] == 0
    assert Learner.load("state", tiny_model).state_hash() == before
    code, out, err = shell("unlearn", "state", "first.png", "--label", "red", "--final", *model_option)
    assert code == 0 and "this cannot be undone" in " ".join(err.split()) and "does not bring it back" in out
    for generation in ("state", "state.before"):
        assert Learner.load(generation, tiny_model).state_hash() != before
    Image.fromarray(np.full((8, 8, 3), 255, np.uint8)).save("white.png")
    code, _, err = shell("unlearn", "state", *["white.png"] * 9, "--label", "red", *model_option)
    assert code == 1 and "cannot all have been learned" in " ".join(err.split())


def test_what_is_learned_again_is_counted_where_digests_tell(shell, tiny_model, tmp_path):
    images, _ = tiny.pictures("red", each=3)
    (tmp_path / "photos" / "red").mkdir(parents=True)
    for number, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / "photos" / "red" / f"{number}.png")
    model_option = ("--model", tiny_model)
    code, out, _ = shell("learn", "state", "photos", *model_option, "--digests", "--json")
    assert code == 0 and json.loads(out)["learned_before"] == 0
    code, out, _ = shell("learn", "state", "photos", *model_option)
    assert code == 0 and "All of them had been learned before as the same classes and" in " ".join(out.split())
    Image.fromarray(tiny.pictures("red", each=1, seed=9)[0][0]).save("new.png")
    code, out, _ = shell("learn", "state", "new.png", "photos/red/0.png", "--label", "red", *model_option)
    assert code == 0 and "1 of them had been learned before as the same class" in " ".join(out.split())
    code, out, _ = shell("learn", "state", "photos/red/0.png", "--label", "other", *model_option, "--json")
    assert code == 0 and json.loads(out)["learned_before"] == 0
