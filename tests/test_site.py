"""tools/check_site.py: it finds what leads nowhere, and what the search misses. Notebooks are kept without output."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


@pytest.fixture
def check(monkeypatch):
    pytest.importorskip("snowballstemmer", reason="snowballstemmer comes with Sphinx: `make docs` installs it.")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield importlib.import_module("check_site")
    sys.modules.pop("check_site", None)


def test_links_to_missing_files_and_places_are_found(check, tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#there"></a><a href="b.html#gone"></a><a href="c.html"></a>')
    (tmp_path / "b.html").write_text('<h1 id="there"></h1><a href="https://example.org/x"></a><img src="no.png">')
    assert check.broken(tmp_path) == [
        "a.html: b.html#gone has no such place",
        "a.html: c.html is not there",
        "b.html: no.png is not there",
    ]


def test_a_query_is_found_where_a_page_has_all_its_words(check, tmp_path, monkeypatch):
    index = {"terms": {"raspberri": 0, "pi": [0, 1], "merg": 1}, "titleterms": {"esp32": [1]}}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    monkeypatch.setattr(check, "QUERIES", ("raspberry pi", "merges", "esp32", "raspberry esp32", "unlearn"))
    assert check.not_found(tmp_path) == ["raspberry esp32", "unlearn"]


def test_pages_of_the_repository_have_no_broken_links(check):
    assert check.broken_in_repository() == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_output_and_begins_with_its_title(path):
    cells = json.loads(path.read_text())["cells"]
    assert cells[0]["source"][0].startswith("# ")
    assert all(
        cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code"
    )


def test_there_are_six_tutorials():
    assert len(NOTEBOOKS) == 6
