"""Nested lists, as the oracles see tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

Nested = Any


def flat(x: Nested) -> list[int]:
    return [x] if isinstance(x, int) else [value for part in x for value in flat(part)]


def shape_of(x: Nested) -> tuple[int, ...]:
    return () if isinstance(x, int) else (len(x), *shape_of(x[0]))


def shaped(values: list[int], shape: tuple[int, ...]) -> Nested:
    """The inverse of `flat`."""
    if len(shape) == 0:
        return values[0]
    step = len(values) // shape[0]
    return [shaped(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def build(shape: tuple[int, ...], entry: Callable[..., int]) -> Nested:
    """The nested list whose element at (i, j, ...) is entry(i, j, ...)."""
    return shaped([entry(*at) for at in positions(shape)], shape)


def positions(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*(range(n) for n in shape))


def apply(function: Callable[[int], int], x: Nested) -> Nested:
    return function(x) if isinstance(x, int) else [apply(function, part) for part in x]
