"""`learn` and the corrections as somebody uses them for the first time: single pictures, wrong folders, remedies."""

import json
import signal
import time

import pytest

import bitreplay.cli.reading as reading
from bitreplay import Learner, zoo
from bitreplay.cli import saving
from bitreplay.core import cores
from tests.cli.test_cli import write_pictures


def test_single_pictures_and_folders_of_them_are_learned_as_a_folder_is(shell, taught, tiny_model, tmp_path):
    blue = write_pictures(tmp_path / "more", "blue") / "blue"
    one, *others = sorted(blue.iterdir())
    (tmp_path / "others").mkdir()
    for path in others:
        path.rename(tmp_path / "others" / path.name)
    code, out, _ = shell("learn", "state", one, tmp_path / "others", "--label", "sky", "--model", tiny_model, "--json")
    assert code == 0 and (json.loads(out)["pictures"], json.loads(out)["new_classes"]) == (6, ["sky"])
    for path in others:
        (tmp_path / "others" / path.name).rename(path)
    taught.learn(reading.read_labelled(blue, "sky", taught.strategy.side, reading.SkippedFiles(False))[0], "sky")
    assert Learner.load("state", tiny_model).state_hash() == taught.state_hash() == json.loads(out)["hash"]


def test_a_new_state_says_which_model_it_has(shell, tiny_model, tmp_path):
    folder = write_pictures(tmp_path / "first", "red")
    code, out, _ = shell("learn", "new", folder, "--model", tiny_model)
    assert code == 0 and "Its model is tiny0 at 8x8 pixels." in " ".join(out.split())
    code, out, _ = shell("learn", "new", folder, "--model", tiny_model)
    assert code == 0 and "Its model" not in out
    code, out, _ = shell("learn", "--help")
    assert code == 0 and f"{zoo.DEFAULT} for a new state" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pictures/red"], ".webp); --label NAME gives the pictures in it their class.\n"),
        (["pictures/red/0.png"], "0.png is not a folder; --label NAME gives a single picture its class."),
        (["pictures", "--label", "x"], ".webp); without --label, its folders are classes.\n"),
        (["broken"], "1.png cannot be read as a picture: its format is unknown; expected JPEG, PNG, WebP, BMP, GIF, "
         "TIFF, PPM, AVIF or HEIC. --skip-unreadable skips it."),
        (["broken/red/1.png", "--label", "x"], "TIFF, PPM, AVIF or HEIC.\n"),
        (["https://example.org/a.jpg", "--label", "x"], "https://example.org/a.jpg is a web address"),
        (["none/0.png", "--label", "x"], "none/0.png is not a folder.\n"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_option_that_helps(shell, taught, tiny_model, tmp_path, words, sentence):
    write_pictures(tmp_path / "pictures", "red", each=1)
    (tmp_path / "broken" / "red").mkdir(parents=True)
    (tmp_path / "broken" / "red" / "1.png").write_bytes(b"nothing")
    code, _, err = shell("learn", "state", *words, "--model", tiny_model, "--quiet")
    assert code == 1 and sentence in err and err.count("\n") == 1
    assert Learner.load("state", tiny_model).state_hash() == taught.state_hash()


def test_a_class_folder_in_place_of_the_folder_above_gets_the_hint_alone(shell, taught, tiny_model, tmp_path):
    write_pictures(tmp_path / "pictures", "red", each=30)
    code, _, err = shell("learn", "state", "pictures/red", "--model", tiny_model)
    assert code == 1 and "--label NAME gives" in err and err.count("\n") == 1


def test_the_time_limit_counts_while_pictures_are_read(shell, taught, tiny_model, tmp_path, monkeypatch):
    read = []

    def slow(path, side):
        read.append(path)
        time.sleep(0.01)
        return usual(path, side)

    usual = reading.read
    monkeypatch.setattr(reading, "read", slow)
    monkeypatch.setattr(cores, "usable", lambda: 1)  # with more, others are being read meanwhile
    folder = write_pictures(tmp_path / "first", "red", "green", each=20)
    code, _, err = shell("learn", "state", folder, "--model", tiny_model, "--time-limit", "0.001")
    assert code == 4 and "took longer than 0.001 s; nothing has changed" in err and len(read) == 1


def test_what_cannot_be_rolled_back_says_so(shell, taught, tiny_model, tmp_path):
    blue = write_pictures(tmp_path / "more", "blue") / "blue"
    assert shell("learn", "state", blue, "--label", "blue", "--model", tiny_model)[0] == 0
    code, out, _ = shell("unlearn", "state", blue / "0.png", "--label", "blue", "--model", tiny_model)
    last = "`rollback` does not bring it back."
    assert (
        code == 0
        and out.startswith("Unlearned 1 picture.")
        and " ".join(out.split()).endswith("`bitreplay rollback state` brings it back.")
    )
    code, out, _ = shell("forget", "state", "blue", "--model", tiny_model)
    assert code == 0 and out.startswith("Forgotten: blue.") and " ".join(out.split()).endswith(last)
    shell("rollback", "state", "--model", tiny_model)
    assert Learner.load("state", tiny_model).labels == ["green", "red"]


def test_two_classes_become_one_as_the_refusal_says(shell, taught, tiny_model):
    code, _, err = shell("rename", "state", "red", "green", "--model", tiny_model)
    assert code == 1 and "There is a class 'green' already; `merge` with a renaming makes two classes one" in err
    code, out, _ = shell("merge", "state", "--rename", "red=green", "--out", "state", "--overwrite")
    assert code == 0 and out.startswith("Merged 1 state: 12 pictures of 1 class in state")
    taught.merge(rename={"red": "green"})
    assert Learner.load("state", tiny_model).state_hash() == taught.state_hash()


def test_a_folder_that_cannot_be_made_is_named(shell, tiny_model, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = shell("export", tiny_model, "--out", "file/device")
    assert (code, err) == (1, "file/device cannot be written: Not a directory.\n")


def test_a_folder_named_as_a_number_is_the_class_of_that_number(shell, taught, tiny_model, tmp_path):
    """As Python's users have them: 3 is known, "3" is not."""
    taught.rename("red", 3)
    taught.save("state")
    folder = write_pictures(tmp_path / "more", "red")
    (folder / "red").rename(folder / "3")
    code, out, _ = shell("evaluate", "state", folder, "--model", tiny_model, "--json")
    assert code == 0 and json.loads(out)["labels"] == [3, "green"] and json.loads(out)["accuracy"] == 1
    code, out, _ = shell("learn", "state", folder, "--model", tiny_model, "--json")
    assert code == 0 and json.loads(out)["classes"] == [3, "green"]
    taught.rename("green", "3")
    taught.save("both")
    code, out, _ = shell("forget", "both", "3", "--model", tiny_model, "--json")
    assert code == 0 and json.loads(out)["classes"] == [3]


def test_info_prints_the_settings_that_the_strategy_has(shell, taught, tiny_model, tmp_path):
    code, out, _ = shell("info", "state")
    assert code == 0 and "per_class" not in out and "exact_forget" in "".join(out.split())
    assert "memory_per_class" in json.loads(shell("info", "state", "--json")[1])["settings"]
    folder = write_pictures(tmp_path / "first", "red", each=1)
    assert (
        shell("learn", "replay", folder, "--strategy", "replay", "--learning-rate", "0.3", "--model", tiny_model)[0]
        == 0
    )
    code, out, _ = shell("info", "replay")
    assert code == 0 and "memory_per_class" in out and "exact_forget" not in out


def test_ctrl_c_between_the_save_and_the_answer_comes_too_late(shell, tiny_model, tmp_path, monkeypatch):
    """It ended with 130, and said that nothing was saved."""
    write_pictures(tmp_path / "in", "red", each=1)
    reporting = saving.reporting

    def interrupted(done):
        signal.raise_signal(signal.SIGINT)
        return reporting(done)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(saving, "reporting", interrupted)
        code, *_ = shell("learn", str(tmp_path / "state"), str(tmp_path / "in"), "--model", str(tiny_model))
        assert code == 0 and Learner.load(tmp_path / "state", tiny_model).labels == ["red"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
