import numpy as np

from bitreplay.prediction.probabilities import POINT, probabilities

LOWEST = -(1 << 31)


def test_probabilities_are_a_softmax():
    logits = np.random.default_rng(0).normal(0, 3, (50, 7))
    stored = np.rint(logits * 65536).astype(np.int32)
    expected = np.exp(stored / 65536)
    expected /= expected.sum(axis=1, keepdims=True)
    found = probabilities(stored) / 2**POINT
    assert np.abs(found - expected).max() < 1e-7
    assert np.abs(probabilities(logits.astype(np.float32)) / 2**POINT - expected).max() < 1e-4


def test_classes_that_take_no_part_have_probability_0():
    integers = np.array([[0, 65536, LOWEST]], np.int32)
    floats = np.array([[0.0, 1.0, -np.inf]], np.float32)
    assert probabilities(integers)[0, 2] == 0
    assert np.array_equal(probabilities(integers), probabilities(floats))
    assert abs(int(probabilities(integers).sum()) - 2**POINT) <= 2


def test_equal_logits_share_equally_and_extremes_stay_in_range():
    assert probabilities(np.zeros((1, 4), np.int32)).tolist() == [[2**28] * 4]
    extreme = probabilities(np.array([[2**31 - 1, LOWEST + 1]], np.int32))
    assert extreme.tolist() == [[2**POINT, 0]]
