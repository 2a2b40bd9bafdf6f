"""Not one floating-point operation from a picture's numbers to the answer, in the reference of learning by sums."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay.engine import discriminant
from bitreplay.engine import sums as exact_sums
from bitreplay.engine.arithmetic import fixedpoint
from tests.engine.float_trap import FloatFound, Whole, trap


def learned(x: np.ndarray, labels: np.ndarray) -> tuple[exact_sums.Sums, np.ndarray]:
    sums = exact_sums.Sums.empty(x.shape[1], 4)
    exact_sums.add(sums, x, labels)
    exact_sums.add(sums, x[:3], labels[:3], sign=-1)
    other = sums.copy()
    exact_sums.combine(other, sums)
    exact_sums.combine(other, sums, sign=-1)
    return other, discriminant.answers(discriminant.solve(other, [4, 5]), x)


def test_learning_and_answering_make_no_float():
    rng = np.random.default_rng(1)
    x, labels = rng.integers(-127, 128, (40, 9)).astype(np.int8), rng.integers(0, 3, 40)
    sums, answers = learned(x, labels)
    with trap([exact_sums, discriminant, fixedpoint]):
        found, answered = learned(x.view(Whole), labels.view(Whole))
    assert np.array_equal(found.products, sums.products) and np.array_equal(answered, answers)


def test_the_trap_would_see_one():
    x = np.array([[1, 2], [3, 5]], np.int8)
    sums = exact_sums.Sums.empty(2, 1)
    exact_sums.add(sums, x, np.array([0, 0]))
    with pytest.raises(FloatFound), trap([exact_sums, discriminant]):
        discriminant.solve(sums, [2], lambda *_: (0.5, 1))  # type: ignore[arg-type]
