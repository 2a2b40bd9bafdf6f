"""Retired names that a text uses, found by parsing it: Python by ast, C and JavaScript by tokens, Markdown by its code.

Comments, strings and prose may say any word. Each function returns lines such as "12: level= (now replay_layer)".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator, Iterator, Mapping

from tests.vocabulary.retired import C_FIELDS, ENVIRONMENT, JAVASCRIPT, OPTIONS, PYTHON, SETTINGS, TAKE_SETTINGS, C

IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
NUMBER = re.compile(r"\.?[0-9](?:[eEpP][+-]|['\w.])*")
KEYWORD_ARGUMENT = re.compile(r"(?<![\w.])([a-z_]+)=(?!=)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,}) *(\w*)")
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# A slash begins a regular expression where an operand is expected, and divides otherwise.
ENDS_OPERAND = re.compile(r"[\w$)\]}]$")
BEFORE_OPERAND = {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await"}


def _report(line: int, name: str, names: Mapping[str, str]) -> str:
    return f"{line}: {name} (now {names[name]})"


def in_python(source: str) -> list[str]:
    """Definitions, names, attributes, arguments, imports, keywords of settings, options and environment variables."""
    uses: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        uses |= {_report(line, name, PYTHON) for name in _identifiers(node) if name in PYTHON}
        if isinstance(node, ast.Call):
            function = _last_name(node.func)
            if function in TAKE_SETTINGS:
                uses |= {_report(line, name, SETTINGS) for name in _keywords(node) if name in SETTINGS}
            if function in ("add_argument", "Option"):
                literals = [one.value for one in node.args if isinstance(one, ast.Constant)]
                uses |= {_report(line, name, OPTIONS) for name in literals if name in OPTIONS}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            uses |= {_report(line, name, ENVIRONMENT) for name in _words(node.value) if name in ENVIRONMENT}
    return sorted(uses)


def _identifiers(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Name():
            yield node.id
        case ast.Attribute():
            yield node.attr
        case ast.arg() | ast.keyword():
            yield node.arg or ""
        case ast.Import() | ast.ImportFrom():
            names = [alias.name for alias in node.names] + [alias.asname or "" for alias in node.names]
            for name in [*names, getattr(node, "module", None) or ""]:
                yield from name.split(".")


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _keywords(call: ast.Call) -> Iterator[str]:
    """Of f(a=1, **{"b": 2}): a and b."""
    for keyword in call.keywords:
        if keyword.arg:
            yield keyword.arg
        elif isinstance(keyword.value, ast.Dict):
            yield from (str(key.value) for key in keyword.value.keys if isinstance(key, ast.Constant))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def tokens(source: str, javascript: bool = False) -> Iterator[tuple[int, str, str]]:
    """(line, kind, text) of C, C++ or JavaScript without comments; kinds: identifier, number, string, sign."""
    at, before, line, counted = 0, "", 1, 0
    while at < len(source):
        start, char = at, source[at]
        line, counted = line + source.count("\n", counted, at), at
        if char.isspace():
            at += 1
            continue
        if source.startswith("//", at):
            end = source.find("\n", at)
            at = len(source) if end < 0 else end
            continue
        if source.startswith("/*", at):
            end = source.find("*/", at + 2)
            at = len(source) if end < 0 else end + 2
            continue
        if char in "\"'":
            at = _after_quote(source, at + 1, char)
            kind = "string"
        elif javascript and char == "`":
            at = yield from _template(source, at + 1, line)
            before = "`"
            continue
        elif javascript and char == "/" and (not ENDS_OPERAND.search(before) or before in BEFORE_OPERAND):
            at, kind = _after_expression(source, at + 1), "string"
        elif match := NUMBER.match(source, at):
            at, kind = match.end(), "number"
        elif match := IDENTIFIER.match(source, at):
            at, kind = match.end(), "identifier"
        else:
            at, kind = at + 1, "sign"
        before = source[start:at]
        yield line, kind, before


def _after_quote(source: str, at: int, quote: str) -> int:
    while at < len(source) and source[at] != quote:
        at += 2 if source[at] == "\\" else 1
    return at + 1


def _after_expression(source: str, at: int) -> int:
    """Behind a regular expression of JavaScript; a slash in brackets does not end it."""
    bracket = False
    while at < len(source) and (bracket or source[at] != "/"):
        bracket = source[at] == "[" or (bracket and source[at] != "]")
        at += 2 if source[at] == "\\" else 1
    return at + 1


def _template(source: str, at: int, line: int) -> Generator[tuple[int, str, str], None, int]:
    """Tokens of a template literal, its text as a string; returns where it ends."""
    start = at
    while at < len(source) and source[at] != "`":
        if source.startswith("${", at):
            end = _closing_brace(source, at + 2)
            offset = source.count("\n", 0, at)
            yield from ((offset + inner, kind, text) for inner, kind, text in tokens(source[at + 2 : end], True))
            at = end + 1
        else:
            at += 2 if source[at] == "\\" else 1
    yield line, "string", source[start:at]
    return at + 1


def _closing_brace(source: str, at: int) -> int:
    depth = 1
    while at < len(source):
        if source[at] in "\"'`":
            at = _after_quote(source, at + 1, source[at])
            continue
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0:
            return at
        at += 1
    return at


def in_c(source: str) -> list[str]:
    """Symbols, macros, fields of structures, and environment variables in strings."""
    uses: set[str] = set()
    structure, fields, before = "", False, ""
    for line, kind, text in tokens(source):
        if kind == "string":
            uses |= {_report(line, name, ENVIRONMENT) for name in _words(text) if name in ENVIRONMENT}
        if before == "struct" and kind == "identifier":
            structure = text
        fields = (fields or (text == "{" and before == structure != "")) and text != "}"
        if kind == "identifier":
            uses |= {_report(line, text, C)} if text in C else set()
            if fields and text in C_FIELDS.get(structure, {}):
                uses.add(_report(line, text, C_FIELDS[structure]))
        before = text
    return sorted(uses)


def in_javascript(source: str) -> list[str]:
    names, uses = C | JAVASCRIPT, set()
    for line, kind, text in tokens(source, javascript=True):
        if kind == "identifier" and text in names:
            uses.add(_report(line, text, names))
        if kind == "string":
            uses |= {_report(line, name, C | ENVIRONMENT) for name in _words(text) if name in C or name in ENVIRONMENT}
    return sorted(uses)


def in_shell(source: str) -> list[str]:
    """Make, CMake and shell: words outside comments."""
    names = ENVIRONMENT | C
    code = [(number, line.partition("#")[0]) for number, line in enumerate(source.splitlines(), 1)]
    uses = {_report(number, word, names) for number, line in code for word in _words(line) if word in names}
    return sorted(
        uses | {_report(n, word, OPTIONS) for n, line in code for word in OPTION.findall(line) if word in OPTIONS}
    )


def code_of(markdown: str) -> list[tuple[int, str, str]]:
    """(line, language, text) of fenced and indented blocks and of inline code."""
    pieces: list[tuple[int, str, str]] = []
    prose: list[str] = []
    fence, language, block, began = "", "", [""], 0
    for number, line in enumerate(markdown.splitlines(), 1):
        match = FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2]:
                pieces.append((began, language, "\n".join(block)))
                fence = ""
            else:
                block.append(line)
            prose.append("")
        elif match:
            fence, language, block, began = match[1], match[2], [], number + 1
            prose.append("")
        elif line.startswith("    "):
            pieces.append((number, "", line))
            prose.append("")
        else:
            prose.append(line)
    text = "\n".join(prose)
    for paragraph in re.finditer(r"(?:.+\n?)+", text):
        for span in SPAN.finditer(paragraph[0]):
            line_number = text.count("\n", 0, paragraph.start() + span.start()) + 1
            pieces.append((line_number, "", span[2]))
    return pieces


def in_markdown(text: str) -> list[str]:
    names = PYTHON | C | JAVASCRIPT | ENVIRONMENT
    uses: set[str] = set()
    for line, language, code in code_of(text):
        if language == "python":
            uses |= {f"{line}+{use}" for use in in_python(code)}
        uses |= {_report(line, word, names) for word in IDENTIFIER.findall(code) if word in names}
        uses |= {_report(line, word, OPTIONS) for word in OPTION.findall(code) if word in OPTIONS}
        uses |= {_report(line, word, SETTINGS) for word in KEYWORD_ARGUMENT.findall(code) if word in SETTINGS}
    return sorted(uses)
