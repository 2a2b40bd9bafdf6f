"""--size: where a state is begun, a plan is made or a device is built, and what `info` says of it."""

from __future__ import annotations

import json
import shutil

import pytest
from PIL import Image

from bitreplay import Learner
from tests import tiny


@pytest.fixture
def photos(tmp_path):
    images, labels = tiny.pictures("red", "green", each=6, side=40)
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        (tmp_path / "photos" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "photos" / label / f"{number}.png")
    return tmp_path / "photos"


def test_a_state_is_begun_at_a_size_and_keeps_it(tiny_model, photos, shell):
    code, out, _ = shell("learn", "state", photos, "--model", tiny_model, "--size", 16)
    assert code == 0 and "at 16x16 pixels" in " ".join(out.split())
    code, _, error = shell("learn", "state", photos, "--model", tiny_model, "--size", 12)
    assert code == 1 and "its settings cannot be changed: leave out size" in error
    assert shell("learn", "state", photos, "--model", tiny_model)[0] == 0
    twin = Learner.from_pretrained(tiny_model, size=16)
    images, labels = zip(*[(path, path.parent.name) for path in sorted(photos.glob("*/*"))], strict=True)
    for _ in range(2):
        twin.learn(list(images), list(labels))
    code, out, _ = shell("info", "state", "--json")
    printed = json.loads(out)
    assert printed["settings"]["size"] == 16 and printed["hash"] == twin.state_hash()
    code, out, _ = shell("predict", "state", photos / "red" / "0.png", "--model", tiny_model, "--json")
    assert json.loads(out)["predictions"][0]["label"] == "red"


def test_sizes_that_do_not_fit_are_refused(tiny_model, photos, shell):
    code, _, error = shell("learn", "state", photos, "--model", tiny_model, "--size", 18)
    assert code == 1 and "tiny0 can be used at size 8 to 512 in steps of 4, got 18." in error
    code, _, error = shell("plan", "quicknet", "--size", 100)
    assert code == 1 and "64 to 512 in steps of 32" in error


def test_models_say_their_sizes(shell):
    assert json.loads(shell("info", "quicknet", "--json")[1])["sizes"] == "64 to 512 in steps of 32"
    assert "64 to 512" in shell("models")[1] and "32 alone" in shell("models")[1]


@pytest.mark.parametrize("target", [[], ["--target", "cortex-m7", "--feature-layers", "head"]])
def test_a_plan_is_for_a_size(target, shell):
    own, large = (
        json.loads(shell("plan", "react_tiny", *words, *target, "--json")[1])
        for words in (["--size", 32], ["--size", 256])
    )
    assert (own["size"], large["size"]) == (32, 256)
    assert json.loads(shell("plan", "react_tiny", *target, "--json")[1])["ram"] == own["ram"] < large["ram"]
    assert large["state"] == own["state"]


def test_what_fits_a_budget_fits_at_that_size(shell):
    code, out, _ = shell("plan", "react_tiny", "--size", 64, "--budget", "64MB", "--json")
    result = json.loads(out)
    assert code == 0 and {each["size"] for each in result} == {64}
    assert all(each["expected"] is None for each in result)  # accuracies were measured at the model's own


def test_an_exported_model_is_for_a_size(tiny_model, tmp_path, shell):
    code, out, _ = shell("export", tiny_model, "--size", 16, "--out", tmp_path / "device", "--json")
    printed = json.loads(out)
    assert code == 0 and printed["size"] == 16
    own = json.loads(shell("export", tiny_model, "--size", 8, "--out", tmp_path / "own", "--json")[1])
    plain = json.loads(shell("export", tiny_model, "--out", tmp_path / "plain", "--json")[1])
    assert own["model_bin_sha256"] == plain["model_bin_sha256"] != printed["model_bin_sha256"]
    assert own["main_prints"] != printed["main_prints"]


def test_a_run_is_at_a_size(tiny_model, photos, shell):
    for part in ("train", "test"):
        shutil.copytree(photos, photos.parent / "split" / part)
    run = ("run", "--data", photos.parent / "split", "--model", tiny_model, "--json")
    large, own = (json.loads(shell(*run, "--size", size, "--out", f"run{size}")[1]) for size in (16, tiny.SIDE))
    assert large["config"]["settings"]["size"] == 16 and own["config"]["settings"]["size"] is None
    assert large["hash"] != own["hash"]
