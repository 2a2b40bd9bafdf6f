"""The commands, called as the shell does: what they print, what they leave behind, how they exit."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner, statefile
from bitreplay.cli import show
from bitreplay.parts.backbone import Backbone
from tests import tiny


def write_pictures(folder: Path, *colours: str, each: int = 6, seed: int = 0) -> Path:
    images, labels = tiny.pictures(*colours, each=each, seed=seed, side=12)
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        (folder / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / label / f"{number}.png")
    return folder


@pytest.fixture
def begun(shell, tiny_model, tmp_path):
    """A state that knows red and green."""
    folder = write_pictures(tmp_path / "first", "red", "green")
    code, out, err = shell(
        "learn", "state", folder, "--model", tiny_model, "--learning-rate", "0.3", "--seed", 4, "--json"
    )
    assert code == 0, err
    return json.loads(out)


def test_learn_begins_a_state_and_goes_on_with_it(shell, begun, tiny_model, tmp_path):
    assert begun["new_classes"] == ["green", "red"] and begun["pictures"] == 12 and begun["experience"] == 0
    second = write_pictures(tmp_path / "second", "blue", seed=1)
    code, out, _ = shell("learn", "state", second, "--model", tiny_model)
    assert code == 0 and "Learned 6 pictures" in out and "new: blue" in out and "3 classes are known" in out
    learner = Learner.load("state", tiny_model)
    assert learner.labels == ["green", "red", "blue"] and str(learner.settings.learning_rate) == "3/10"
    assert (tmp_path / "state").stat().st_size < 20_000


def test_learning_from_the_shell_is_learning_from_the_library(begun, tiny_model, tmp_path):
    from bitreplay.cli.reading import SkippedFiles, read_labelled

    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, seed=4)
    learner.learn(*read_labelled(tmp_path / "first", None, tiny.SIDE, SkippedFiles(False))[:2])
    assert learner.state_hash() == begun["hash"]


def test_a_folder_of_one_class(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "more", "blue") / "blue"
    code, out, _ = shell("learn", "state", folder, "--label", "sky", "--model", tiny_model, "--json")
    assert code == 0 and json.loads(out)["new_classes"] == ["sky"]


def test_predict_answers_with_probabilities(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "test", "red", "green", seed=5)
    code, out, _ = shell("predict", "state", folder / "red", folder / "green" / "6.png", "--model", tiny_model,
                         "--top", 2, "--json")  # fmt: skip
    result = json.loads(out)["predictions"]
    assert code == 0 and [p["label"] for p in result] == ["red"] * 6 + ["green"]
    assert all(abs(sum(a["probability"] for a in p["likely"]) - 1) < 1e-4 for p in result)
    code, out, _ = shell("predict", "state", folder / "red", "--model", tiny_model)
    assert code == 0 and out.count("red") >= 6


def test_predict_fits_each_picture_and_passes_the_backbone_once(shell, begun, tiny_model, tmp_path, monkeypatch):
    folder = write_pictures(tmp_path / "test", "red", "green", seed=5)
    shapes: dict[type[Backbone | Learner], list[tuple[int, ...]]] = {Backbone: [], Learner: []}

    def watched(owner, original):
        def encode(self, images):
            shapes[owner].append(np.shape(images))
            return original(self, images)

        return encode

    monkeypatch.setattr(Backbone, "latents", watched(Backbone, Backbone.latents))
    monkeypatch.setattr(Learner, "encode", watched(Learner, Learner.encode))
    _, out, _ = shell("predict", "state", folder / "red", folder / "green", "--model", tiny_model, "--json")
    assert {shape[1:] for shape in shapes[Learner]} == {(tiny.SIDE, tiny.SIDE, 3)}
    assert [sum(shape[0] for shape in each) for each in shapes.values()] == [12, 12]
    images, labels = tiny.pictures("red", "green", each=6, seed=5, side=12)
    shares = Learner.load("state", tiny_model).predict_proba(images).max(axis=1)
    result = {int(Path(p["image"]).stem): p for p in json.loads(out)["predictions"]}
    assert [result[k]["label"] for k in range(12)] == labels
    assert [result[k]["likely"][0]["probability"] for k in range(12)] == shares.round(6).tolist()


def test_predict_may_say_unknown(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "test", "white", seed=5)
    for share, expected in ((0, {"red", "green"}), (0.5, {"unknown"})):
        code, out, _ = shell("predict", "state", folder / "white", "--model", tiny_model, "--unknown", share, "--json")
        answers = {p["label"] or "unknown" for p in json.loads(out)["predictions"]}
        assert code == 0 and answers <= expected | {"unknown"} and bool(answers & expected)


def test_forget_rename_and_rollback(shell, begun, tiny_model):
    code, out, _ = shell("rename", "state", "red", "cherry", "--model", tiny_model, "--json")
    assert code == 0 and json.loads(out)["classes"] == ["green", "cherry"]
    code, out, _ = shell("rollback", "state", "--model", tiny_model)
    assert code == 0 and "green, red" in out
    code, out, _ = shell("forget", "state", "red", "--model", tiny_model)
    assert code == 0 and "Known classes: green." in out
    code, _, err = shell("rollback", "state", "--model", tiny_model, "--json")
    assert code == 0 and Learner.load("state", tiny_model).labels == ["green"]


def test_forget_a_sample(shell, begun, tiny_model):
    first = Learner.load("state", tiny_model).stored()[0]
    code, *_ = shell("forget", "state", "--sample", first.ids[0], "--model", tiny_model)
    assert code == 0 and Learner.load("state", tiny_model).stored()[0].samples == first.samples - 1
    code, out, _ = shell("forget", "state", "--sample", first.ids[0], "--model", tiny_model)
    assert code == 0 and "was no longer stored" in out
    code, _, err = shell("forget", "state", "--sample", 10**6, "--model", tiny_model)
    assert code == 1 and "There has never been a sample" in err


def test_numbers_as_names_can_be_forgotten_from_the_shell(shell, tiny_model):
    learner = Learner.from_pretrained(tiny_model)
    learner.learn(np.zeros((2, 8, 8, 3), np.uint8), [7, 8])
    learner.save("state")
    assert shell("forget", "state", "7", "--model", tiny_model)[0] == 0
    assert Learner.load("state", tiny_model).labels == [8]


def test_info_describes_a_state_without_its_model(shell, begun):
    code, out, _ = shell("info", "state", "--json")
    result = json.loads(out)
    assert code == 0 and result["model"] == "tiny0" and result["classes"] == ["green", "red"]
    assert result["hash"] == begun["hash"] and result["settings"]["learning_rate"] == "3/10"
    assert [(kept["label"], kept["experiences"]) for kept in result["stored"]] == [
        ("green", {"0": 6}),
        ("red", {"0": 6}),
    ]
    assert shell("info", "state")[0] == 0


def test_info_describes_a_model_and_the_machine(shell, tiny_model):
    code, out, _ = shell("info", tiny_model, "--json")
    assert code == 0 and json.loads(out)["replay_layers"] == {"add_0": "2x2x16"}
    code, out, _ = shell("info", "--json")
    result = json.loads(out)
    assert code == 0 and result["instruction_set_used"] in result["instruction_sets_supported"]
    assert 1 <= result["predictions_at_once"] <= 8
    assert set(result["instruction_sets_supported"]) <= set(result["instruction_sets_built"])
    assert "scalar" in result["instruction_sets_built"]


def test_models_lists_every_file_of_the_zoo(shell):
    from bitreplay import zoo

    code, out, _ = shell("models", "--json")
    result = {model["name"]: model for model in json.loads(out)["models"]}
    networks = {path.stem.partition("@")[0] for path in zoo.FOLDER.glob("*.safetensors") if "." not in path.stem}
    assert code == 0 and set(result) == networks
    assert result["bireal18"]["replay_layers"] == {"add_8": "8x8x256", "add_12": "4x4x512"}


def test_models_says_what_the_licences_allow_and_which_generations_ship(shell, monkeypatch, tmp_path):
    from bitreplay import modelfile, zoo

    graph, about = modelfile.load(zoo.find("vgg_small@1").path)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    for stem, licence in (("vgg_small", "for looking at"), ("vgg_small@2", "for everything"), ("other", "")):
        name = stem.partition("@")[0]
        modelfile.save(graph, tmp_path / f"{stem}.safetensors", about | {"licence": licence, "name": name})
    code, out, _ = shell("models")
    assert code == 0 and "Licence of vgg_small: for everything" in out and "for looking at" not in out
    assert "Licence of other: unknown" in out and "Older generations that also ship: vgg_small@1." in out


def test_models_prints_every_model_in_80_columns(shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = shell("models")
    assert code == 0 and "…" not in out and max(map(len, out.splitlines())) <= 80
    models = json.loads(shell("models", "--json")[1])["models"]
    assert all(model["name"] in out and f"{model['weights'] / 1e6:.1f}M" in out for model in models)
    assert all(replay_layer in out for model in models for replay_layer in model["replay_layers"])
    assert {model["name"]: model["weights"] for model in models}["react18"] == 11_295_944


def test_info_prints_a_shipped_model_layer_by_layer(shell):
    code, out, _ = shell("info", "react18")
    assert code == 0 and "binary_conv" in out and "distill" in out
    result = json.loads(shell("info", "react18", "--json")[1])
    assert result["projection"] == "1024 axes" and "projection" not in json.loads(
        shell("info", "vgg_small", "--json")[1]
    )
    assert 0 < result["bytes"] - sum(layer["bytes"] for layer in result["layers"]) < 2**20
    assert result["top1_integer"] == 50.86 and result["recipe"]["model"] == "react18"


def test_info_does_not_read_what_is_no_file_of_ours(shell, tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(3 << 30)
    code, _, err = shell("info", tmp_path / "huge")
    assert code == 1 and "is not a bitreplay file" in err


def test_brackets_and_colons_in_names_are_printed_as_they_are(shell, tiny_model, tmp_path):
    folder, name = tmp_path / "first", "apple [old] :apple:"
    write_pictures(folder, "red", "green")
    (folder / "red").rename(folder / name)
    code, out, _ = shell("learn", "s [x]", folder, "--model", tiny_model, "--learning-rate", "0.3")
    assert code == 0 and name in " ".join(out.split()) and "s [x] is" in " ".join(out.split())
    code, out, _ = shell("rename", "s [x]", "green", "[/b]", "--model", tiny_model)
    assert code == 0 and out.startswith("green is now [/b]. Known classes: ") and name in out
    code, out, _ = shell("info", "s [x]")
    assert code == 0 and "s [x]" in out and f"{name} │" in out and "[/b] " in out
    (tmp_path / "p[b]").mkdir()
    for source, answer in ((folder / name / "0.png", name), (folder / "green" / "6.png", "[/b]")):
        source.rename(tmp_path / "p[b]" / "1.png")
        code, out, _ = shell("predict", "s [x]", "p[b]/1.png", "--model", tiny_model)
        assert code == 0 and "p[b]/1.png" in out and f"│ {answer} " in out
    code, out, _ = shell("forget", "s [x]", "[/b]", "--model", tiny_model)
    assert code == 0 and out.startswith("Forgotten: [/b].")


def test_the_progress_bar_shows_its_text_as_it_is(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with show.bar() as bar:
        bar.part("a [/b] c", 1, 2)
    assert "a [/b] c" in capsys.readouterr().err


# what is refused, and how


def test_exit_codes(shell, begun, tiny_model, tmp_path):
    folder = tmp_path / "first"
    assert shell()[0] == 2 and shell("learn")[0] == 2 and shell("fly")[0] == 2
    with statefile.Lock(tmp_path / "state"):
        code, _, err = shell("learn", "state", folder, "--model", tiny_model)
        assert code == 3 and "in use by another process" in err
    code, _, err = shell("learn", "state", folder, "--model", tiny_model, "--time-limit", 0)
    assert code == 4 and "nothing has changed" in err
    assert Learner.load("state", tiny_model).state_hash() == begun["hash"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["learn", "state", "none"], "none is not a folder"),
        (["learn", "state", "empty"], "has no class folder with readable pictures"),
        (["learn", "state", "empty", "--label", "x"], "has no readable pictures"),
        (["learn", "state", "first", "--epochs", "3"], "its settings cannot be changed: leave out epochs"),
        (["learn", "other", "first", "--learning-rate", "0"], "learning_rate must be above 0"),
        (["learn", "other", "first", "--bits", "7/7/7"], "bits must be one of"),
        (["learn", "text", "first"], "not a bitreplay file"),
        (["predict", "state", "none.png"], "none.png cannot be read as a picture"),
        (["predict", "none", "none.png"], "No such file"),
        (["forget", "state", "plum"], "There is no class 'plum'; known: green, red"),
        (["forget", "state"], "either a label or a sample"),
        (["rename", "state", "red", "green"], "There is a class 'green' already"),
        (["rollback", "state"], "no revision before this one"),
        (["rename", "state", "red", ""], "1 to 200 characters"),
        (["rename", "none", "red", "blue"], "No such file"),
        (["forget", "state", "--sample", "99"], "There has never been a sample 99"),
        (["learn", "state", "first", "--time-limit", "nan"], "time_limit must be a number of seconds"),
        (["learn", "empty", "first"], "empty is not a file"),
        (["learn", "none/state", "first"], "No such file or directory"),
        (["predict", "state", "empty"], "There are no readable pictures"),
        (["predict", "state", "first/red", "--unknown", "2"], "unknown must be at least 0 and below 1"),
        (["predict", "empty", "first/red"], "empty is not a file"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(shell, begun, tiny_model, tmp_path, arguments, sentence):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("not a state, but long enough to have a header and a checksum" * 9)
    before = (tmp_path / "state").read_bytes()
    code, out, err = shell(*arguments, "--model", tiny_model)
    assert code == 1 and sentence in err and err.strip().count("\n") == 0 and out == ""
    assert (tmp_path / "state").read_bytes() == before and not (tmp_path / "other").exists()


def test_the_wrong_model_and_a_model_as_state(shell, begun, tmp_path):
    other = tiny.model(tmp_path, seed=3)
    code, _, err = shell("predict", "state", tmp_path / "first" / "red", "--model", other)
    assert code == 1 and "belongs to the model tiny0" in err
    code, _, err = shell("predict", other, tmp_path / "first" / "red")
    assert code == 1 and "is not a state file" in err
    assert shell("info", tmp_path / "none")[0] == 1


def test_an_unreadable_picture_is_refused_or_left_out_as_chosen(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "second", "blue")
    broken = folder / "blue" / "broken.png"
    broken.write_bytes((folder / "blue" / "0.png").read_bytes()[:60])
    code, _, err = shell("learn", "state", folder, "--model", tiny_model)
    assert code == 1 and "broken.png cannot be read as a picture" in err
    code, out, err = shell("learn", "state", folder, "--model", tiny_model, "--skip-unreadable", "--json")
    assert code == 0 and json.loads(out)["unreadable"] == 1 and "skipped" in err and "broken.png" in err
    assert shell("predict", "state", folder / "blue", "--model", tiny_model)[0] == 1
    code, out, _ = shell("predict", "state", folder / "blue", "--model", tiny_model, "--skip-unreadable", "--json")
    assert code == 0 and len(json.loads(out)["predictions"]) == 6


def test_a_class_folder_without_pictures_is_not_lost_without_a_word(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "second", "blue")
    (folder / "kiwi").mkdir()
    (folder / "kiwi" / "1.txt").write_bytes(b"text")
    code, _, err = shell("learn", "state", folder, "--model", tiny_model)
    assert code == 1 and "kiwi is a class folder without pictures (.avif, " in err
    assert Learner.load("state", tiny_model).state_hash() == begun["hash"]
    code, out, err = shell("learn", "state", folder, "--model", tiny_model, "--skip-unreadable", "--json")
    result = json.loads(out)
    assert code == 0 and (result["pictures"], result["unreadable"], result["new_classes"]) == (6, 1, ["blue"])
    assert err.startswith("skipped: ") and "kiwi is a class folder without pictures" in err


@pytest.mark.parametrize("size", [(16385, 1), (1, 16385)])
def test_a_picture_that_is_too_large_is_named(shell, begun, tiny_model, tmp_path, size):
    folder = write_pictures(tmp_path / "second", "blue")
    Image.new("RGB", size).save(folder / "blue" / "wide.png")
    for command in (("learn", "state", folder), ("predict", "state", folder / "blue")):
        code, _, err = shell(*command, "--model", tiny_model)
        assert code == 1 and f"wide.png cannot be read as a picture: it is {size[0]}x{size[1]}; at most 16384" in err
        assert err.strip().count("\n") == 0
    code, out, err = shell("learn", "state", folder, "--model", tiny_model, "--skip-unreadable", "--json")
    assert code == 0 and json.loads(out)["unreadable"] == 1 and "skipped: " in err and "wide.png" in err


def test_what_of_a_folder_is_left_out_is_said_and_why(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "second", "blue")
    taken = sorted((folder / "blue").iterdir())
    names = ("notes.txt", "photo", "a.tga", ".hidden.png")
    for name in names:
        (folder / "blue" / name).write_bytes(taken[0].read_bytes())
    (folder / "blue" / "more").mkdir()
    (folder / "beside.png").write_bytes(taken[0].read_bytes())
    (folder / ".git").mkdir()
    code, out, err = shell("learn", "state", folder, "--model", tiny_model, "--json")
    result = json.loads(out)
    assert code == 0 and result["pictures"] == len(taken) and result["unreadable"] == 0
    reasons = {
        "notes.txt": "not have the suffix of a", "photo": "not have the suffix of a", "a.tga": "not have the suffix",
        ".hidden.png": "is hidden", "more": "a folder inside a folder of pictures", ".git": "is hidden",
        "beside.png": "is beside the class folders, not in one of them",
    }  # fmt: skip
    assert len(result["skipped"]) == len(reasons) == err.count("skipped: ")
    for name, why in reasons.items():
        assert [1 for line in err.splitlines() if f"/{name} " in line and why in line] == [1]
    code, out, err = shell("predict", "state", folder / "blue", "--model", tiny_model, "--json")
    result = json.loads(out)
    assert code == 0 and len(result["predictions"]) == len(taken) and len(result["skipped"]) == 4
    assert all(f"/{name} " in err for name in names)


def test_of_many_files_left_out_the_first_are_named(shell, begun, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "second", "blue")
    for k in range(50):
        (folder / "blue" / f"{k:02d}.txt").write_text("words")
    code, out, err = shell("learn", "state", folder, "--model", tiny_model)
    lines = [line for line in err.splitlines() if line.startswith("skipped: ")]
    assert code == 0 and len(lines) == 21 and "19.txt does not have the suffix of a picture" in lines[19]
    assert lines[20] == "skipped: 30 more; --json lists all."


def test_samples_at_once_are_no_setting_of_the_state(shell, tiny_model, tmp_path):
    write_pictures(tmp_path / "in", "red", "green")
    for name, words in (("one", ["--strategy", "replay"]), ("other", ["--micro-batch-size", 7])):
        assert shell("learn", name, "in", "--model", tiny_model, *words)[0] == 0
    assert shell("learn", "one", "in", "--model", tiny_model)[0] == 0
    assert shell("learn", "other", "in", "--model", tiny_model, "--micro-batch-size", 5)[0] == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
