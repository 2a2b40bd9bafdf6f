"""Names of classes from a list of nasty strings: learned, answered, saved, printed, renamed, forgotten."""

import json
import os
import re
import sys
import unicodedata
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner
from bitreplay.arguments import escaped
from bitreplay.cli import main
from bitreplay.data.labelled import labelled
from tests import tiny
from tests.statefile.edited import edited

NASTY = [
    "\x1b[2J\x1b[1;1Hgone", "\x1b]0;title\x07", "\x9b31mred", "a\rb", "a\nb", "a\tb", "a\x00b", "a\x00", "\x7f",
    "\x08\x08", "\u202egnp.elppa", "\u2066x\u2069", "a\u2028b", "\ufeffbom", "\u200bzero width", "می‌خواهم", "ﷺ", "Ω",
    "👩‍👩‍👧", "[bold]x[/bold]", "[/]", ":apple:", "{0}", "%s %n", "$(reboot)", "`id`", "';--", "../etc/passwd", "/",
    "..", "--help", "-1", "null", "None", "true", "NaN", "1e999", "0x10", " ", "  a  ", '"', "\\", "\\x1b",
    "x" * 200, "\U0001f34e" * 100, "क्ष", "Å", "ﬁ", "İ", "ß", "é",
]  # fmt: skip
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
FAST: dict[str, Any] = {"learning_rate": 0.3, "memory_per_class": 2, "min_steps": 1, "epochs": 1}


@pytest.fixture
def shell(monkeypatch, capsys, tmp_path, tiny_model):
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bitreplay", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return call


@pytest.fixture
def learner(tiny_model):
    return Learner.from_pretrained(tiny_model, **FAST)


@pytest.mark.parametrize("strategy", ["replay", "exact"])
def test_all_of_them_at_once(tiny_model, tmp_path, strategy):
    learner = Learner.from_pretrained(tiny_model, strategy=strategy, **FAST)
    images = np.random.default_rng(0).integers(0, 256, (len(NASTY), 8, 8, 3), np.uint8)
    learner.learn(images, NASTY)
    names = {unicodedata.normalize("NFC", name) for name in NASTY}
    assert set(learner.labels) == names and len(learner.labels) == len(NASTY)
    assert set(learner.predict(images).tolist()) <= names
    learner.save(tmp_path / "state")
    loaded = Learner.load(tmp_path / "state", tiny_model)
    assert loaded.labels == learner.labels and loaded.state_hash() == learner.state_hash()
    learner.learn(images, NASTY)
    assert len(learner.labels) == len(NASTY)
    assert learner.evaluate(images, NASTY).seen_accuracy == learner.evaluate(images, NASTY).accuracy
    for name in NASTY:
        learner.forget(name)
    assert learner.labels == []


def test_answers_keep_a_nul_at_the_end(learner):
    learner.learn(*tiny.pictures("red", each=2)[:1], "a\0")
    assert learner.predict(tiny.pictures("red", each=1)[0]).tolist() == ["a\0"]


@pytest.mark.parametrize("name", NASTY, ids=ascii)
def test_the_terminal_gets_no_control_characters(shell, learner, tiny_model, tmp_path, name):
    learner.learn(*tiny.pictures("red", each=1)[:1], name)
    learner.save("state")
    model = ("--model", str(tiny_model))
    result = [shell("info", "state"), shell("rename", *model, "--", "state", "plum", "pear")]
    if "\0" not in name:  # no shell can say it
        result += [
            shell("rename", *model, "--", "state", name, "plum"),
            shell("rename", *model, "--", "state", "plum", name),
        ]
        result += [shell("forget", *model, "--", "state", name)]
    assert [code for code, *_ in result] == [0, 1, 0, 0, 0][: len(result)], result
    for _, out, err in result:
        assert not CONTROL.search(out + err), (out, err)
    assert escaped(name) in result[1][2] or len(name) > 40


@pytest.mark.parametrize("name", NASTY, ids=ascii)
def test_json_gives_names_as_they_are(shell, learner, tiny_model, name):
    learner.learn(*tiny.pictures("red", each=1)[:1], name)
    learner.save("state")
    code, out, _ = shell("info", "state", "--json")
    assert code == 0 and json.loads(out)["classes"] == [unicodedata.normalize("NFC", name)]
    assert out.isascii()


# one name, two spellings

NFC, NFD = "\xe4pfel", "a\u0308pfel"


@pytest.mark.parametrize("strategy", ["replay", "exact"])
def test_two_spellings_are_one_class(tiny_model, strategy):
    learner = Learner.from_pretrained(tiny_model, strategy=strategy, **FAST)
    images, _ = tiny.pictures("red", each=4)
    learner.learn(images, [NFC, NFD, np.str_(NFD), NFC])
    learner.learn(images, NFD)
    assert learner.labels == [NFC] and learner.evaluate(images, NFD).accuracy == 1
    learner.rename(NFD, "kiwi")
    learner.rename("kiwi", NFD)
    assert learner.labels == [NFC]
    learner.forget(NFD)
    assert learner.labels == []


def old_state(learner, path, *names):
    """A state whose names are as 0.1 took them."""
    learner.learn(*tiny.pictures("red", each=4)[:1], ["1", "2", "1", "2"] if len(names) == 2 else "1")
    learner.save(path)
    path.write_bytes(edited(path.read_bytes(), lambda a, learned, o: learned.update(names=list(names))))


def test_an_old_state_keeps_its_spelling_and_its_hash(learner, tiny_model, tmp_path):
    old_state(learner, tmp_path / "state", NFD)
    old = Learner.load(tmp_path / "state", tiny_model)
    assert old.labels == [NFD]
    old.save(tmp_path / "state")
    assert Learner.load(tmp_path / "state", tiny_model).state_hash() == old.state_hash()
    images, _ = tiny.pictures("red", each=2)
    assert old.evaluate(images, NFC).accuracy == 1
    old.learn(images, NFC)
    assert old.labels == [NFD]
    old.rename(NFC, NFC)
    assert old.labels == [NFC] and old.state_hash() != learner.state_hash()


def test_an_old_state_with_both_spellings_still_serves_both(learner, tiny_model, tmp_path):
    old_state(learner, tmp_path / "state", NFC, NFD)
    old = Learner.load(tmp_path / "state", tiny_model)
    assert old.labels == [NFC, NFD]
    with pytest.raises(ValueError, match="There is a class 'äpfel' already"):
        old.rename(NFD, NFC)
    old.forget(NFD)
    assert old.labels == [NFC]


# a folder whose name is not UTF-8: Python gives its bytes as halves of characters

HALF = b"\xc4pfel".decode("utf-8", "surrogateescape")


def test_halves_of_characters_are_refused_at_every_door(shell, learner, tiny_model, tmp_path):
    images, _ = tiny.pictures("red", each=2)
    for name in (HALF, "\ud800", "a\udfff"):
        with pytest.raises(ValueError, match="valid Unicode"):
            learner.learn(images, name)
        learner.learn(images, "red")
        for change in (lambda: learner.rename("red", name), lambda: learner.merge(rename={"red": name})):  # noqa: B023
            with pytest.raises(ValueError, match="valid Unicode"):
                change()
    place = os.fsencode(tmp_path) + b"/shelf/\xc4pfel"
    try:
        os.makedirs(place)
    except OSError:
        pytest.skip("The file system takes names of UTF-8 alone.")
    Image.fromarray(images[0]).save(os.fsdecode(place + b"/1.png"))
    code, _, err = shell("learn", "state", "shelf", "--model", str(tiny_model))
    assert code == 1 and "not UTF-8" in err and not (tmp_path / "state").exists()
    assert shell("learn", "state", "shelf/" + HALF, "--label", "Äpfel", "--model", str(tiny_model))[0] == 0
    with pytest.raises(ValueError, match="valid Unicode"):
        learner.learn(*labelled(tmp_path / "shelf"))


def test_an_old_state_with_half_a_character_can_be_asked_renamed_and_rid_of_it(shell, learner, tiny_model, tmp_path):
    state = tmp_path / "state"
    old_state(learner, state, "kiwi", HALF)
    old = Learner.load(state, tiny_model)
    assert old.labels == ["kiwi", HALF] and set(old.predict(tiny.pictures("red", each=4)[0])) <= {"kiwi", HALF}
    old.rename(HALF, "apple")
    assert sorted(map(str, old.labels)) == ["apple", "kiwi"]
    assert shell("forget", "state", HALF, "--model", str(tiny_model))[0] == 0
    assert Learner.load(state, tiny_model).labels == ["kiwi"]
