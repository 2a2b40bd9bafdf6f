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
    found = [importlib.import_module(f"figures.{module.name}") for module in pkgutil.iter_modules(figures.__path__)]
    return {ROOT / module.PAGE: module for module in found if hasattr(module, "PAGE")}


@cache
def figure(asked: str, module: ModuleType) -> str:
    """What the page's module says, by its own functions or those of figures/shown.py that it imports."""
    name, *arguments = asked.split()
    made = getattr(module, name, None)
    if made is None or name.startswith("_") or made.__module__ not in (module.__name__, "figures.shown"):
        raise ValueError(f"{module.PAGE}: a figure {name!r} is asked for; {module.__name__} has no such function")
    return str(made(*arguments))


def filled(text: str, module: ModuleType) -> str:
    """The page with every figure as the rows have it."""

    def fill(found: re.Match[str]) -> str:
        asked, block = found[1], found[2].startswith("\n")
        # Markdown takes a line that begins with a comment as HTML, all of it: in a sentence a word stands before.
        if text[: found.start()].rpartition("\n")[2].strip() == "" and not block:
            raise ValueError(f"{module.PAGE}: the figure {asked!r} begins a line")
        told = figure(asked, module)
        return f"<!-- figure: {asked} -->" + (f"\n{told}\n" if block else told) + "<!-- end -->"

    made = MARK.sub(fill, text)
    if MARK.sub("", made).count("<!-- figure:"):
        raise ValueError(f"{module.PAGE}: a figure without its <!-- end -->")
    return made


def main() -> None:
    for path, module in pages().items():
        old = path.read_text()
        new = filled(old, module)
        if new != old:
            path.write_text(new)
            print(f"{module.PAGE}: figures changed")


if __name__ == "__main__":
    main()
