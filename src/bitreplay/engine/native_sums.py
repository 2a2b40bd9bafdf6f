"""Learning by sums with the native core: the functions of sums.py and possible.py, the same bits, faster.
native_discriminant.py has what answers.

    sums = Sums.empty(n_features=512, classes=10)
    add(sums, x, labels)                          x (pictures, 512) int8 in [-127, 127], labels (pictures,) integers
    add(sums, x, labels, sign=-1)                 takes them away
    combine(sums, other); combine(sums, other, sign=-1)
    forget(sums, row)                             a class goes
    possible(sums), has_factor(sums)              whether they can be the sums of pictures
    contain(sums, part, rows, forgot)             whether they can be those of a part and of more

The core works with the instruction set that `native.set_isa` or BITREPLAY_ISA names. Where it is missing, the reference
runs instead, with one warning.
"""

from __future__ import annotations

import ctypes
import warnings
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bitreplay.core.interface import BR_IMPOSSIBLE, BR_OTHER_BASE, br_sums
from bitreplay.engine import native
from bitreplay.engine import possible as reference_possible
from bitreplay.engine import sums as reference
from bitreplay.engine.aligned import aligned_zeros
from bitreplay.engine.sums import Sums, checked, fits, narrowed, width


@cache
def library() -> ctypes.CDLL | None:
    """The core; none, after a warning, if there is none."""
    try:
        return native.library()
    except OSError as error:
        warnings.warn(
            f"the native core cannot learn by sums ({error}); the NumPy reference does it instead: the same results, "
            "ten to a thousand times slower",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


def add(sums: Sums, x: NDArray[np.int8], labels: NDArray, sign: int = 1) -> None:
    """Add pictures (sign 1) or take them away (sign -1). ValueError, and nothing changed, for what does not fit."""
    core = library()
    if core is None:
        return reference.add(sums, x, labels, sign)
    x, labels = checked(sums, x, labels, sign)
    if sums.class_products is not None:  # pictures of one class are added together
        order = np.argsort(labels, kind="stable")
        x, labels = x[order], labels[order]
    _to_width(sums, sums.extent + len(x))
    work = aligned_zeros(core.br_sums_add_bytes(sums.n_features))
    info = info_of(sums)
    done(core.br_sums_add(info, x.ctypes.data, labels.ctypes.data, len(x), sign, work.ctypes.data))
    _to_width(sums, sums.extent)


def combine(sums: Sums, other: Sums, sign: int = 1) -> None:
    """Add the sums of other pictures over the same classes (sign 1), or take them away (sign -1)."""
    core = library()
    if core is None or not sums.classes:  # the core has no sums without a class
        return reference.combine(sums, other, sign)
    fits(sums, other.n_features, other.counts, sign)
    _to_width(sums, sums.extent + max(sign, 0) * other.extent)
    done(core.br_sums_combine(info_of(sums), info_of(other), sign))
    _to_width(sums, sums.extent)


def forget(sums: Sums, row: int) -> None:
    """Remove a class: sums.py."""
    core = library()
    if core is None:
        return reference.forget(sums, row)
    work = aligned_zeros(8 * sums.n_features)
    _to_width(sums, max(sums.extent, core.br_sums_extent_without(info_of(sums), row, work.ctypes.data)))
    done(core.br_sums_forget(info_of(sums), row, work.ctypes.data))
    sums.become(sums.without(row))
    sums.forgot = sums.forgot or sums.class_products is None
    _to_width(sums, sums.extent)


def possible(sums: Sums) -> bool:
    """Whether these can be the sums of pictures: possible.py."""
    core = library()
    if core is None or not sums.classes:
        return reference_possible.possible(sums)
    work = aligned_zeros(8 * sums.n_features)
    return _holds(core.br_sums_possible(info_of(together(sums)), int(sums.forgot), work.ctypes.data))


def contain(sums: Sums, part: Sums, rows: NDArray[np.int32], forgot: bool) -> bool:
    """Whether `sums` can be those of the part's pictures and of more: possible.py."""
    core = library()
    if core is None or not sums.classes or not part.classes:
        return reference_possible.contain(sums, part, rows, forgot)
    work, kept = aligned_zeros(8 * sums.n_features), (together(sums), together(part))
    code = core.br_sums_contain(*map(info_of, kept), rows.ctypes.data, int(forgot), work.ctypes.data)
    return _holds(code, BR_OTHER_BASE)


def has_factor(sums: Sums) -> bool:
    """Whether the scatter of these sums, which are possible, can be that of pictures: possible.py."""
    core = library()
    if not sums.pictures:
        return True
    if core is None:
        return reference_possible.has_factor(sums)
    work = aligned_zeros(core.br_sums_solve_bytes(sums.n_features, sums.classes))
    return _holds(core.br_sums_has_factor(info_of(together(sums)), work.ctypes.data))


def solve_bytes(n_features: int, classes: int) -> int:
    """The memory that a discriminant is made in, besides sums and solution; 0 without the core."""
    core = library()
    return 0 if core is None else int(core.br_sums_solve_bytes(n_features, classes))


def _to_width(sums: Sums, pictures: int) -> None:
    """Store the sums with the width of so many pictures, contiguous and writable, as the core takes them."""
    stored = width(pictures)
    counts = _own(sums.counts, np.dtype(np.int64))
    sums.become(Sums.of([counts, *(_own(array, stored) for array in sums.arrays[1:])], sums.forgot))


def _own(array: NDArray, stored: np.dtype) -> NDArray:
    array = np.ascontiguousarray(array if array.dtype == stored else narrowed(array, stored))
    return array if array.flags.writeable else array.copy()


def info_of(sums: Sums) -> br_sums:
    """As the core takes them; it points into the arrays."""
    assert all(array.flags.c_contiguous for array in sums.arrays)
    places = (array.ctypes.data for array in sums.arrays)
    return br_sums(sums.n_features, sums.classes, 8 * sums.products.dtype.itemsize, *places)


def together(sums: Sums) -> Sums:
    """The same with arrays that lie together; those of a file do, and are not copied."""
    return Sums.of(map(np.ascontiguousarray, sums.arrays), sums.forgot)


def _holds(code: int, otherwise: int = BR_IMPOSSIBLE) -> bool:
    if code not in (0, otherwise):
        done(code)
    return code == 0


def done(failed: int) -> None:
    """ValueError with the core's text if a function failed."""
    if failed:
        raise ValueError(f"learning by sums: {native.library().br_error_text(failed).decode()}")
