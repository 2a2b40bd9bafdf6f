"""Learning by sums on every instruction set equals the reference, in memory that ends at a guard page."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitreplay.core.interface import br_solution, br_sums, br_sums_part
from bitreplay.engine import native, native_sums
from bitreplay.engine.native_discriminant import discriminant_of
from tests.engine.paths.one_record import guarded
from tests.engine.paths.sums_cases import SIZES, Case, case_of, every_size, expected, extremes
from tests.engine.paths.test_random_shapes import PROFILE

BUILT, AVAILABLE = native.built_isas(), native.available_isas()
CASES = {"sizes": every_size, "extremes": extremes}


@pytest.fixture
def set_isa():
    before = native.isa()
    yield native.set_isa
    native.set_isa(before)


def kept(array: np.ndarray) -> np.ndarray:
    """A copy whose last byte is followed by a page that cannot be touched."""
    array = np.ascontiguousarray(array)
    return guarded(array.reshape(-1).view(np.uint8)).view(array.dtype).reshape(array.shape)


def found(case: Case) -> bytes:
    core = native_sums.library()
    assert core is not None
    counts, class_sums, products = (kept(a) for a in (case.start.counts, case.start.class_sums, case.start.products))
    classes, numbers = class_sums.shape
    info = br_sums(
        numbers, classes, 8 * products.dtype.itemsize, *(a.ctypes.data for a in (counts, class_sums, products))
    )
    work = kept(np.full(core.br_sums_add_bytes(numbers), 0xA5, np.uint8))
    x, labels = kept(case.x), kept(case.labels)
    for many, sign in ((len(x), 1), (case.taken, -1)):
        assert core.br_sums_add(info, x.ctypes.data, labels.ctypes.data, many, sign, work.ctypes.data) == 0
    pairs = zip(case.parts, case.lambdas, strict=True)
    parts = kept(np.array([(length, *pair) for length, pair in pairs], np.int64))
    weights, biases = kept(np.full((classes, numbers), 77, np.int32)), kept(np.zeros(classes, np.int64))
    work = kept(np.full(core.br_sums_solve_bytes(numbers, classes), 0xA5, np.uint8))
    solution = br_solution(weights.ctypes.data, biases.ctypes.data)
    first = ctypes.cast(parts.ctypes.data, ctypes.POINTER(br_sums_part))
    assert core.br_sums_solve(info, first, len(parts), work.ctypes.data, ctypes.byref(solution)) == 0
    scores = kept(np.zeros((len(x), classes), np.int64))
    assert core.br_sums_scores(ctypes.byref(solution), x.ctypes.data, len(x), scores.ctypes.data) == 0
    head = struct.pack("<iI", solution.exponent, solution.dropped_features)
    return b"".join(bytes(part) for part in (counts, class_sums, products, weights, biases, head, scores))


@pytest.mark.parametrize("path", BUILT)
@pytest.mark.parametrize("kind", CASES)
def test_every_path_equals_the_reference(kind, path, set_isa, record_property):
    record_property("path", path)
    if path not in AVAILABLE:
        pytest.skip(f"This CPU lacks the instruction set {path}: learning by sums was not tested on it.")
    set_isa(path)
    count = 0
    for case in CASES[kind]():
        assert found(case) == expected(case), (path, case.start.n_features, case.start.classes, len(case.x))
        count += 1
    assert count >= (6 * len(SIZES) if kind == "sizes" else 10)


def test_random_shapes_equal_the_reference(set_isa, record_property):
    """Also equal and constant numbers, which make small pivots."""

    @PROFILE
    @given(st.integers(1, 70), st.integers(1, 20), st.integers(1, 90), st.data())
    def holds(numbers, classes, pictures, data):
        taken = data.draw(st.integers(0, pictures - 1))
        first = data.draw(st.integers(1, numbers))
        parts = [length for length in (first, numbers - first) if length]
        case = case_of(
            numbers, classes, pictures, taken, parts, data.draw(st.booleans()), data.draw(st.integers(0, 99))
        )
        case.x[:, : data.draw(st.integers(0, numbers))] = data.draw(st.integers(-127, 127))
        case.x[:, -1] = case.x[:, 0]
        case.lambdas = [data.draw(st.sampled_from([(1, 1024), (1, 1), (8, 1), (3, 700)])) for _ in parts]
        right = expected(case)
        for path in AVAILABLE:
            set_isa(path)
            assert found(case) == right, path

    for path in AVAILABLE:
        record_property("path", path)
    holds()


@pytest.mark.parametrize("path", BUILT)
def test_the_widest_sums_of_a_block(path, set_isa):
    """131,072 pictures of +-127 one after the other: every int32 sum at its end, and one more picture beyond it."""
    if path not in AVAILABLE:
        pytest.skip(f"This CPU lacks the instruction set {path}.")
    set_isa(path)
    sums = native_sums.Sums.empty(5, 2)
    x = np.full((131072, 5), 127, np.int8)
    x[:, 1] = -127
    native_sums.add(sums, x, np.zeros(131072, np.int32))
    assert sums.products.dtype == np.int32 and set(np.abs(sums.products).tolist()) == {127**2 * 131072}
    native_sums.add(sums, x[:1], np.ones(1, np.int32))
    assert sums.products.dtype == np.int64 and sums.products.min() == -(127**2) * 131073
    native_sums.add(sums, x[:1], np.ones(1, np.int32), sign=-1)
    assert sums.products.dtype == np.int32 and sums.class_sums[0].tolist() == [
        127 * 131072 * s for s in (1, -1, 1, 1, 1)
    ]


def test_the_core_refuses_what_does_not_fit_and_changes_nothing():
    core = native_sums.library()
    assert core is not None
    sums = native_sums.Sums.empty(3, 2)
    info, x = native_sums.info_of(sums), np.zeros((2, 3), np.int8)
    work = native_sums.aligned_zeros(core.br_sums_add_bytes(3))

    def added(pictures: np.ndarray, labels: list[int], sign: int = 1, at: int = 0) -> int:
        numbers = np.array(labels, np.int32)
        where = work.ctypes.data + at
        return int(core.br_sums_add(info, pictures.ctypes.data, numbers.ctypes.data, len(labels), sign, where))

    bad, label, misaligned = 3, 5, 4
    assert added(x, [0, 2]) == label and added(x, [0, -1]) == label
    assert added(x, [0, 1], sign=-1) == bad and added(x, [0, 1], sign=2) == bad
    assert added(np.full((2, 3), -128, np.int8), [0, 1]) == bad
    assert added(x, [0, 1], at=8) == misaligned
    assert not sums.counts.any() and not sums.products.any()
    sums.counts[0] = 131072
    assert added(x, [0, 1]) == bad, "32 bits do not hold so many"
    solution = br_solution(x.ctypes.data, x.ctypes.data)
    work = native_sums.aligned_zeros(core.br_sums_solve_bytes(3, 2))

    def solved(*parts: tuple[int, int, int]) -> int:
        given = (br_sums_part * len(parts))(*(br_sums_part(*part) for part in parts))
        return int(core.br_sums_solve(info, given, len(parts), work.ctypes.data, ctypes.byref(solution)))

    for parts in (
        [(2, 1, 1)],
        [(4, 1, 1)],
        [(3, 0, 1)],
        [(3, 9, 1)],
        [(3, 1, 1025)],
        [(3, 2**31, 2**31)],
        [(0, 1, 1), (3, 1, 1)],
    ):
        assert solved(*parts) == bad, parts
    sums.products[1] = 127**2 * 131072 + 1
    assert solved((3, 1, 1)) == bad
    sums.products[1], sums.class_sums[1, 2] = 0, 1
    assert solved((3, 1, 1)) == bad
    sums.class_sums[1, 2], sums.products[2] = 0, -1
    assert solved((3, 1, 1)) == bad


def test_without_the_core_the_reference_runs(monkeypatch):
    rng = np.random.default_rng(3)
    x, labels = rng.integers(-127, 128, (20, 6)).astype(np.int8), rng.integers(0, 3, 20)

    def learned() -> tuple[list, list]:
        sums, other = native_sums.Sums.empty(6, 3), native_sums.Sums.empty(6, 3)
        native_sums.add(sums, x, labels)
        native_sums.combine(other, sums)
        return other.products.tolist(), discriminant_of(other, [6]).labels(x).tolist()

    def missing() -> None:
        raise OSError("no such file")

    expected_ = learned()
    native_sums.library.cache_clear()
    monkeypatch.setattr(native, "library", missing)
    with pytest.warns(RuntimeWarning, match="cannot learn by sums"):
        assert learned() == expected_
    native_sums.library.cache_clear()
