"""Exact sums over pictures: what learning by sums keeps, and all that it keeps (docs/law.md section 13).

A picture is d integers x in [-127, 127] and a class. Over all pictures, and nothing else:

    counts      n_c                      (classes,) int64
    class_sums  s_c = sum of x           (classes, d)
    products    G = sum of x x^T         (d (d + 1) / 2,), the lower triangle by rows: G_ij at i (i + 1) / 2 + j
    class_products                       (classes, d (d + 1) / 2), the same of each class, where classes are to be
                                         forgotten exactly; else None

Sums are int32 up to 131,072 pictures (127^2 * 131,072 < 2^31), then int64. A class that is forgotten
may leave its scatter in G (parts/class_statistics.py); so the pictures that decide are the extent

    m = n, or max(n, ceil(max |G_ij| / 127^2)) where something was forgotten so;   |G_ij| <= 127^2 m

Order and grouping of the pictures do not matter, and what was added can be taken away:

    sums = Sums.empty(n_features=512, classes=10)
    add(sums, x, labels)                 x (pictures, 512) int8, labels (pictures,) class numbers
    add(sums, x, labels, sign=-1)        as if they had never been there
    combine(sums, other)                 the sums of both; sign=-1 takes `other` out again
    forget(sums, row)                    a class goes: with its products, or else with what its sum makes of them

This is the reference; native_sums.py has the same functions, faster. Both change `sums` in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, divide_each, wide

LARGEST = 127
NARROW_PICTURES = 1 << 17
MAX_PICTURES = (1 << 31) - 1
MAX_FEATURES = 1 << 13


def width(pictures: int) -> np.dtype:
    """The type of class_sums and products over so many pictures."""
    return np.dtype(np.int32 if pictures <= NARROW_PICTURES else np.int64)


@dataclass
class Sums:
    """Sums over pictures; the arrays are the whole state. Two of equal arrays saw the same pictures' sums.

    `forgot`: a class was forgotten that may have left its scatter in the products.
    """

    counts: Int64
    class_sums: NDArray
    products: NDArray
    forgot: bool = False
    class_products: NDArray | None = None

    @staticmethod
    def empty(n_features: int, classes: int, by_class: bool = False) -> Sums:
        """No pictures yet, of `n_features` numbers each (1 to 8,192), for so many classes."""
        if not 1 <= n_features <= MAX_FEATURES:
            raise ValueError(f"There must be 1 to {MAX_FEATURES} features, got {n_features}.")
        narrow = width(0)
        triangle = np.zeros(n_features * (n_features + 1) // 2, narrow)
        own = np.zeros((classes, len(triangle)), narrow) if by_class else None
        return Sums(np.zeros(classes, np.int64), np.zeros((classes, n_features), narrow), triangle, False, own)

    @property
    def n_features(self) -> int:
        return self.class_sums.shape[1]

    @property
    def classes(self) -> int:
        return len(self.counts)

    @property
    def pictures(self) -> int:
        return int(self.counts.sum())

    @property
    def extent(self) -> int:
        """m: the pictures that there are, or as many as products of this size need at least."""
        if not self.forgot:
            return self.pictures
        largest = max(-int(self.products.min(initial=0)), int(self.products.max(initial=0)))
        return max(self.pictures, -(-largest // LARGEST**2))

    @property
    def bound(self) -> int:
        """What bounds every product: those of the pictures and, where something forgotten left its scatter, all
        squares together. Both add up when states are merged, so that what is merged keeps the bound."""
        squares = int(wide(self.products[diagonal(self.n_features)]).sum()) if self.forgot else 0
        return LARGEST**2 * self.pictures + squares

    @staticmethod
    def of(arrays: Iterable[NDArray], forgot: bool = False) -> Sums:
        """Of counts, class sums, products and, if they are kept, products of classes."""
        counts, class_sums, products, *own = arrays
        return Sums(counts, class_sums, products, forgot, *own)

    @property
    def arrays(self) -> list[NDArray]:
        own = [] if self.class_products is None else [self.class_products]
        return [self.counts, self.class_sums, self.products, *own]

    def copy(self) -> Sums:
        return Sums.of((array.copy() for array in self.arrays), self.forgot)

    def shared(self) -> Sums:
        """The same arrays, which nobody writes to from now on: whoever adds to them copies them first."""
        for array in self.arrays:
            array.flags.writeable = False
        return Sums.of(self.arrays, self.forgot)

    def placed(self, places: NDArray, classes: int) -> Sums:
        """The same sums for `classes` classes, class c of these at place places[c]; those that come together are
        added, the others have no pictures. The products of all are not copied."""

        apart = len(np.unique(places)) == len(places)

        def moved(rows: NDArray) -> NDArray:
            result = np.zeros((classes, *rows.shape[1:]), rows.dtype)
            if apart:
                result[places] = rows
            else:
                np.add.at(result, places, rows)
            return result

        return self._with_rows(moved)

    def without(self, rows: NDArray | int) -> Sums:
        """Rows that are gone; the products of all are not copied."""
        return self._with_rows(lambda array: np.delete(array, rows, 0))

    def _with_rows(self, change: Callable[[NDArray], NDArray]) -> Sums:
        arrays = (array if array is self.products else change(array) for array in self.arrays)
        return Sums.of(arrays, self.forgot)

    def become(self, other: Sums) -> None:
        vars(self).update(vars(other))

    def check(self) -> None:
        """ValueError for what cannot be sums: wrong types, |s| > 127 n_c, |G| > 127^2 m, G_ii < 0, too many."""
        self.check_types()
        squares, bounds = self.products[diagonal(self.n_features)], LARGEST * self.counts[:, None]
        if (
            (self.class_sums > bounds).any()
            or (self.class_sums < -bounds).any()
            or max(-int(self.products.min(initial=0)), int(self.products.max(initial=0))) > LARGEST**2 * self.extent
            or (squares < 0).any()
        ):
            raise ValueError("These are not sums of images: a sum is larger than its images can make it.")

    def check_types(self) -> None:
        """ValueError for numbers of pictures, types and shapes that do not fit together."""
        length = self.n_features * (self.n_features + 1) // 2
        if self.products.shape != (length,):
            raise ValueError(f"Products of {self.n_features} features must be a triangle, got {self.products.shape}.")
        if self.class_products is not None and self.class_products.shape != (self.classes, length):
            raise ValueError(f"Products of classes must be a triangle each, got {self.class_products.shape}.")
        n, m = self.pictures, self.extent
        if (self.counts < 0).any() or m > MAX_PICTURES:
            raise ValueError(
                f"Sums must have 0 to {MAX_PICTURES} images; got {n} by their counts, {self.counts.min()} in the "
                f"smallest class, and m = {m}."
            )
        dtype = width(m)
        if any(array.dtype != dtype for array in self.arrays[1:]):
            raise ValueError(f"Sums of {m} images must be {dtype}, got {self.class_sums.dtype}, {self.products.dtype}.")


def diagonal(n_features: int) -> Int64:
    """Places of G_ii in the packed triangle."""
    rows = np.arange(n_features, dtype=np.int64)
    return rows * (rows + 3) // 2


def add(sums: Sums, x: NDArray[np.int8], labels: NDArray, sign: int = 1) -> None:
    """Add pictures (sign 1) or take them away (sign -1). ValueError, and nothing changed, for what does not fit."""
    x, labels = checked(sums, x, labels, sign)
    counts = np.zeros(sums.classes, np.int64)
    class_sums = np.zeros((sums.classes, sums.n_features), np.int64)
    np.add.at(counts, labels, 1)
    np.add.at(class_sums, labels, wide(x))
    own = None if sums.class_products is None else np.array([triangle(x[labels == c]) for c in range(sums.classes)])
    _change(sums, Sums(counts, class_sums, triangle(x), class_products=own), sign)


def triangle(x: NDArray[np.int8]) -> Int64:
    """The lower triangle of the sum of x x^T, by rows."""
    n_features = x.shape[1]
    products = np.zeros(n_features * (n_features + 1) // 2, np.int64)
    for start in range(0, len(x), NARROW_PICTURES):  # so many pictures' sums fit int32
        columns = np.ascontiguousarray(x[start : start + NARROW_PICTURES].T.astype(np.int32))
        for i in range(n_features):
            row = slice(i * (i + 1) // 2, (i + 1) * (i + 2) // 2)
            products[row] += columns[: i + 1] @ columns[i]
    return products


def combine(sums: Sums, other: Sums, sign: int = 1) -> None:
    """Add the sums of other pictures over the same classes (sign 1), or take them away (sign -1)."""
    fits(sums, other.n_features, other.counts, sign)
    _change(sums, other, sign)


def forget(sums: Sums, row: int) -> None:
    """Remove a class: n_c, s_c and its products. Where these are not kept, s_c s_c^T / n_c, rounded, goes in their
    place, and its scatter within the class stays.

    No square falls below those of the pictures that stay: a class's own is an integer, at least s_c^2 / n_c. Only what
    version 0.2.0 cut off before lies beyond the bound.
    """
    exact = sums.class_products is not None
    own = sums.class_products[row] if exact else outer(wide(sums.class_sums[row]), int(sums.counts[row]))  # type: ignore[index]
    rest = sums.without(row)
    rest.products, rest.forgot = wide(sums.products) - own, sums.forgot or not exact
    rest.products = rest.products if exact else np.clip(rest.products, -rest.bound, rest.bound)
    sums.become(rest)
    _narrow(sums)


def outer(total: Int64, count: int) -> Int64:
    """s s^T / n, the lower triangle by rows. With s = q n + r, |r| <= n / 2, it is s_i q_j + q_i r_j + r_i r_j / n: the
    first two are integers, the last one, |r_i r_j| < 2^60, is rounded to nearest, ties away from zero."""
    q = divide_each(total, np.int64(count))
    r = total - q * count
    rows = [
        total[i] * q[: i + 1] + q[i] * r[: i + 1] + divide_each(r[i] * r[: i + 1], np.int64(count))
        for i in range(len(total))
    ]
    return np.concatenate(rows)


def checked(sums: Sums, x: NDArray, labels: NDArray, sign: int) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """x and labels as the core takes them; ValueError if they are not what `add` expects."""
    x, labels = np.ascontiguousarray(x), np.asarray(labels)
    if x.dtype != np.int8 or x.ndim != 2 or x.shape[1] != sums.n_features:
        raise ValueError(f"Features must be int8 of shape (n, {sums.n_features}), got {x.dtype} {x.shape}.")
    if len(x) and x.min() < -LARGEST:
        raise ValueError(f"Features must be in [-{LARGEST}, {LARGEST}], got -128.")
    if labels.shape != (len(x),) or labels.dtype.kind not in "iu":
        raise ValueError(f"There must be one class number per image, for {len(x)}, got {labels.dtype} {labels.shape}.")
    if len(x) and not (labels.min() >= 0 and labels.max() < sums.classes):
        raise ValueError(f"Class numbers must be below {sums.classes}, got {labels.min()} to {labels.max()}.")
    counts = np.bincount(labels, minlength=sums.classes).astype(np.int64)
    fits(sums, sums.n_features, counts, sign)
    return x, labels.astype(np.int32)


def fits(sums: Sums, n_features: int, counts: Int64, sign: int) -> None:
    """ValueError unless so many more (fewer) pictures of so many numbers can be in the sums."""
    if sign not in (1, -1):
        raise ValueError(f"sign must be 1 (add) or -1 (subtract), got {sign}.")
    if n_features != sums.n_features or counts.shape != sums.counts.shape:
        raise ValueError(
            f"Sums of {sums.n_features} features and {sums.classes} classes do not fit those of {n_features} features "
            f"and {len(counts)} classes."
        )
    after = sums.counts + sign * counts
    if (after < 0).any():
        raise ValueError(f"Class {int(after.argmin())} has fewer images than are to be removed.")
    if sign > 0 and sums.extent + int(counts.sum()) > MAX_PICTURES:
        raise ValueError(f"Sums hold at most {MAX_PICTURES} pictures, got {sums.extent + int(counts.sum())}.")


def _change(sums: Sums, other: Sums, sign: int) -> None:
    changed = (wide(a) + sign * wide(b) for a, b in zip(sums.arrays, other.arrays, strict=True))
    sums.become(Sums.of(changed, sums.forgot))
    _narrow(sums)


def _narrow(sums: Sums) -> None:
    """Store the sums with the width of their extent."""
    stored = width(sums.extent)
    sums.become(Sums.of([sums.counts, *(narrowed(array, stored) for array in sums.arrays[1:])], sums.forgot))


def narrowed(array: NDArray, stored: np.dtype) -> NDArray:
    """Of another type, unless a number would not fit: then these are not the sums of pictures, which `check` says."""
    fits = array.dtype.itemsize <= stored.itemsize or _within(array, np.iinfo(stored))
    return array.astype(stored) if fits else array


def _within(array: NDArray, bounds: np.iinfo) -> bool:
    return bool(array.min(initial=0) >= bounds.min and array.max(initial=0) <= bounds.max)
