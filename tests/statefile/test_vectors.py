"""The worked vectors of docs/state-format.md: Python's text, the core's and the page have the same bytes."""

from __future__ import annotations

import hashlib
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay import sections
from bitreplay.sections import FormError, native, reference

PAGE = (Path(__file__).parents[2] / "docs" / "state-format.md").read_text()
VALUES: dict[str, Any] = {
    "learned/classes": (7, None, "pear"),
    "learned/counters/forgotten": np.int64(1),
    "learned/parts/sums.counts": np.array([4, 5], np.int64),
    "learned/parts/toy.table": np.array([[1, -2, 3], [4, 5, -6]], np.int16),
    "settings/augment": True,
    "settings/bits": "8/1/16",
    "settings/learning_rate": Fraction(3, 10),
}
ROW = re.compile(r"^\| `([a-z/._]+)` (?:[^|]*)\| `([0-9a-f ]+)` \|$", re.MULTILINE)
ROWS = {name: bytes.fromhex(digits) for name, digits in ROW.findall(PAGE)}


def test_the_page_has_a_vector_of_each():
    assert list(ROWS) == list(VALUES)


@pytest.mark.parametrize("name", VALUES)
def test_a_section_has_these_bytes(name):
    assert sections.packed({name: VALUES[name]}) == ROWS[name]
    kind, shape, content = sections._stored(VALUES[name])
    for head, end in (native.heads([(name, kind, shape)]), reference.heads([(name, kind, shape)])):
        assert head + bytes(content) + end == ROWS[name]


@pytest.mark.parametrize(
    "odd",
    [("", 3, ()), ("a" * 256, 3, ()), ("a\0b", 3, ()), ("\ud800", 3, ()), ("a", 11, ()), ("a", 3, (1,) * 7),
     ("a", 3, (1 << 31,)), ("a", 7, (1,)), ("a", 9, ())],
)  # fmt: skip
def test_sections_that_cannot_be_are_refused_by_both(odd):
    for module in (native, reference):
        with pytest.raises(FormError):
            module.heads([odd])
        with pytest.raises(FormError):
            module.heads([("b", 3, ()), ("a", 3, ())])


def test_both_lay_out_many_sections_alike():
    listed = [(name, *sections._stored(VALUES[name])[:2]) for name in VALUES]
    assert native.heads(listed) == reference.heads(listed) and native.heads([]) == reference.heads([]) == [b""]


def test_a_file_of_them_has_this_checksum_and_this_hash():
    last, first = (dict(part) for part in (list(VALUES.items())[-3:], list(VALUES.items())[:4]))
    body = b"".join(list(ROWS.values())[-3:])
    file = b"BITSTATE" + bytes([3, 0, 0, 0, 0, 0, 0, 0]) + hashlib.sha256(body).digest() + body
    assert b"".join(sections.pieces(last)) == file and hashlib.sha256(body).hexdigest() in PAGE
    assert sections.unpack(file, "it") == last
    hashed = hashlib.sha256(b"".join(list(ROWS.values())[:4])).hexdigest()
    assert sections.learned_hash(first | last) == hashed and hashed in PAGE


def test_what_is_packed_is_found_again_by_both():
    data = b"".join(sections.pieces(VALUES))
    assert list(reference.sections(memoryview(data))) == list(native.sections(memoryview(data)))
    found: dict[str, Any] = dict(sections.unpack(data, "it"))
    for name, value in VALUES.items():
        assert np.array_equal(found[name], value) if isinstance(value, np.ndarray) else found[name] == value, name


def test_without_a_core_python_s_text_is_used(monkeypatch):
    monkeypatch.setattr(native, "available", lambda: None)
    assert [sections.packed({name: value}) for name, value in VALUES.items()] == list(ROWS.values())
    data = b"".join(sections.pieces(VALUES))
    assert sorted(sections.unpack(data, "it")) == list(VALUES)


@pytest.mark.parametrize(
    "value", [np.float64(1), np.zeros(3, np.float32), np.zeros(1, np.uint16), np.zeros((1,) * 7, np.int8)]
)
def test_what_no_section_holds_is_refused(value):
    with pytest.raises(sections.FormError):
        sections.packed({"a": value})
    for name in ("", "a\nb", "a" * 256, "\ud800"):
        with pytest.raises(sections.FormError):
            sections.packed({name: np.int64(1)})


@pytest.mark.parametrize("size", [0, 1, 55, 56, 64, 1000])
def test_marks_are_made_alike(size):
    """Across the block of SHA-256, and from one piece or from two."""
    data = bytes(range(256))[: size % 256] * (1 + size // 256)
    assert native.mark_of(data, b"before") == reference.mark_of(data, b"before") == native.mark_of(b"before" + data)
