"""The five start pages of the site, from their text alone: one script each, in a clean environment, from a wheel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.install.clean import MISSING

START = Path(__file__).resolve().parents[2] / "docs" / "start"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What a reader has in the end, and what was to be read on the way.
RESULTS = {
    "product-engineer": ({"scale.state"}, ["168 pictures", "of 14 classes are right", "flash, total", "RAM, total"]),
    "researcher": ({"exact.csv", "replay.csv", "runs/first", "runs/folder"}, ["exact 0.", "replay 0."]),
    "maker": (
        {"things.state", "device/model.c"},
        ['"in/000.webp", "label": "Watermelon"', '"answers": [{"name": "Orange"', "flash, total"],
    ),
    "web-developer": (
        {"site/index.html", "site/bitreplay/index.js", "from-server.state"},
        ["<!doctype html>", "orange", "pear"],
    ),
    "data-scientist": ({"confusion.png", "fruit.state", "all.state"}, ["int8", "Kaiser"]),
}


def script_of(page: str) -> str:
    """The blocks of the page, in their order."""
    parts = []
    for language, block in BLOCK.findall((START / f"{page}.md").read_text()):
        parts.append(block if language == "sh" else f"python3 - <<'END_OF_PYTHON'\n{block}END_OF_PYTHON\n")
    return "\n".join(parts)


def test_there_is_a_page_for_each_audience():
    assert {path.stem for path in START.glob("*.md")} == set(RESULTS)
    assert all(
        2 <= len(re.findall(r"^## \d\. ", (START / f"{page}.md").read_text(), re.MULTILINE)) <= 4 for page in RESULTS
    )


@pytest.mark.parametrize("page", RESULTS)
def test_a_reader_gets_to_the_end_of_the_page(page, machine):
    assert all(machine.lacks(name) for name in MISSING)
    done = machine.run(script_of(page))
    assert done.returncode == 0, done.stdout + done.stderr
    files, words = RESULTS[page]
    assert {name for name in files if (machine.work / name).exists()} == files
    assert [word for word in words if word not in done.stdout] == [], done.stdout
