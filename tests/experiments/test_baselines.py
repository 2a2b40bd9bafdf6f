"""Known methods on given vectors: each does what it is known for, on clouds where that decides."""

from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(autouse=True)
def experiments(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def clouds(count=200):
    """Three classes of deviation 2, 16 from the origin along an axis each, of four."""
    rng, labels = np.random.default_rng(0), np.repeat(np.arange(3), count)
    return np.rint(2 * rng.normal(size=(3 * count, 4)) + 16 * np.eye(3, 4)[labels]).astype(np.int8), labels


@pytest.mark.parametrize("method", ["ncm", "slda", "icarl", "joint"])
def test_classes_that_are_apart_are_told_apart(method):
    from baselines import METHODS

    x, labels = clouds()
    answers, _, kept = METHODS[method](x, labels, x)
    assert np.mean(answers == labels) > 0.98
    assert kept == {"ncm": 4 * 12, "slda": 4 * (12 + 16), "icarl": 3 * 30 * 4, "joint": x.size}[method]


def test_a_shared_covariance_undoes_what_two_axes_have_in_common():
    """The second axis says nothing about the class, but how far the first was moved by chance."""
    from baselines import ncm, slda

    x, labels = clouds()
    moved = np.random.default_rng(2).integers(-40, 41, len(x))
    x[:, 0] += moved.astype(np.int8)
    x[:, 3] += moved.astype(np.int8)
    right = [np.mean(method(x, labels, x)[0] == labels) for method in (ncm, slda)]
    assert right[0] < 0.8 and right[1] > 0.95


def test_herding_keeps_the_mean():
    from baselines import herd

    x = np.random.default_rng(1).normal(size=(100, 3))
    chosen, mean = herd(x, 10), x.mean(axis=0)
    assert len(set(chosen.tolist())) == 10
    assert chosen[0] == ((x - mean) ** 2).sum(axis=1).argmin()
    assert np.linalg.norm(x[chosen].mean(axis=0) - mean) < np.linalg.norm(x[:10].mean(axis=0) - mean) / 3
    assert sorted(herd(x[:5], 10)) == [0, 1, 2, 3, 4]
