"""Whatever call fails in learn, forget, rename or rollback: exit code, words and disk say the same."""

import shutil
import sys
from pathlib import Path

import pytest

from bitreplay import Learner
from bitreplay.cli import main
from tests import tiny
from tests.cli.test_cli import write_pictures
from tests.statefile.failing_calls import calls

COMMANDS = {
    "learn": ("learn", "STATE", "PICTURES"),
    "learn a first time": ("learn", "STATE", "PICTURES"),
    "forget": ("forget", "STATE", "red"),
    "rename": ("rename", "STATE", "red", "cherry"),
    "rollback": ("rollback", "STATE"),
}


@pytest.fixture(scope="module")
def context(tiny_model, tmp_path_factory):
    """Pictures, and a folder with two generations of a state."""
    root = tmp_path_factory.mktemp("ground")
    write_pictures(root / "pictures", "blue", each=2)
    (root / "begun").mkdir()
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=4, min_steps=1, epochs=1)
    for colour in ("red", "green"):
        learner.learn(*tiny.pictures(colour, each=2))
        learner.save(root / "begun" / "state")
    return root


def hash_of(path: Path, model: Path) -> str:
    return Learner.load(path, model).state_hash() if path.exists() else "none"


class Shell:
    def __init__(self, context, model, name, monkeypatch, capsys):
        self.context, self.model, self.name, self.patch, self.capsys = context, model, name, monkeypatch, capsys

    def begin(self, folder: Path) -> Path:
        if self.name == "learn a first time":
            folder.mkdir()
        else:
            shutil.copytree(self.context / "begun", folder)
        return folder / "state"

    def run(self, state: Path) -> tuple[int, str, str]:
        places = {"STATE": state, "PICTURES": self.context / "pictures"}
        words = [str(places.get(word, word)) for word in COMMANDS[self.name]]
        self.patch.setattr(sys, "argv", ["bitreplay", *words, "--model", str(self.model)])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *self.capsys.readouterr()


@pytest.mark.parametrize("name", COMMANDS)
def test_exit_code_words_and_disk_agree(name, context, tiny_model, tmp_path, monkeypatch, capsys):
    shell = Shell(context, tiny_model, name, monkeypatch, capsys)
    state = shell.begin(tmp_path / "whole")
    old = hash_of(state, tiny_model)
    with calls(state.parent) as whole:
        code, *_ = shell.run(state)
    new = hash_of(state, tiny_model)
    assert code == 0 and old != new and "replace" in whole.made
    found = {0: 0, 1: 0}
    for number, call in enumerate(whole.made):
        state = shell.begin(tmp_path / str(number))
        with calls(state.parent, number):
            code, out, err = shell.run(state)
        what = f"call {number}, {call}: exit {code}, {err}"
        found[code] += 1
        assert hash_of(state, tiny_model) == (new if code == 0 else old), what
        assert "Traceback" not in err and "\n" not in err.strip(), what
        assert out if code == 0 and "The result cannot be printed" not in err else not out, what
        if code == 1:
            assert "is saved" not in err and "rolled back" not in err and "Input/output error" in err, what
            assert ("old one" in err) <= (old != "none"), what
            assert shell.run(state)[0] == 0 and hash_of(state, tiny_model) == new, what
        else:
            assert "old one" not in err and "Nothing" not in err, what
    assert found[0] > 3 and found[1] > 5, found
