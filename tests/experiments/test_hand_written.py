"""Numbers that are written by hand into the pages are those of experiments/figures/hand_written.tsv."""

from __future__ import annotations

import importlib
import random
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    return importlib.import_module("hand_written")


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    return importlib.import_module("fill_figures")


def test_numbers_are_those_that_were_written_down(tool):
    now, before = tool.lines(tool.pages()), tool.WRITTEN.read_text().splitlines()
    different = [line.replace("\t", ": ") for line in now if line not in before][:5]
    assert now == before, f"if these are meant, run `make numbers`: {different}"


def test_a_wrong_digit_is_noticed_wherever_it_stands(tool, figures):
    """Of all digits that a reader of the pages sees, 20 at random, each changed to another one: the page differs from
    its rows then, or a number from the one that was written down. 20 more outside README.md and docs/."""
    chance = random.Random(31)
    modules = {path.relative_to(ROOT).as_posix(): module for path, module in figures.pages().items()}
    texts = tool.pages()
    hidden = re.compile(r"<!--.*?-->|([0-9])", re.DOTALL)
    places = [(name, found.start()) for name, text in texts.items() for found in hidden.finditer(text) if found[1]]
    assert len(places) > 10_000
    by_hand = 0
    elsewhere = [place for place in places if not place[0].startswith(("README", "docs/"))]
    for name, at in chance.sample(places, 20) + chance.sample(elsewhere, 20):
        text = texts[name]
        wrong = chance.choice([digit for digit in "0123456789" if digit != text[at]])
        changed = text[:at] + wrong + text[at + 1 :]
        noticed = tool.lines({name: changed}) != tool.lines({name: text})
        by_hand += noticed
        assert noticed or figures.filled(changed, modules[name]) == text, f"{name}: {changed[at - 30 : at + 30]!r}"
    assert 20 < by_hand < 40  # of both kinds


def test_sections_and_their_numbers(tool):
    text = (
        "In 2 steps\n# One 1\n1.5, 2,048 and x3y\n\n```\n# no heading, 7\n```\n"
        "It is <!-- figure: half -->8<!-- end -->.\n## Two\n9"
    )
    assert list(tool.sections(text)) == [
        ("", ["2"]), ("One 1", ["1", "1.5", "2,048", "3", "7"]), ("Two", ["9"]),
    ]  # fmt: skip
    assert tool.lines({"docs/a.md": "# None\nno number\n# One\n1"}) == ["docs/a.md\tOne\t1"]


def test_of_a_notebook_the_cells_are_read(tool):
    texts = tool.pages()
    assert {"CHANGELOG.md", "core/README.md", "page/texts.js", "CITATION.cff"} <= set(texts)
    assert (
        texts["docs/tutorials/camera.ipynb"].startswith("# ") and "nbformat" not in texts["docs/tutorials/camera.ipynb"]
    )


def test_pages_that_are_drawn_are_compared_with_their_drawing(tool):
    assert tool.DRAWN <= {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert not tool.DRAWN & set(tool.pages())
