"""Hashes of states do not depend on the Unicode that Python has."""

import re
import sys
import unicodedata
from pathlib import Path

import pytest

from bitreplay.parts import written_names
from bitreplay.parts.state import State

TABLE = Path(__file__).parents[2] / "core" / "src" / "learner" / "state" / "printable.cc"
NAMES = (
    "pear",
    3,
    None,
    "D'Anjou",
    'say "ah"',
    "'\"",
    "\\n\n\t\r",
    "Birne \u00e4",
    "\xa0\xad",
    "\u2028",
    "\ud7ff\ue000",
)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python's repr is of another Unicode")
def test_every_character_is_written_as_python_3_11_does():
    for first in range(0, sys.maxunicode + 1, 64):
        for text in ("".join(map(chr, range(first, first + 64))), f"'{chr(first)}", f"'\"{chr(first)}"):
            assert written_names._text(text) == repr(text), hex(first)


def test_characters_of_later_unicodes_are_escaped():
    """Assigned by 15.0, 15.1, 16.0 and 17.0."""
    for code in (0x1FAE8, 0x2FFC, 0x1C89, 0x1FACD):
        (text,) = written_names.written([f"a{chr(code)}"])
        assert text == (f"'a\\u{code:04x}'" if code < 1 << 16 else f"'a\\U{code:08x}'")


def test_lists_and_tuples_are_python_s():
    assert written_names.as_list(NAMES) == repr(list(NAMES))
    for count in (0, 1, 2):
        assert written_names.as_tuple(NAMES[:count]) == repr(NAMES[:count])


def test_the_table_is_the_core_s():
    n_features = re.search(r"kRuns\[\] = \{(.*?)\}", TABLE.read_text(), re.DOTALL)
    assert n_features is not None
    end, length, shift, ends = written_names.FIRST, 0, 0, []
    for byte in map(int, n_features[1].replace(",", " ").split()):
        length, shift = length | (byte & 127) << shift, shift + 7
        if byte < 128:
            end, length, shift = end + length, 0, 0
            ends.append(end)
    assert ends == written_names._ends()


def test_a_hash_of_names_that_newer_pythons_would_show():
    """As Python 3.11 had it when this was repr."""
    assert State(("\U0001fae8", 'a"b'), {}).hash() == "794ea17bac4cdda0a566d45f9a4d2e41e8e0b4f4defc7b62712a2851fb33981c"
