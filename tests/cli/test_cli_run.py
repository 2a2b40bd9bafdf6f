"""Protocol runs and the demo: rows, plots, and runs that go on where they were cut off."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from bitreplay.cli.plot import line_chart
from bitreplay.cli.runfolder import default_path
from bitreplay.data.groceries import groceries
from bitreplay.learner import Learner
from tests import tiny

SETTINGS = ("--learning-rate", "0.3", "--memory-per-class", "5")


@pytest.fixture
def data(tmp_path):
    train, test = (tiny.pictures(*tiny.COLOURS, each=each, seed=seed) for each, seed in ((12, 0), (10, 1)))
    path = tmp_path / "colours.npz"
    np.savez(path, train_images=train[0], train_labels=train[1], test_images=test[0], test_labels=test[1])
    return path


def test_a_run_leaves_config_rows_plot_and_state(shell, data, tiny_model, tmp_path):
    code, out, err = shell(
        "run", "--data", data, "--model", tiny_model, "--out", "here", "--seed", 2, *SETTINGS, "--json"
    )
    assert code == 0, err
    result = json.loads(out)
    assert [row["experience"] for row in result["rows"]] == [0, 1]
    assert sorted(name for row in result["rows"] for name in row["classes"]) == sorted(tiny.COLOURS)
    assert result["final"] == result["rows"][-1]["accuracy"] > 0.9 and result["rows"][0]["accuracy"] <= 0.5
    assert result["rows"][0]["seen_accuracy"] > 0.9 and -1 <= result["backward_transfer"] <= 0.1
    lines = (tmp_path / "here" / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == result["rows"]
    assert json.loads((tmp_path / "here" / "config.json").read_text()) == result["config"]
    ElementTree.parse(tmp_path / "here" / "plot.svg")
    assert Learner.load(tmp_path / "here" / "state", tiny_model).state_hash() == result["hash"]


def test_ni_brings_every_class_each_time(shell, data, tiny_model):
    code, out, _ = shell("run", "--data", data, "--scenario", "ni", "--model", tiny_model, *SETTINGS, "--json")
    result = json.loads(out)
    assert code == 0 and len(result["rows"]) == 5 and "forgetting" not in result
    assert all(sorted(row["classes"]) == sorted(tiny.COLOURS) for row in result["rows"])
    assert result["folder"].startswith("runs/")


@pytest.mark.parametrize("cut", ["learning", "before the row", "half a row"])
def test_a_run_that_was_cut_off_ends_like_one_that_was_not(shell, data, tiny_model, tmp_path, monkeypatch, cut):
    command = ("run", "--data", data, "--model", tiny_model, *SETTINGS, "--json", "--out")
    whole = json.loads(shell(*command, "whole")[1])
    rows = tmp_path / "cut" / "rows.jsonl"
    if cut == "learning":
        original, calls = Learner.learn, []

        def learn(self, *arguments, **named):
            calls.append(1)
            if len(calls) == 2:
                raise OSError("the power failed")
            return original(self, *arguments, **named)

        with monkeypatch.context() as patch:
            patch.setattr(Learner, "learn", learn)
            assert shell(*command, "cut")[0] == 1
        assert len(rows.read_text().splitlines()) == 1
    else:
        assert shell(*command, "cut")[0] == 0
        text = rows.read_text()
        last = text.rindex("\n", 0, -1) + 1
        rows.write_text(text[:last] if cut == "before the row" else text[: last + 30])
    result = json.loads(shell(*command, "cut")[1])
    assert result["hash"] == whole["hash"]
    timeless = [[{k: v for k, v in row.items() if k != "seconds"} for row in run["rows"]] for run in (result, whole)]
    assert timeless[0] == timeless[1]


def test_a_finished_run_is_only_shown_again(shell, data, tiny_model):
    command = ("run", "--data", data, "--model", tiny_model, *SETTINGS, "--json", "--out", "here")
    assert json.loads(shell(*command)[1]) == json.loads(shell(*command)[1])


def test_a_folder_with_another_run_is_refused(shell, data, tiny_model):
    command = ("run", "--data", data, "--model", tiny_model, "--out", "here", *SETTINGS)
    assert shell(*command)[0] == 0
    code, _, err = shell(*command, "--epochs", 7, "--limit", 3)
    assert code == 1 and err.strip() == (
        "here holds a run with another epochs (5, now 7), limit (None, now 3); choose another folder."
    )


def test_runs_that_differ_in_anything_have_folders_of_their_own(shell, data, tiny_model):
    command = ("run", "--data", "colours.npz", "--model", tiny_model, "--limit", 2, *SETTINGS, "--json")
    runs = [json.loads(shell(*command, *more)[1]) for more in ((), ("--epochs", 7), ())]
    first, second, again = (run["folder"] for run in runs)
    assert first == again != second
    assert re.fullmatch("runs/colours.npz-nc-tiny0-replay-8-1-16-seed0-[0-9a-f]{8}", first)
    config = runs[0]["config"]
    changed = [config | {name: "other"} for name in config if name != "settings"]
    for name in config["settings"]:
        changed.append(config | {"settings": config["settings"] | {name: "other"}})
    assert len({first, *(str(default_path(one)) for one in changed)}) == 1 + len(changed)


@pytest.mark.parametrize("lost", ["all rows", "the first row"])
def test_rows_that_cannot_be_made_again_are_not_invented(shell, data, tiny_model, tmp_path, lost):
    command = ("run", "--data", data, "--model", tiny_model, *SETTINGS, "--out", "here")
    assert shell(*command)[0] == 0
    rows = tmp_path / "here" / "rows.jsonl"
    kept = b"" if lost == "all rows" else rows.read_bytes().split(b"\n")[1] + b"\n"
    rows.write_bytes(kept)
    code, out, err = shell(*command)
    assert code == 1 and out == "" and err.strip().count("\n") == 0
    assert "rows.jsonl lacks rows that cannot be computed again: expected experiences 1 to 2" in err
    assert rows.read_bytes() == kept


def test_a_run_prints_the_name_of_its_data_as_it_is(shell, data, tiny_model):
    data.rename("set [b].npz")
    code, out, _ = shell("run", "--data", "set [b].npz", "--model", tiny_model, *SETTINGS)
    assert code == 0 and "set [b].npz nc, tiny0, replay" in out and "runs/set [b].npz-nc-" in out


def test_limit_takes_the_first_images_of_each_class(shell, data, tiny_model):
    code, out, _ = shell("run", "--data", data, "--model", tiny_model, "--limit", 3, *SETTINGS, "--json")
    assert code == 0 and [row["pictures"] for row in json.loads(out)["rows"]] == [6, 6]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--data", "none"), "There is no data set 'none'"),
        (("--data", "none.npz"), "none.npz cannot be read as .npz"),
        (("--data", "groceries", "--scenario", "xx"), "scenario must be nc or ni"),
        (("--data", "groceries", "--strategy", "xx"), "strategy must be one of"),
        (("--data", "cifar10", "--data-dir", "none"), "CIFAR-10 is not at none: get it from https://"),
        (("--data", "groceries", "--limit", "0"), "A limit must be 1 or more, got 0"),
        (("--data", "groceries", "--seed", "-1"), "seed must be an integer from 0"),
        (("--data", "groceries", "--latent-bits", "3"), "latent_bits must be one of"),
        (("--data", "groceries", "--latent-bits", "16", "--replay-layer", "x"), "has no replay layer 'x'"),
        (("--data", "groceries", "--out", "file"), "file cannot be a run folder: File exists"),
        (("--data", "groceries", "--out", "odd"), "config.json is damaged: it does not hold JSON objects"),
        (("--data", "broken"), "0.png cannot be read as a picture"),
        (("--data", "lacking"), "lacking/b has no pictures"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_sentence(shell, tiny_model, tmp_path, arguments, sentence):
    (tmp_path / "file").write_text("text")
    for folder in ("odd", "broken/a", "lacking/a", "lacking/b"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "odd" / "config.json").write_text("[" * 5000)
    for number in range(5):
        for folder in ("broken", "lacking"):
            (tmp_path / folder / "a" / f"{number}.png").write_bytes(b"text")
    code, _, err = shell("run", *arguments, "--model", tiny_model)
    assert code == 1 and sentence in err and err.strip().count("\n") == 0


def test_a_run_leaves_out_pictures_that_cannot_be_read_if_told_so(shell, tiny_model, tmp_path):
    images, labels = tiny.pictures("red", "green", each=10)
    for k, (image, label) in enumerate(zip(images, labels, strict=True)):
        (tmp_path / "set" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "set" / label / f"{k:02d}.png")
    (tmp_path / "set" / "red" / "00.png").write_bytes(b"text")
    command = ("run", "--data", "set", "--model", tiny_model, *SETTINGS, "--json")
    code, _, err = shell(*command)
    assert code == 1 and "00.png cannot be read as a picture" in err
    code, out, err = shell(*command, "--skip-unreadable")
    assert code == 0 and "skipped: " in err and "00.png" in err
    assert sum(row["pictures"] for row in json.loads(out)["rows"]) == 16


@pytest.mark.parametrize("place", [".", "none/chart.svg"])
def test_a_chart_that_has_no_place_is_refused_before_anything_is_learned(shell, tiny_model, place):
    code, out, err = shell("demo", "--model", tiny_model, "--plot", place)
    assert code == 1 and out == "" and err.startswith(f"The chart cannot be written to {place}")


def test_the_demo_compares_the_strategies_and_the_bound(shell, tiny_model, tmp_path):
    code, out, err = shell("demo", "--model", tiny_model, "--plot", "chart.svg", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert len(result["rows"]) == 7 and sum(row["pictures"] for row in result["rows"]) == 732
    assert len({name for row in result["rows"] for name in row["classes"]}) == 14
    assert all(set(row["accuracy"]) == {"replay", "cwr", "naive", "exact"} for row in result["rows"])
    latents, sums = result["bytes"]["replay"], result["bytes"]["exact"]
    assert latents["stored_latents"] == latents["one_latent"] * 14 * 30
    assert sums["products"] == 4 * 80 * 81 // 2 and sums["class_sums"] == 14 * (4 * 80 + 8)
    lines = ElementTree.parse(tmp_path / "chart.svg").getroot().iter("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [7, 7, 7, 7, 7]


def test_the_demo_prints_a_table(shell, tiny_model):
    code, out, _ = shell("demo", "--model", tiny_model, "--no-joint")
    assert code == 0 and "BNN+CWR*" in out and out.count(" %") >= 28 and "bitreplay-demo.svg" in out
    assert all(f"│ {name} " in out for name in groceries().class_names) and "\nLearned in: exact sums " in out


@pytest.mark.slow
def test_the_demo_as_it_ships(shell):
    """It prints the committed figures, to the digit; exact sums and 1-bit replay clearly above the baselines."""
    code, out, _ = shell("demo", "--json")
    result = json.loads(out)
    committed = json.loads((Path(__file__).parents[2] / "experiments" / "results" / "demo.json").read_text())
    assert code == 0 and [row["accuracy"] for row in result["rows"]] == [row["accuracy"] for row in committed["rows"]]
    assert {key: result[key] for key in ("model", "size", "seed", "joint")}.items() <= committed.items()
    last = result["rows"][-1]["accuracy"]
    assert last["exact"] > last["replay"] > max(last["cwr"], last["naive"]) + 0.1


def test_a_chart_puts_values_where_they_belong():
    root = ElementTree.fromstring(line_chart("a < b", {"one": [0.0, 0.5, 1.0], "two & more": [0.25]}))
    lines = [line.attrib["points"] for line in root.iter("{http://www.w3.org/2000/svg}polyline")]
    points = [tuple(map(float, point.split(","))) for point in lines[0].split()]
    xs, ys = zip(*points, strict=True)
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1]) and ys[0] - ys[1] == pytest.approx(ys[1] - ys[2])
    texts = {text.text: float(text.attrib["y"]) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts["0 %"] - 4 == ys[0] and texts["100 %"] - 4 == ys[2]
    assert "a < b" in texts and "two & more 25.0 %" in texts and "one 100.0 %" in texts


def test_a_chart_names_what_was_new_under_each_number():
    classes = [["kiwi & more", "apple"], ["pear"], ["plum"]]
    root = ElementTree.fromstring(line_chart("t", {"one": [0.0, 0.5, 1.0]}, below=classes))
    places = {text.text: text.attrib for text in root.iter("{http://www.w3.org/2000/svg}text")}
    height = float(root.attrib["viewBox"].split()[3])
    for number, names in enumerate(classes, 1):
        for name in names:
            place = places[name]
            assert abs(float(place["x"]) - float(places[str(number)]["x"])) < 20
            assert float(places[str(number)]["y"]) < float(place["y"]) < height


def test_a_run_on_a_folder_says_how_it_splits(shell, tiny_model, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("cup", "jug"):
        for session in range(3 if name == "cup" else 1):
            scene = rng.integers(40, 216, (8, 8, 3))
            for k in range(4):
                noisy = (scene + rng.integers(-9, 10, scene.shape)).astype(np.uint8)
                (tmp_path / "set" / name).mkdir(parents=True, exist_ok=True)
                Image.fromarray(noisy).save(tmp_path / "set" / name / f"{session}{k}.png")
    command = ("run", "--data", "set", "--model", tiny_model, "--out", "here")
    code, out, err = shell(*command)
    words = " ".join(out.split())
    assert code == 0, err
    assert (
        "Of 16 pictures in 4 series (near-duplicates by name, time or looks), 12 are learned and 4 are the test"
        in words
    )
    assert "jug is not tested: it has 4 pictures in 1 series" in words
    result = json.loads(shell(*command, "--json")[1])
    assert result["splits"] == [
        {"name": "cup", "learned": 8, "tested": 4, "series": 3},
        {"name": "jug", "learned": 4, "tested": 0, "series": 1},
    ]  # fmt: skip
    assert result["config"]["split"] == "series"


def test_a_config_file_gives_options_and_the_command_line_has_the_last_word(shell, data, tiny_model, tmp_path):
    (tmp_path / "run.toml").write_text(
        f'data = "colours.npz"\nmodel = "{tiny_model}"\nmemory-per-class = 5\nlearning-rate = 0.3\nlimit = 3\n'
        "seed = 4\njson = true\n"
    )
    code, out, err = shell("run", "--config", "run.toml", "--seed", 2)
    assert code == 0, err
    result = json.loads(out)
    settings = result["config"]["settings"]
    assert (settings["memory_per_class"], settings["learning_rate"], settings["seed"], result["config"]["limit"]) == (
        5,
        "3/10",
        2,
        3,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour = 1", "has 'colour', which is not an option of this command"),
        ("config = 'x'", "has 'config', which is not an option"),
        ("data = [1]", "data in run.toml must be text, a number, true or false, got [1]"),
        ("data =", "run.toml cannot be read as TOML"),
        (None, "run.toml"),
    ],
)
def test_a_config_file_that_does_not_fit_is_refused(shell, tmp_path, text, sentence):
    if text is not None:
        (tmp_path / "run.toml").write_text(text)
    code, out, err = shell("run", "--config", "run.toml", "--data", "groceries")
    assert code == 1 and out == "" and sentence in err and err.strip().count("\n") == 0
