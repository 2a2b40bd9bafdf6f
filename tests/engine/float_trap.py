"""Catches floating point while Python code runs: arrays that refuse it, a NumPy that hands out only such arrays, and a
look at the variables of every function.

    with trap([module, ...]):            the modules' `np` is replaced; FloatFound is raised at the first float
        ...
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

import numpy as np

FLOATING = (float, complex, np.floating, np.complexfloating)


class FloatFound(AssertionError):
    """Floating point where integers were promised."""


def refuse(x: Any, where: str) -> None:
    """Raise if x is, or holds, a floating-point number, type or array."""
    if isinstance(x, FLOATING) or (isinstance(x, type) and issubclass(x, FLOATING)):
        raise FloatFound(f"{where}: {x!r}")
    if isinstance(x, np.dtype | np.ndarray) and (x if isinstance(x, np.dtype) else x.dtype).kind in "fc":
        raise FloatFound(f"{where}: {x!r}")
    if isinstance(x, list | tuple):
        for part in x:
            refuse(part, where)
    elif isinstance(x, dict):
        refuse(tuple(x.values()), where)


def trapped(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(trapped(part) for part in x)
    return x.view(Whole) if isinstance(x, np.ndarray) else x


def bare(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(bare(part) for part in x)
    return x.view(np.ndarray) if isinstance(x, Whole) else x


class Whole(np.ndarray):
    """An array that may not become, meet or make a floating-point one."""

    def __array_finalize__(self, source: Any) -> None:
        refuse(self.dtype, "an array was made")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        refuse(inputs, f"{ufunc.__name__} was given")
        refuse({k: v for k, v in options.items() if k == "dtype"}, f"{ufunc.__name__} was asked for")
        options = {name: bare(value) for name, value in options.items()}
        result = getattr(ufunc, method)(*(bare(x) for x in inputs), **options)
        refuse(result, f"{ufunc.__name__} gave")
        return trapped(result)

    def __array_function__(self, function: Callable, types: Any, args: Any, options: Any) -> Any:
        refuse((args, options), f"{function.__name__} was given")
        result = super().__array_function__(function, types, args, options)
        refuse(result, f"{function.__name__} gave")
        return trapped(result)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        refuse(np.dtype(dtype), "astype")
        return super().astype(dtype, *args, **options)


class WholeNumpy:
    """NumPy, seen from the code under test: what its functions take and give is checked, and given as Whole."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        refuse(found, f"np.{name}")
        if isinstance(found, type | np.ufunc) or not callable(found):
            return found

        def checked(*args: Any, **options: Any) -> Any:
            refuse((args, options), f"np.{name} was given")
            result = found(*args, **options)
            refuse(result, f"np.{name} gave")
            return trapped(result)

        return checked


FLOAT_ROUTINES = {f for f in vars(math).values() if callable(f)} - {
    math.isqrt,
    math.gcd,
    math.lcm,
    math.comb,
    math.prod,
}


@contextmanager
def trap(modules: Iterable[ModuleType]) -> Iterator[None]:
    """Within, the modules see WholeNumpy, and no function of theirs may hold a float in a variable or call `math`."""
    modules = list(modules)
    files = {module.__file__ for module in modules}
    before = [(module, module.__dict__["np"]) for module in modules if "np" in module.__dict__]

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_code.co_filename not in files:
            return
        if event == "c_call" and argument in FLOAT_ROUTINES:
            raise FloatFound(f"{frame.f_code.co_name} calls {argument.__name__}")
        if event == "return":
            variables = {name: value for name, value in frame.f_locals.items() if not isinstance(value, type)}
            refuse((variables, argument), f"{frame.f_code.co_name} holds")

    for module, _ in before:
        module.__dict__["np"] = WholeNumpy()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)
        for module, numpy in before:
            module.__dict__["np"] = numpy
