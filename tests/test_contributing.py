"""ARCHITECTURE.md, CONTRIBUTING.md and core/README.md name files that exist, and names that are in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.vocabulary.uses import code_of

ROOT = Path(__file__).resolve().parents[1]
# The folders that a page's paths begin in
BEGIN = {
    "ARCHITECTURE.md": ("", "src/bitreplay", "core/src"),
    "CONTRIBUTING.md": ("",),
    "core/README.md": (
        "",
        "core",
        "core/src",
        "core/include",
        "core/src/kernels",
        "core/src/machine",
        "core/embedded",
        "src/bitreplay",
    ),
}
PATH = re.compile(r"(?=.*/|.*\.(?:py|cc|h|c|js|toml|md)$)[\w.@<>*/{},-]+(?:/|\.[a-z]+|/run)")
COMMAND = re.compile(r"\.venv/|docs\.md$|build/|dist/|requirements/ci")
NAME_IN_FILE = re.compile(r"((?:`\w+`(?:, | and )?)+) in\s+`([\w./-]+\.\w+)`")
TOPICS = [
    "strategy", "state part", "layer", "function of the C interface", "kernel",
    "instruction set", "data set", "command", "model", "board",
    "picture format",
]  # fmt: skip


def paths(page: str) -> list[str]:
    spans = [code for _, _, code in code_of((ROOT / page).read_text()) if PATH.fullmatch(code)]
    return [code for code in spans if not COMMAND.search(code)]


def exists(path: str, folders: tuple[str, ...]) -> bool:
    """<name> and {a,b} stand for any text."""
    pattern = re.sub(r"<\w+>|\{[^}]*\}", "*", path).rstrip("/")
    return any(next((ROOT / folder).glob(pattern), None) for folder in folders)


@pytest.mark.parametrize("page", BEGIN)
def test_every_path_exists(page):
    named = paths(page)
    assert len(named) > 15
    assert [path for path in named if not exists(path, BEGIN[page])] == []


def names_in_files(text: str) -> list[tuple[str, str]]:
    return [
        (name, file)
        for names, file in NAME_IN_FILE.findall(text)
        for name in re.findall(r"\w+", names)
        if name != "and"
    ]


def test_every_name_is_in_its_file():
    pairs = names_in_files((ROOT / "CONTRIBUTING.md").read_text())
    assert len(pairs) >= 15
    assert [(n, file) for n, file in pairs if not re.search(rf"\b{n}\b", (ROOT / file).read_text())] == []


def test_every_topic_has_its_steps():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    sections = dict(re.findall(r"^### An? (.+?)\n(.*?)(?=^##)", text, re.DOTALL | re.MULTILINE))
    assert list(sections) == TOPICS
    assert [topic for topic, section in sections.items() if len(re.findall(r"^\d\. ", section, re.MULTILINE)) < 3] == []


def test_there_are_twenty_questions():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| (\d+)\. [^|]+\| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 21))
    assert [number for number, where in rows if "`" not in where] == []


def test_missing_files_and_names_are_seen():
    assert not exists("src/bitreplay/strategies/gone.py", ("",))
    assert not exists("core/src/kernels/<family>/<name>_gone.cc", ("",))
    assert exists("core/src/kernels/<family>/<name>_loops.h", ("",))
    assert names_in_files("`A` and `B` in `x/y.py`, `C` in\n  `z.cc`") == [
        ("A", "x/y.py"),
        ("B", "x/y.py"),
        ("C", "z.cc"),
    ]
