"""Hashes of states do not depend on the Unicode that Python has."""

import sys
import unicodedata

import pytest

from bitreplay.parts.state import State
from bitreplay.statefile import hash_of_format_2
from bitreplay.statefile.old import written_names

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


def test_tuples_are_python_s():
    for count in (0, 1, 2):
        assert written_names.as_tuple(NAMES[:count]) == repr(NAMES[:count])


def test_a_hash_of_names_that_newer_pythons_would_show():
    """As Python 3.11 had it when this was repr."""
    assert (
        hash_of_format_2(State(("\U0001fae8", 'a"b'), {}))
        == "794ea17bac4cdda0a566d45f9a4d2e41e8e0b4f4defc7b62712a2851fb33981c"
    )
