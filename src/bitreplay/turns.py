"""Changes take turns: one thread at a time, and no change from inside another."""

from __future__ import annotations

import threading
from types import TracebackType


class Turn:
    """A lock that says so when the thread that holds it asks for it again, where a plain one would wait for ever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._holder == me:
            raise ValueError("A learner cannot be changed or saved from inside a change: call it when learn is done.")
        self._lock.acquire()
        self._holder = me

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holder = None
        self._lock.release()
