"""Writes tables and single figures into README.md and docs/ from the committed rows, between two comments:

    python experiments/fill_figures.py          or: make figures

    on CIFAR-10 it ends at <!-- figure: exact cifar10 react18 -->84.9<!-- end --> percent

The first word names a function of the page's module in `figures` (README.md: figures/readme.py), the others are its
arguments; what it returns stands between the comments, which no renderer shows. A table stands on lines of its own.
Nothing else in a page is touched. tests/experiments/test_figures.py fails where a page differs from its rows.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import figures

ROOT = Path(__file__).resolve().parents[1]
MARK = re.compile(r"<!-- figure: ([^>]*?) -->(.*?)<!-- end -->", re.DOTALL)


def pages() -> dict[Path, ModuleType]:
    """The module of each page that has figures: those that name a PAGE."""
    modules = [importlib.import_module(f"figures.{module.name}") for module in pkgutil.iter_modules(figures.__path__)]
    return {ROOT / module.PAGE: module for module in modules if hasattr(module, "PAGE")}


@cache
def figure(call: str, module: ModuleType) -> str:
    """What the page's module says, by its own functions or those of figures/shared.py that it imports."""
    name, *arguments = call.split()
    function = getattr(module, name, None)
    if function is None or name.startswith("_") or function.__module__ not in (module.__name__, "figures.shared"):
        raise ValueError(f"{module.PAGE}: a figure {name!r} is asked for; {module.__name__} has no such function")
    return str(function(*arguments))


def filled(text: str, module: ModuleType) -> str:
    """The page with every figure as the rows have it."""

    def fill(match: re.Match[str]) -> str:
        call, block = match[1], match[2].startswith("\n")
        # Markdown takes a line that begins with a comment as HTML, all of it: in a sentence a word stands before.
        if text[: match.start()].rpartition("\n")[2].strip() == "" and not block:
            raise ValueError(f"{module.PAGE}: the figure {call!r} begins a line")
        value = figure(call, module)
        return f"<!-- figure: {call} -->" + (f"\n{value}\n" if block else value) + "<!-- end -->"

    filled_text = MARK.sub(fill, text)
    if MARK.sub("", filled_text).count("<!-- figure:"):
        raise ValueError(f"{module.PAGE}: a figure without its <!-- end -->")
    return filled_text


def main() -> None:
    for path, module in pages().items():
        old = path.read_text()
        new = filled(old, module)
        if new != old:
            path.write_text(new)
            print(f"{module.PAGE}: figures changed")


if __name__ == "__main__":
    main()
