"""Names of classes and their numbers. A name is text or an integer; its class number is a row of the head.

Text that looks the same is one name: new names are in Unicode's form NFC, of 1 to 200 whole characters. That holds
wherever names are accepted. States of 0.1 may hold names that are not in NFC, which keep their spelling and are found
by any; those up to 0.2.0 also names with halves of characters, from folders whose names are not UTF-8, which are found
by their own spelling, to be renamed or forgotten.

The core has these rules too (learner/names.cc), for callers in C. It sees no objects of Python, and could not say which
rule a label breaks; sections/reference.py has the limits, for where there is no core.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.arguments import escaped, short_repr
from bitreplay.sections.reference import MAX_CLASS_NAME, MAX_INTEGER
from bitreplay.sections.reference import Name as Name


class Classes:
    """New names take the lowest free number; a forgotten class leaves its number free.

    >>> classes = Classes()
    >>> classes.add(["pear", "apple", "pear"])
    >>> classes.indices(["apple", "pear", "plum"]).tolist()
    [0, 1, -1]
    """

    def __init__(self, names: Iterable[Name | None] = ()) -> None:
        self.names: tuple[Name | None, ...] = tuple(names)

    def __len__(self) -> int:
        """One more than the highest number in use."""
        return len(self.names)

    @property
    def known(self) -> list[Name]:
        return [name for name in self.names if name is not None]

    def number(self, name: object) -> int:
        """The number of a known name; ValueError for any other."""
        if isinstance(name, str) and name in self.names:
            return self.names.index(name)
        (spelled,) = names_of([name])
        number = self._table().get(spelled, -1)
        if number < 0:
            raise ValueError(f"There is no class {short_repr(spelled)}; known: {_listed(self.known)}.")
        return number

    def indices(self, names: Iterable[Name | None]) -> NDArray[np.int32]:
        """Class numbers; -1 for a name that is not known."""
        table = self._table()
        return np.array([table.get(name, -1) for name in names], np.int32)

    def spelled(self, names: Iterable[Name]) -> list[Name]:
        """Names, spelled as the known ones."""
        known: Mapping[Name, Name] = {usual(name): name for name in self.known} | {name: name for name in self.known}
        return [known.get(name, name) for name in names]

    def _table(self) -> dict[object, int]:
        """Numbers by name, and by the usual spelling of a name that has another one."""
        by_name: dict[object, int] = {name: number for number, name in enumerate(self.names) if name is not None}
        return {usual(name): number for number, name in enumerate(self.names) if name is not None} | by_name

    def add(self, names: Iterable[Name]) -> None:
        """Give numbers to the names that have none, in sorted order, so that the order of samples does not matter."""
        table = list(self.names)
        for name in in_order(set(names) - set(self._table())):
            at = table.index(None) if None in table else len(table)
            table[at : at + 1] = [name]
        self.names = tuple(table)

    def rename(self, old: object, new: object) -> None:
        number, (name,) = self.number(old), names_of([new])
        if self._table().get(name, number) != number:
            one = "`merge` with a renaming makes two classes one, with the strategy exact"
            raise ValueError(f"There is a class {short_repr(name)} already; {one}.")
        self.names = (*self.names[:number], name, *self.names[number + 1 :])

    def forget(self, number: int) -> None:
        self.names = (*self.names[:number], None, *self.names[number + 1 :])

    def restore(self, names: Iterable[Name | None]) -> None:
        self.names = tuple(names)

    def named(self, indices: NDArray) -> NDArray:
        """The names of class numbers, None for -1: an array of integers, of text, or of objects if they are mixed."""
        names = [self.names[number] if number >= 0 else None for number in indices.tolist()]
        kinds = {type(name) for name in names}
        if kinds == {int}:
            return np.array(names, np.int64)
        result = np.empty(len(names), object)
        result[:] = names
        # NumPy's text ends at the last character that is not NUL
        return result.astype(str) if kinds == {str} and not any(str(name).endswith("\0") for name in names) else result


def in_order(names: Iterable[Name]) -> tuple[Name, ...]:
    """Each name once: integers before texts, both rising."""
    return tuple(sorted(set(names), key=lambda name: (isinstance(name, str), name)))


def usual(name: Name) -> Name:
    """
    >>> len(usual("a\u0308pfel"))
    5
    """
    return unicodedata.normalize("NFC", name) if isinstance(name, str) else name


def labels_of(labels: Any, count: int) -> list[Name]:
    """One label per sample; a single label stands for all of them."""
    names = names_of(labels)
    names = names * count if isinstance(labels, str | int | np.generic) else names
    if len(names) != count:
        raise ValueError(f"There must be as many labels as pictures, got {len(names)} and {count}.")
    if not names:
        raise ValueError("An experience needs at least one picture.")
    return names


def names_of(labels: Any) -> list[Name]:
    """Labels as plain text and integers, from a list, an array, a tensor, a column of a table or a generator.

    One name alone is a list of one.
    """
    if isinstance(labels, str | int | np.generic) or (isinstance(labels, np.ndarray) and labels.ndim == 0):
        labels = [labels]
    if not isinstance(labels, Iterable) or isinstance(labels, bytes | Mapping | Set):
        raise ValueError(f"Labels must be a list or an array of text or integers, got {type(labels).__name__}.")
    if getattr(labels, "ndim", 1) != 1:
        raise ValueError(f"Labels must have one dimension, got the shape {tuple(labels.shape)}.")  # type: ignore[attr-defined]
    if not isinstance(labels, np.ndarray) and callable(plain := getattr(labels, "tolist", None)):
        labels = plain()  # a tensor gives tensors one by one, a column of categories gives text
    return [usual(checked_name(label)) for label in labels]


def checked_name(label: object) -> Name:
    """A new name in its normal form; ValueError if it is not text or an integer."""
    plain = kept_name(label)
    if isinstance(plain, str) and not plain.isascii() and any("\ud800" <= c <= "\udfff" for c in plain):
        raise ValueError(
            f"A label must be valid Unicode, got {short_repr(plain)}; rename a folder whose name is not UTF-8."
        )
    return plain


def kept_name(label: object) -> Name:
    """A name that a state may hold; ValueError for any other."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, bool) or not isinstance(plain, str | int):
        raise ValueError(f"A label must be text or an integer, got {short_repr(label)} ({type(label).__name__}).")
    if isinstance(plain, str) and not 0 < len(plain) <= MAX_CLASS_NAME:
        raise ValueError(f"A label must have 1 to {MAX_CLASS_NAME} characters, got {len(plain)}.")
    if isinstance(plain, int) and abs(plain) > MAX_INTEGER:
        raise ValueError(f"A label that is an integer must be within 2^53, got {short_repr(plain)}.")
    return plain


def _listed(names: list[Name]) -> str:
    first = ", ".join(_short(name) for name in names[:10])
    return first + (f" and {len(names) - 10} more" if len(names) > 10 else "") if names else "none"


def _short(name: Name) -> str:
    text = escaped(name)
    return text if len(text) <= 40 else text[:37] + "..."
