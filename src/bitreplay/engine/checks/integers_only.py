"""Arrays that may not become floating point, to watch a layer's reference functions at work.

    with only_integers(modules):        their `np` hands out IntegerArrays
        ...                             FloatFound at the first floating-point array

An IntegerArray passes its kind on to whatever NumPy makes of it, so that a division or a mean is seen where it happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

FLOATING = "fc"


class FloatFound(AssertionError):
    """Floating point where integers were promised."""


class IntegerArray(np.ndarray):
    def __array_finalize__(self, source: Any) -> None:
        if self.dtype.kind in FLOATING:
            raise FloatFound(f"an array of {self.dtype} was made")


class _Numpy:
    """NumPy as the watched code sees it: what its functions give is checked, and given as IntegerArray."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type | np.ufunc) or not callable(found):
            return found

        def checked(*args: Any, **options: Any) -> Any:
            result = found(*args, **options)
            parts = result if isinstance(result, tuple | list) else (result,)
            if any(getattr(part, "dtype", np.dtype(bool)).kind in FLOATING for part in parts):
                raise FloatFound(f"np.{name} gave floating point")
            return result.view(IntegerArray) if isinstance(result, np.ndarray) else result

        return checked


@contextmanager
def only_integers(modules: Iterable[ModuleType]) -> Iterator[None]:
    watched = [(module, module.__dict__["np"]) for module in modules if module.__dict__.get("np") is np]
    for module, _ in watched:
        module.__dict__["np"] = _Numpy()
    try:
        yield
    finally:
        for module, numpy in watched:
            module.__dict__["np"] = numpy
