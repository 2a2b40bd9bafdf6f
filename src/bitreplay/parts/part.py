"""What is learned consists of parts: a tail, a head, a memory, class statistics. Each has a state of named arrays.

Only a part knows its own fields: a state consists of those of its parts (state.py), files store it, hashes cover it.
`version` says how a part's arrays are to be read; files of 0.1 name none, which means 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.learning.classes import Name

Names = tuple[Name | None, ...]
MAX_COUNTER = 1 << 62


class PartState(Protocol):
    """The state of a part: a copy by value that never changes. Arrays may be made when they are first read."""

    @property
    def arrays(self) -> Mapping[str, NDArray]: ...
    @property
    def counters(self) -> Mapping[str, int]: ...


@dataclass(frozen=True)
class ArrayState:
    """Plain arrays and counters, for parts that need no other form. The arrays become read-only.

    `version` is that of the file they were read from.
    """

    arrays: Mapping[str, NDArray]
    counters: Mapping[str, int] = field(default_factory=dict)
    version: int = 1

    def __post_init__(self) -> None:
        for array in self.arrays.values():
            array.flags.writeable = False


class Part(Protocol):
    """`counters` are the names of its counters, which no other part of a strategy may use.

    `read` checks what a file holds, without the model, and returns what `load_state_dict` needs, or raises ValueError.
    `fits` says whether this part, as its model made it, can load a state.
    """

    version: ClassVar[int]
    counters: ClassVar[tuple[str, ...]]

    @classmethod
    def read(cls, content: ArrayState, names: Names) -> PartState: ...
    def state_dict(self) -> Any: ...
    def fits(self, state: Any) -> bool: ...
    def load_state_dict(self, state: Any) -> None: ...


def array_of(state: PartState, part: str, name: str, dtype: type, dimensions: int) -> NDArray:
    """A named array of this type and number of dimensions; ValueError for any other."""
    array = state.arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != dimensions:
        raise ValueError(f"Its array {part}.{name} is missing or has another type.")
    return array


def only(state: PartState, part: str, *names: str) -> None:
    """Refuse other arrays than these: they would be in the hash, and in every file from then on."""
    more = sorted(set(state.arrays) - set(names))
    if more:
        raise ValueError(f"Its part {part} has an array {more[0][:40]!r} that this program does not know.")


def with_rows(array: NDArray, rows: int) -> NDArray:
    """The first `rows` rows, zeros where there are no more."""
    result = np.zeros((rows, *array.shape[1:]), array.dtype)
    result[: len(array)] = array[:rows]
    return result


def between(values: NDArray, low: int, end: int) -> bool:
    """All at least `low` and below `end`."""
    return not len(values) or bool(low <= values.min() and values.max() < end)


def need(condition: bool | np.bool_, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)
