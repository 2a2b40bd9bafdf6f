"""Arguments of callers: as a sentence that refuses them names them, and as values where they fit."""

from __future__ import annotations

import operator
import os
import unicodedata
from pathlib import Path
from typing import Any

LONGEST = 60
JOINERS = "\u200c\u200d"  # of Persian words, of families of emoji


def short_repr(value: object) -> str:
    """A value as an error message names it: on one line, and short.

    >>> short_repr([[1, 2], [3, 4]])
    '[[1, 2], [3, 4]]'
    >>> short_repr("x" * 100)[-6:]
    'xxx...'
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python does not print integers of thousands of digits
        text = f"a {type(value).__name__} that is too long to print"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def escaped(text: object) -> str:
    r"""Text as a terminal may get it: on one line, with escapes for whatever moves the cursor, changes colours or turns
    the direction of writing.

    >>> escaped("p\x1b[2Jear")
    'p\\x1b[2Jear'
    """
    return "".join(repr(c)[1:-1] if _moves(c) else c for c in str(text))


def _moves(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in JOINERS


def as_integer(value: Any) -> int | None:
    """An integer of Python's or NumPy's as an int; None for anything else, also for True and False."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "ndarray"):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def path_of(value: Any, what: str) -> Path:
    """A path from text or a Path."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise ValueError(f"{what} must be a path, got {short_repr(value)} ({type(value).__name__}).")
    return Path(value)
