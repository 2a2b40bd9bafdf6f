"""Odd state files, and what must happen to each: Python and the learner in C agree (JavaScript: tests/wasm)."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from bitreplay import StateFileError, statefile
from bitreplay.lifecycle.merging import MergedTwice, Total
from bitreplay.sections import reference
from bitreplay.sections.reference import FormError
from tests import tiny
from tests.core.c_learner import CLearner, Failed
from tests.corpus.make_corpus import HERE, odd_forms

FOLDERS = {"states": "verdicts.json", "states-2": "verdicts-2.json"}
VERDICTS: dict[tuple[str, str], str] = {
    (folder, name): verdict
    for folder, table in FOLDERS.items() for name, verdict in json.loads((HERE / table).read_text()).items()
}  # fmt: skip
MODEL = (HERE / "model.bin").read_bytes()
TAKEN = [file for file, verdict in VERDICTS.items() if verdict == "taken" and file[1] != "counter_at_its_end"]


def bytes_of(folder: str, name: str) -> bytes:
    return (HERE / folder / f"{name}.state").read_bytes()


def test_every_file_has_a_verdict():
    assert {(place.parent.name, place.stem) for place in HERE.rglob("*.state")} == set(VERDICTS)
    assert sum(place.stat().st_size for place in HERE.rglob("*.state")) < 400_000


@pytest.mark.parametrize(("folder", "name"), VERDICTS)
def test_both_come_to_the_verdict(folder, name):
    data, verdict = bytes_of(folder, name), VERDICTS[folder, name]
    c = CLearner(MODEL)
    kept = c.to_bytes()
    try:
        found = statefile.from_bytes(data, name).state.hash()
    except StateFileError as error:
        assert verdict == "refused", error
        found = ""
    try:
        c.from_bytes(data)
        assert c.state_hash() == found, "C took what Python refused, or another state"
    except Failed as error:
        assert not found, error
        assert c.to_bytes() == kept
    assert bool(found) == (verdict == "taken")


@pytest.mark.parametrize(("folder", "name"), TAKEN)
def test_what_is_taken_can_be_merged_with_itself(folder, name):
    """The rules for sums hold for two states together where they hold for each."""
    data = bytes_of(folder, name)
    content = replace(statefile.from_bytes(data, name), size=tiny.SIDE)
    total = Total()
    total.add(content, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergedTwice)
        total.add(content, name)
    merged = statefile.to_bytes(total.content())
    assert statefile.to_bytes(statefile.from_bytes(merged, name)) == merged
    c = CLearner(MODEL)
    c.from_bytes(data)
    c.merge(data)
    assert c.to_bytes() == merged
    c.from_bytes(merged)


def test_what_is_taken_is_in_the_one_form_of_its_content():
    for folder, name in TAKEN:
        data = bytes_of(folder, name)
        if folder == "states":
            assert statefile.to_bytes(statefile.from_bytes(data, name)) == data, name


@pytest.mark.parametrize("name", sorted(odd_forms(bytes_of("states", "whole"))))
def test_a_file_in_another_form_is_refused_by_form_or_by_its_sections(name):
    """The reference in Python finds in form what the core does: see `sections.native`."""
    data = bytes_of("states", name)
    try:
        named = {section.name for section in reference.sections(memoryview(data))}
    except FormError:
        return
    whole = {section.name: section for section in reference.sections(memoryview(bytes_of("states", "whole")))}
    kinds = {section.name: (section.type, len(section.shape)) for section in reference.sections(memoryview(data))}
    other = named != set(whole) or any(kinds[each] != (s.type, len(s.shape)) for each, s in whole.items())
    assert other or name == "a_text_of_another_spelling"


def test_the_corpus_is_what_its_script_writes():
    """As long as nothing changes what is written."""
    from tests.corpus.make_corpus import corpus

    model, files = corpus()
    assert model == MODEL
    assert {("states", name): verdict for name, (_, verdict) in files.items()} == {
        file: verdict for file, verdict in VERDICTS.items() if file[0] == "states"
    }
    for name, (data, _) in files.items():
        assert bytes_of("states", name) == data, name
    assert Path(HERE / "states").is_dir()
