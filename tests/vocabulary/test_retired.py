"""No retired identifier is in use, anywhere, and each kind of use would be found."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import bitreplay
from bitreplay.cli.application import application_for
from tests.vocabulary import retired
from tests.vocabulary.uses import code_of, in_c, in_javascript, in_markdown, in_python, in_shell, tokens

ROOT = Path(__file__).resolve().parents[2]
HERE = "tests/vocabulary/"
READERS = {
    ".py": in_python, ".c": in_c, ".cc": in_c, ".h": in_c, ".js": in_javascript, ".mjs": in_javascript,
    ".md": in_markdown, ".sh": in_shell, ".cmake": in_shell, "CMakeLists.txt": in_shell, "Makefile": in_shell,
    ".ci/run": in_shell,
}  # fmt: skip
HISTORY = {"CHANGELOG.md"}


def files() -> list[str]:
    """Paths of all that is committed; of all files where there is no repository."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]
    walked = (Path(folder, name).relative_to(ROOT) for folder, _, names in os.walk(ROOT) for name in names)
    return [path.as_posix() for path in walked if path.parts[0] not in (".git", ".venv", "build", "dist")]


def readable() -> Iterator[tuple[str, Any]]:
    for path in files():
        ending = next((ending for ending in READERS if path.endswith(ending)), None)
        if ending and path not in HISTORY and not path.startswith(HERE):
            yield path, READERS[ending]


def test_no_file_uses_a_retired_name():
    read = dict(readable())
    assert {Path(path).suffix for path in read} >= {".py", ".cc", ".h", ".js", ".md"}
    uses = [(path, use) for path, reader in read.items() for use in reader((ROOT / path).read_text())]
    assert [f"{path}:{use}" for path, use in uses if use.split()[1] not in retired.IN_FILES.get(path, ())] == []


def test_no_file_has_a_retired_name():
    present = set(files())
    assert present & set(retired.FILES) == set()
    assert {new for new in retired.FILES.values() if not (ROOT / new).is_file()} == set()


def test_settings_have_no_retired_field():
    fields = {field.name for field in dataclasses.fields(bitreplay.Settings)}
    assert fields & set(retired.SETTINGS) == set()
    assert {name for new in retired.SETTINGS.values() for name in new.split(" or ")} <= fields


@pytest.mark.parametrize("owner", retired.MEMBERS)
def test_no_member_is_retired(owner):
    assert retired_members(resolve(owner), retired.MEMBERS[owner]) == []
    assert all(hasattr(resolve(owner), new) for new in retired.MEMBERS[owner].values())


def resolve(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(resolve(module), last)


def retired_members(owner: object, names: dict[str, str]) -> list[str]:
    return [name for name in names if hasattr(owner, name)]


def options(command: Any) -> set[str]:
    """Of the command of click and of all below it."""
    own = {word for parameter in command.params for word in (*parameter.opts, *parameter.secondary_opts)}
    return own.union(*(options(below) for below in getattr(command, "commands", {}).values()))


def test_no_option_is_retired():
    offered = options(typer.main.get_command(application_for([])))
    assert offered & set(retired.OPTIONS) == set()
    replacements = {name for new in retired.OPTIONS.values() for name in new.split(" or ")} - {"--min-steps"}
    assert replacements <= offered  # --min-steps: of experiments alone


def test_what_the_changelog_renames_is_retired():
    """Of its first column: C symbols, options and environment variables; others are words that live on elsewhere."""
    rows = re.findall(r"^  \| (.*?) \| .* \|$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row)]
    renamed = {word for span in spans for word in re.findall(r"--[a-z-]+|\b(?:br|BR|BITREPLAY)_\w+", span)}
    known = retired.C.keys() | retired.C_FIELDS.keys() | retired.OPTIONS.keys() | retired.ENVIRONMENT.keys()
    assert len(renamed) > 30
    assert renamed - known - {"--json"} == set()


# Each kind can fail


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class Tally: ...", ["Tally"]),
        ("def set_path(): ...", ["set_path"]),
        ("async def set_path(): ...", ["set_path"]),
        ("def f(code_bits=1): ...", ["code_bits"]),
        ("lambda code_bits: 1", ["code_bits"]),
        ("learner.learn_latents(x, y)", ["learn_latents"]),
        ("f(code_bits=2)", ["code_bits"]),
        ("from bitreplay.engine.layers import level_code", ["level_code"]),
        ("from bitreplay.engine.layers.level_code import x", ["level_code"]),
        ("import bitreplay.engine.layers.level_code as code", ["level_code"]),
        ("from x import y as Tally", ["Tally"]),
        ("Settings(level='a', rate=1)", ["level", "rate"]),
        ("bitreplay.Learner.from_pretrained('m', numbers=128)", ["numbers"]),
        ("settings.changed(**{'new': 3})", ["new"]),
        ("parser.add_argument('--level')", ["--level"]),
        ("typer.Option('-r', '--rate')", ["--rate"]),
        ("os.environ['BITREPLAY_PATH']", ["BITREPLAY_PATH"]),
        ("# Tally\nlevel = rate = new = 'Tally'; f(level=1, path=2)\n'set_path'", []),
    ],
)
def test_uses_in_python_are_found(source, names):
    assert sorted(use.split(": ")[1].split(" (")[0] for use in in_python(source)) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("int x = br_path();", ["br_path"]),
        ("#include <a.h>\n#define BR_UNKNOWN_PATH 3", ["BR_UNKNOWN_PATH"]),
        ("typedef struct br_memory { int a; int derived; } br_memory;", ["derived"]),
        ("struct br_memory {\n  uint64_t derived;\n};", ["derived"]),
        ('getenv("BITREPLAY_PATH")', ["BITREPLAY_PATH"]),
        ("char quote = '\"'; br_serve(p); char other = '\\'';", ["br_serve"]),
        ("int n = 1'000'000; br_serve(p);", ["br_serve"]),
        ('// br_path\n/* br_paths\n */ "br_set_path" br_paths_more int derived; struct other { int derived; };', []),
    ],
)
def test_uses_in_c_are_found(source, names):
    assert sorted(use.split(": ")[1].split(" (")[0] for use in in_c(source)) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class Teacher {}", ["Teacher"]),
        ("core.call.br_set_path(at)", ["br_set_path"]),
        ('call["br_set_path"](at)', ["br_set_path"]),
        ("text(`a ${core.br_path()} b`)", ["br_path"]),
        ("x.replace(/[/'\"]/g, br_path)", ["br_path"]),
        ("const half = all / 2; const other = Teacher / 2;", ["Teacher"]),
        ("// Teacher\n/* br_path */ const t = 'Teacher', teacher = `Teacher`, e = /Teacher/;", []),
    ],
)
def test_uses_in_javascript_are_found(source, names):
    assert sorted(use.split(": ")[1].split(" (")[0] for use in in_javascript(source)) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("By `Tally`.", ["Tally"]),
        ("As ``br_path`` does, or `br_set_path(x)`.", ["br_path", "br_set_path"]),
        ("```\nbitreplay learn --level a\n```", ["--level"]),
        ("    BITREPLAY_PATH=scalar make", ["BITREPLAY_PATH"]),
        ("`numbers=128`", ["numbers"]),
        ("```python\nSettings(level=1)\n```", ["level", "level"]),
        ("Tally br_path --level level= `level` `--new-thing` `a.rate == b`\n\n```text\nlevels\n```", []),
    ],
)
def test_uses_in_markdown_are_found(source, names):
    assert sorted(use.split(": ")[1].split(" (")[0] for use in in_markdown(source)) == names


def test_uses_in_makefiles_are_found():
    assert in_shell("# BITREPLAY_PATH\ntest:\n\tBITREPLAY_PATH=avx2 run --rate 3") == [
        "3: --rate (now --learning-rate)",
        "3: BITREPLAY_PATH (now BITREPLAY_ISA)",
    ]


def test_retired_options_and_members_are_found():
    app = typer.Typer()

    @app.command()
    def learn(level: str = "") -> None: ...

    assert options(typer.main.get_command(app)) & set(retired.OPTIONS) == {"--level"}
    assert retired_members(bitreplay.Learner, {"learn": "teach"}) == ["learn"]


def test_tokens_have_their_lines_and_kinds():
    assert list(tokens("a /* b\n */ + 1.5e-3 // c\n'd'")) == [
        (1, "identifier", "a"), (2, "sign", "+"), (2, "number", "1.5e-3"), (3, "string", "'d'"),
    ]  # fmt: skip


def test_code_in_markdown_has_its_lines():
    assert code_of("a `b`\nc\n\n```c\nd\n```\n\n`e\nf`") == [(5, "c", "d"), (1, "", "b"), (8, "", "e\nf")]
