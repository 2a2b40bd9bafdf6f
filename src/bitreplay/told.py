"""What a caller gave, for a sentence that refuses it, and for use where it fits."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import Any

LONGEST = 60


def told(value: object) -> str:
    """A value as a sentence may name it: on one line, and short.

    >>> told([[1, 2], [3, 4]])
    '[[1, 2], [3, 4]]'
    >>> told("x" * 100)[-6:]
    'xxx...'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def whole_number(value: Any) -> int | None:
    """A whole number of Python's or NumPy's as an int; None for anything else, also for True and False."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "ndarray"):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def path_of(value: Any, what: str) -> Path:
    """A path from text or a Path."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise ValueError(f"{what} must be a path, got {told(value)} ({type(value).__name__}).")
    return Path(value)
