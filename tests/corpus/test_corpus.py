"""Odd state files, and what must happen to each: Python and the learner in C agree (JavaScript: tests/wasm)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from bitreplay import StateFileError, statefile
from bitreplay.lifecycle.merging import MergedTwice, Total
from tests.core.c_learner import CLearner, Failed
from tests.corpus.make_corpus import HERE, ONLY_PYTHON

VERDICTS: dict[str, str] = json.loads((HERE / "verdicts.json").read_text())
MODEL = (HERE / "model.bin").read_bytes()


def test_every_file_has_a_verdict():
    assert {place.stem for place in (HERE / "states").iterdir()} == set(VERDICTS)
    assert sum(place.stat().st_size for place in HERE.rglob("*.state")) < 150_000


@pytest.mark.parametrize("name", VERDICTS)
def test_both_come_to_the_verdict(name):
    data = (HERE / "states" / f"{name}.state").read_bytes()
    c = CLearner(MODEL)
    kept = c.to_bytes()
    try:
        found = statefile.from_bytes(data, name).state.hash()
    except StateFileError as error:
        assert VERDICTS[name] == "refused", error
        found = ""
    try:
        c.from_bytes(data)
        assert c.state_hash() == found, "C took what Python refused, or another state"
    except Failed as error:
        assert not found or name in ONLY_PYTHON, error
        assert c.to_bytes() == kept
    assert bool(found) == (VERDICTS[name] == "taken")


@pytest.mark.parametrize(
    "name", [name for name in VERDICTS if VERDICTS[name] == "taken" and name != "counter_at_its_end"]
)
def test_what_is_taken_can_be_merged_with_itself(name):
    """The rules for sums hold for two states together where they hold for each."""
    data = (HERE / "states" / f"{name}.state").read_bytes()
    content = statefile.from_bytes(data, name)
    total = Total()
    total.add(content, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergedTwice)
        total.add(content, name)
    merged = statefile.to_bytes(total.content())
    assert statefile.to_bytes(statefile.from_bytes(merged, name)) == merged
    if name not in ONLY_PYTHON:
        c = CLearner(MODEL)
        c.from_bytes(data)
        c.merge(data)
        assert c.to_bytes() == merged
        c.from_bytes(merged)


def test_the_corpus_is_what_its_script_writes(tmp_path):
    """As long as nothing changes what is written."""
    from tests.corpus.make_corpus import corpus

    model, files = corpus()
    assert model == MODEL
    assert {name: verdict for name, (_, verdict) in files.items()} == VERDICTS
    for name, (data, _) in files.items():
        assert (HERE / "states" / f"{name}.state").read_bytes() == data, name
    assert Path(HERE / "states").is_dir()
