"""Is the built site whole? `make docs` runs it, without a network.

    python tools/check_site.py build/docs

Every link inside the site leads to a file, and to a place in it if it names one; so do those of the repository's own
pages. The search finds what newcomers look for. Links to other hosts are not followed.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import snowballstemmer

ROOT = Path(__file__).resolve().parents[1]
QUERIES = ("raspberry pi", "unlearn", "esp32", "merge", "microcontroller", "scikit-learn", "browser", "licence")
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "core/README.md",
    "js/README.md",
)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.places.add(value)


@cache
def page(path: Path) -> Page:
    parsed = Page()
    parsed.feed(path.read_text())
    return parsed


def broken(site: Path) -> list[str]:
    """Links of the site that lead nowhere."""
    found = []
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        for link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{path.relative_to(site)}: {link} is not there")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).places:
                found.append(f"{path.relative_to(site)}: {link} has no such place")
    return found


def slugs(text: str) -> set[str]:
    """The places of a Markdown page, as hosts of repositories name them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_in_repository() -> list[str]:
    """Links of pages that lie outside the site, read where they lie."""
    found = []
    for name in PAGES:
        text = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (ROOT / name).parent / parts.path if parts.path else ROOT / name
            if not target.exists():
                found.append(f"{name}: {link} is not there")
            elif parts.fragment and target.suffix == ".md" and parts.fragment not in slugs(target.read_text()):
                found.append(f"{name}: {link} has no such place")
    return found


def not_found(site: Path) -> list[str]:
    """Queries for which the site's search knows no page that has all their words."""
    text = (site / "searchindex.js").read_text()
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    stem = snowballstemmer.stemmer("english").stemWord

    def pages(word: str) -> set[int]:
        result: set[int] = set()
        for terms in (index["terms"], index["titleterms"]):
            for form in {word, stem(word)}:
                hits = terms.get(form, [])
                result |= {hits} if isinstance(hits, int) else set(hits)
        return result

    return [query for query in QUERIES if not set.intersection(*map(pages, re.findall(r"\w+", query.lower())))]


def main(site: Path) -> None:
    sentences = broken(site) + broken_in_repository()
    sentences += [f"the search does not find {query!r}" for query in not_found(site)]
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    if sentences:
        raise SystemExit(1)
    print(f"{len(list(site.rglob('*.html')))} pages: all links lead somewhere, the search finds {', '.join(QUERIES)}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
