"""Changes take turns: one thread at a time, and no change from inside another.

Ctrl-C cannot leave the lock held. CPython runs a signal's handler when a function begins, after a call has returned and
when a loop goes back: never between the entry of `with` and its body, nor between two plain assignments.
`threading.Lock` is entered and left by its own C code, so it is never held with nobody to free it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Turn:
    """A lock that says so when the thread that holds it asks for it again, where a plain one would wait for ever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None

    def during(self, act: Callable[[], T]) -> T:
        """What `act` returns, called while nobody else has the turn."""
        me = threading.get_ident()
        if self._holder == me:
            raise ValueError("A learner cannot be changed or saved from inside a change: call it when learn is done.")
        with self._lock:
            try:
                self._holder = me  # nothing is called before this
                return act()
            finally:
                self._holder = None
