"""Numbers that are written by hand into the pages, written down a second time.

    python experiments/hand_written.py          or: make numbers

Figures that have rows stand between comments and are filled from them (fill_figures.py); docs/results.md and
docs/results-tables.md are drawn (results.py), but for the words around the tables, which are counted here too. Pages
are README.md, docs/ with its tutorials, others of the repository (PLACES) and the words of the page in the browser.
What remains are sizes, settings, versions, examples, and figures whose rows nobody keeps. figures/hand_written.tsv has
these, a line per section: page, heading, numbers in their order. A test compares both, so that a digit that changes by
accident is noticed wherever it stands. It cannot say whether a number is right: whoever changes one looks at the
difference that this command makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import results
from fill_figures import MARK, ROOT
from listed import EXPERIMENTS

PLACES = ("*.md", "NOTICE", "CITATION.cff", "core/*.md", "js/*.md", "experiments/*.md", "examples/**/*.md",
          "docs/**/*.md", "docs/tutorials/*.ipynb", "page/texts.js", "page/index.html")  # fmt: skip
WRITTEN = Path(__file__).parent / "figures" / "hand_written.tsv"
DRAWN = {"docs/results.md", "docs/results-tables.md"}
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
HEADING = re.compile(r"#{1,6} (.*)")
FENCE = re.compile(r"\s*(```|~~~)")


def pages(root: Path = ROOT) -> dict[str, str]:
    """The text of every page that has numbers of its own, by its path; of pages that are drawn, the words by theirs."""
    paths = [path for place in PLACES for path in sorted(root.glob(place))]
    texts = {path.relative_to(root).as_posix(): words(path) for path in paths}
    written = {name: text for name, text in texts.items() if name not in DRAWN}
    written |= {f"experiments/{name}.py": module.__doc__ or "" for name, module in EXPERIMENTS.items()}
    return written | {"experiments/results.py": results.INTRODUCTION + results.LEFT_OUT + results.TABLES}


def words(path: Path) -> str:
    """The file; of a notebook its cells."""
    if path.suffix != ".ipynb":
        return path.read_text()
    return "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"])


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each heading, "" above the first, with the numbers below it that no tool fills; a heading's own count as well."""
    heading, numbers, fenced = "", list[str](), False
    for line in MARK.sub("", text).splitlines():
        fenced ^= bool(FENCE.match(line))
        if not fenced and (found := HEADING.match(line)):
            yield heading, numbers
            heading, numbers = found[1], []
        numbers += NUMBER.findall(line)
    yield heading, numbers


def lines(texts: dict[str, str]) -> list[str]:
    return [
        "\t".join([name, heading, " ".join(numbers)])
        for name, text in texts.items()
        for heading, numbers in sections(text)
        if numbers
    ]


def main() -> None:
    WRITTEN.write_text("\n".join(lines(pages())) + "\n")


if __name__ == "__main__":
    main()
