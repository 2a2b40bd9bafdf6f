"""The command line with a companion that has a prior and says how many components: nothing has to be named."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from bitreplay import Learner
from tests import tiny
from tests.core.c_learner import CLearner
from tests.strategies.prior_companion import model_with_prior


@pytest.fixture
def model(tmp_path):
    (tmp_path / "model").mkdir()
    return model_with_prior(tmp_path / "model", default_components=9)


@pytest.fixture
def photos(tmp_path):
    pictures, labels = tiny.pictures("red", "blue", each=4)
    for number, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        (tmp_path / "photos" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(tmp_path / "photos" / label / f"{number}.png")
    return tmp_path / "photos"


def test_learn_predict_and_info(shell, model, photos, tmp_path):
    assert shell("learn", "x.state", photos, "--model", model)[0] == 0
    own = Learner.from_pretrained(model, n_components=9)
    own.learn(*tiny.pictures("red", "blue", each=4))
    told = json.loads(shell("info", "x.state", "--json")[1])
    assert told["hash"] == own.state_hash() and told["n_features"] == 9
    assert told["settings"]["n_components"] == 9 and told["settings"]["projection"] == own.settings.projection
    assert shell("learn", "x.state", photos, "--model", model)[0] == 0
    answers = json.loads(shell("predict", "x.state", photos / "red", "--model", model, "--json")[1])
    assert "red" in json.dumps(answers)
    assert json.loads(shell("info", model, "--json")[1])["projection"] == "12 axes of roots, 9 by default"


def test_plan(shell, model):
    planned = json.loads(shell("plan", model, "--classes", 4, "--measure", "--json")[1])
    named = json.loads(shell("plan", model, "--classes", 4, "--n-components", 9, "--json")[1])
    assert planned["state"] == named["state"] and planned["ram"] == named["ram"]
    whole = json.loads(shell("plan", model, "--classes", 4, "--feature-layers", "head", "--json")[1])
    assert whole["state"] != planned["state"]
    assert shell("plan", model, "--classes", 4, "--target", "cortex-m7")[0] == 0
    assert shell("plan", model, "--classes", 4, "--budget", "4MB")[0] == 0


def test_export(shell, model, tmp_path):
    assert shell("export", model, "--out", tmp_path / "device", "--classes", 4)[0] == 0
    about = json.loads((tmp_path / "device" / "export.json").read_text())
    assert about["n_components"] == 9
    own = Learner.from_pretrained(model)
    c = CLearner((tmp_path / "device" / "model.bin").read_bytes(), classes=4)
    pictures, labels = tiny.pictures("red", "blue", each=4)
    own.learn(pictures, labels)
    c.learn(pictures, labels)
    assert c.state_hash() == own.state_hash()
