"""State files of 0.1, kept as they were written: they load, answer and go on learning bit for bit as they did then.

`expected.json` has, for each file, the hash, the answers and what was stored, and the hash after one more experience.
These hashes are of format 2.
"""

import json
import shutil
from pathlib import Path

import pytest

from bitreplay import Learner, statefile
from bitreplay.cli.commands import info
from bitreplay.export import image_of
from bitreplay.statefile import hash_of_format_2
from tests import tiny
from tests.core.c_replay import CReplay

FOLDER = Path(__file__).parent / "states" / "0.1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
NOT_IN_C = ("replay-augmented", "replay-codes-of-4-bits")  # the second asks for `unknown`
PROBE, _ = tiny.pictures(*tiny.COLOURS, each=3, seed=99)


def stored_of(learner):
    return [
        [kept.label, kept.samples, kept.seen, {str(k): n for k, n in kept.experiences.items()}, list(kept.ids),
         kept.bytes] for kept in learner.stored()
    ]  # fmt: skip


def load(path):
    if path.name.startswith("float"):
        pytest.importorskip("torch")
    return Learner.load(path, FOLDER / "tiny0.safetensors")


def test_there_is_a_file_of_every_strategy_of_then():
    settings = [info.state(path)["settings"] for path in FOLDER.glob("*.state")]
    assert {found["strategy"] for found in settings} == {"replay", "cwr", "naive"}
    assert {path.stem for path in FOLDER.glob("*.state")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_state_of_0_1_is_what_it_was_and_goes_on_as_it_would_have(name, tmp_path):
    learner, then = load(FOLDER / f"{name}.state"), EXPECTED[name]
    facts = info.state(FOLDER / f"{name}.state")
    assert facts["hash_of_format_2"] == then["hash"] and facts["hash"] == learner.state_hash()
    assert learner.labels == then["labels"] and stored_of(learner) == then["stored"]
    if then["labels"]:
        assert learner.predict(PROBE).tolist() == then["answers"]
    learner.save(tmp_path / "state")
    again = load(tmp_path / "state")
    assert again.state_hash() == learner.state_hash() and hash_of_format_2(again.state()) == then["hash"]
    if "hash_after_one_more" in then:
        for each in (learner, again):
            each.learn(*tiny.pictures("green", "blue", each=6, seed=3))
            assert hash_of_format_2(each.state()) == then["hash_after_one_more"]


def test_it_is_written_anew_in_format_3_with_the_size_of_its_images(tmp_path):
    shutil.copy(FOLDER / "replay.state", tmp_path / "state")
    learner = load(tmp_path / "state")
    assert statefile.load(tmp_path / "state")[0].size is None
    learner.save(tmp_path / "state")
    assert (tmp_path / "state").read_bytes().startswith(b"BITSTATE\3")
    assert statefile.load(tmp_path / "state")[0].size == tiny.SIDE
    assert Learner.rollback(tmp_path / "state", FOLDER / "tiny0.safetensors").state_hash() == learner.state_hash()


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.startswith("replay") and name not in NOT_IN_C])
def test_the_learner_in_c_reads_it_too(name):
    """As far as it has the settings: with others it refuses it as it refuses those of Python."""
    learner = load(FOLDER / f"{name}.state")
    c = CReplay(image_of(learner, 64))
    c.from_bytes((FOLDER / f"{name}.state").read_bytes())
    assert c.state_hash() == learner.state_hash() and c.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("bireal18", "91b3d5c343b23dff3d38d7341d8059b4e4a720595cddaa32e5a37c0ee18cbc76"),
        ("react18", "c311bed401942b60af4953cc4a999ba1099a310e63f6946483121a38165d81a8"),
    ],
)
def test_a_shipped_model_learns_what_it_learned_with_0_1(model, expected):
    learner = Learner.from_pretrained(model, epochs=1, min_steps=2)
    learner.learn(*tiny.pictures("red", "green", each=2, side=32))
    learner.learn(*tiny.pictures("blue", each=2, side=32))
    assert hash_of_format_2(learner.state()) == expected
