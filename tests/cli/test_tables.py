"""Tables that are drawn without Rich look as Rich draws them into a file; what needs measuring is left to Rich."""

import random

import pytest

from bitreplay.cli import show

WORDS = ("", "a", "pear", "0.5 %", "in/a/folder.png", "[bold]x[/]", ":pear:", "two words", "1,024", "x" * 30)


def by_rich(table: show.Table, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(show.Table, "drawn", lambda table, width: None)
        return said(table, capsys)


def said(table: show.Table, capsys: pytest.CaptureFixture[str]) -> str:
    show.say(table)
    return capsys.readouterr().out


@pytest.mark.parametrize("seed", range(200))
def test_they_are_rich_s(seed, monkeypatch, capsys):
    generator = random.Random(seed)
    width, columns = generator.choice((20, 60, 80)), generator.randint(1, 5)
    monkeypatch.setenv("COLUMNS", str(width))
    for name in show.TERMINAL:
        monkeypatch.delenv(name, raising=False)
    cells = [generator.choices(WORDS, k=columns) for _ in range(generator.randint(1, 5))]
    table = show.table(generator.choice(WORDS), cells[0], cells[1:], generator.randint(0, columns))
    expected = by_rich(table, monkeypatch, capsys)
    assert said(table, capsys) == expected
    assert table.drawn(width) in (None, expected)


@pytest.mark.parametrize("cell", ["Käse", "梨", "two\nlines", " before", "after ", "x" * 80])
def test_what_needs_measuring_is_left_to_rich(cell):
    assert show.table("", ("class",), [(cell,)]).drawn(80) is None
    assert show.table("", ("class",), [("pear",)]).drawn(80) is not None
