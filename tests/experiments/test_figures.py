"""Figures in README.md and docs/ are what experiments/fill_figures.py makes of committed rows, to the last digit."""

from __future__ import annotations

import importlib
import random
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    return importlib.import_module("fill_figures")


def test_pages_say_what_the_rows_say(tool):
    for path, module in tool.pages().items():
        text = path.read_text()
        assert text == tool.filled(text, module), f"{module.PAGE}: run `make figures`"


def test_every_page_with_figures_has_a_module_and_every_function_is_used(tool):
    marked = {path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")) if "<!-- figure:" in path.read_text()}
    assert marked == set(tool.pages())
    for path, module in tool.pages().items():
        asked = {found[1].split()[0] for found in tool.MARK.finditer(path.read_text())}
        places = (module.__name__, "figures.shared")
        there = {name for name, made in vars(module).items() if getattr(made, "__module__", "") in places}
        assert {name for name in there if not name.startswith("_")} == asked, module.PAGE


def test_a_wrong_digit_is_noticed_wherever_it_stands(tool):
    """Of all digits in figures, 20 at random, each changed to another one."""
    chance = random.Random(20)
    places = [
        (path, module, found.start(2) + digit.start())
        for path, module in tool.pages().items()
        for found in tool.MARK.finditer(path.read_text())
        for digit in re.finditer(r"\d", found[2])
    ]
    assert len(places) > 100
    for path, module, at in chance.sample(places, 20):
        text = path.read_text()
        wrong = chance.choice([digit for digit in "0123456789" if digit != text[at]])
        changed = text[:at] + wrong + text[at + 1 :]
        assert tool.filled(changed, module) == text != changed


def page(**functions: object) -> ModuleType:
    module = ModuleType("page")
    for name, made in functions.items():
        setattr(module, name, made)
    module.PAGE = "page.md"  # type: ignore[attr-defined]
    return module


def half(of: str = "1") -> str:
    return str(int(of) / 2)


half.__module__ = "page"


def test_a_figure_is_filled_in_a_sentence_and_on_lines_of_its_own(tool):
    text = "It is <!-- figure: half 3 -->1.4<!-- end -->, or:\n\n<!-- figure: half -->\nold\nlines\n<!-- end -->\n"
    told = "It is <!-- figure: half 3 -->1.5<!-- end -->, or:\n\n<!-- figure: half -->\n0.5\n<!-- end -->\n"
    assert tool.filled(text, page(half=half)) == told


@pytest.mark.parametrize(
    "text, says",
    [
        ("So <!-- figure: third -->1<!-- end -->.", "no such function"),
        ("So <!-- figure: random -->1<!-- end -->.", "no such function"),  # is not the page's own
        ("So\n<!-- figure: half -->0.5<!-- end --> of it.", "begins a line"),
        ("So <!-- figure: half -->0.5 of it.", "without its"),
    ],
)
def test_what_cannot_be_filled_is_refused(tool, text, says):
    with pytest.raises(ValueError, match=says):
        tool.filled(text, page(half=half, random=random.random))


@pytest.mark.parametrize("value, digits, says", [("84.85", 1, "84.9"), ("0.8949", 2, "0.89"), (-1.25, 1, "-1.3"),
                                                 ("8474704", 0, "8,474,704")])  # fmt: skip
def test_halves_are_rounded_up(tool, value, digits, says):
    assert importlib.import_module("figures.committed").format_number(value, digits) == says
