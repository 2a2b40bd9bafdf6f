"""The answer "unknown" of the learner in C: the rule, the integers and the settings of Python's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, statefile, zoo
from bitreplay.engine.ood import CURVE
from bitreplay.export import image_of
from tests import tiny
from tests.core.c_learner import CLearner, Failed

SHARES = [0.001, 0.01, 0.05, 0.1, 0.3, 0.9]


def as_share(share: float | Fraction) -> int:
    """16 bits behind the point, above 0 if the share is."""
    return max(1, int(Fraction(str(share)) * (1 << 16) + Fraction(1, 2)))


def around(
    count: int, seed: int, classes: int = 3, n_features: int = 24, spread: int = 12
) -> tuple[np.ndarray, list[str]]:
    random = np.random.default_rng(seed)
    middles = np.random.default_rng(0).integers(-60, 61, (classes, n_features))
    labels = random.integers(0, classes, count)
    x = np.clip(middles[labels] + random.normal(0, spread, (count, n_features)), -127, 127).astype(np.int8)
    return x, [f"k{label}" for label in labels]


def features_to_classify(n_features: int) -> np.ndarray:
    """Known pictures, some halfway between two, others anywhere, and the corners."""
    known, _ = around(12, 5, n_features=n_features)
    anywhere = np.random.default_rng(6).integers(-127, 128, (6, n_features), np.int8)
    corners = np.stack([np.full(n_features, value, np.int8) for value in (-127, 0, 127)])
    return np.concatenate([known, (known[:6] // 2 + known[6:] // 2).astype(np.int8), anywhere, corners])


def both_learners(tiny_model, factor: int) -> tuple[Learner, CLearner, int]:
    python = Learner.from_pretrained(tiny_model, strategy="exact")
    return python, CLearner(image_of(python), factor=factor), python.strategy.latent_shape[0]


def same_answers(python: Learner, c: CLearner, x: np.ndarray) -> int:
    """How many were refused in all."""
    refused = 0
    assert c.predict_features(x) == python.predict_encoded(x).tolist()
    for share in SHARES:
        right = python.predict_encoded(x, unknown=share).tolist()
        assert c.predict_features(x, as_share(share)) == right
        refused += right.count(None)
    return refused


@pytest.mark.parametrize("factor", [0, 1])
def test_the_same_pictures_are_unknown_along_a_sequence(tiny_model, factor):
    """Kept or made anew for each question; after each change; with one picture and with few."""
    python, c, n_features = both_learners(tiny_model, factor)
    x, labels = around(40, 1, n_features=n_features)
    pool = features_to_classify(n_features)
    refused = []
    for part in (slice(0, 1), slice(1, 3), slice(3, 40)):
        python.learn_encoded(x[part], labels[part])
        c.learn_features(x[part], labels[part])
        refused.append(same_answers(python, c, pool))
    python, _, _ = both_learners(tiny_model, factor)
    python.learn_encoded(np.delete(x, 7, axis=0), labels[:7] + labels[8:])
    c.unlearn_features(x[7], labels[7])
    refused.append(same_answers(python, c, pool))
    python.forget("k1")
    c.forget("k1")
    refused.append(same_answers(python, c, pool))
    python.rename("k0", "z")
    c.rename("k0", "z")
    refused.append(same_answers(python, c, pool))
    assert 0 < refused[2] < len(pool) * len(SHARES)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 6), st.integers(0, 60), st.integers(0, 2**31), st.sampled_from([0, 1]),
    st.fractions(Fraction(1, 1000), Fraction(99, 100), max_denominator=1000),
)  # fmt: skip
def test_the_same_pictures_are_unknown_at_any_share(tiny_model, count, classes, spread, seed, factor, share):
    python, c, n_features = both_learners(tiny_model, factor)
    x, labels = around(count, seed, classes, n_features, spread)
    python.learn_encoded(x, labels)
    c.learn_features(x, labels)
    pool = features_to_classify(n_features)
    assert c.predict_features(pool, as_share(share)) == python.predict_encoded(pool, unknown=share).tolist()


def test_every_corner_of_the_curve_is_the_references(tiny_model):
    """Where a share passes from one line of the curve to the next, one unit of it below and above."""
    python, c, n_features = both_learners(tiny_model, 1)
    x, labels = around(60, 2, n_features=n_features)
    python.learn_encoded(x, labels)
    c.learn_features(x, labels)
    pool = features_to_classify(n_features)
    for percent, _ in CURVE:
        middle = as_share(Fraction(percent, 100))
        for share in (middle - 1, middle, middle + 1):
            right = python.predict_encoded(pool, unknown=Fraction(share, 1 << 16)).tolist()
            assert c.predict_features(pool, share) == right


def test_a_model_of_the_zoo_refuses_the_same_photographs():
    python = Learner.from_pretrained(zoo.find("react_tiny"), strategy="exact", feature_layers="head", unknown="1/20")
    c, with_factor = CLearner(image_of(python)), CLearner(image_of(python), factor=1)
    images, labels = tiny.pictures(*tiny.COLOURS, each=6, seed=4)
    noise = np.random.default_rng(3).integers(0, 256, (4, *images.shape[1:]), np.uint8)
    for learner in (python, c, with_factor):
        learner.learn(images, labels)
    x = python.encode(np.concatenate([images[:4], noise]))
    right = python.predict_encoded(x).tolist()  # with the state's setting
    assert None in right[4:] and c.share() == as_share(0.05)
    assert c.predict_features(x, c.share()) == with_factor.predict_features(x, with_factor.share()) == right
    # The network's arena has been written over by the factor in between.
    assert np.array_equal(c.extract(images[0]), x[0]) and np.array_equal(with_factor.extract(images[0]), x[0])
    assert with_factor.memory.total - c.memory.total >= 2 * 128 * 129


@pytest.mark.parametrize(
    ("text", "share"), [("0", 0), ("1/20", 3277), ("1/1000000", 1), ("999999/1000000", 65536), ("1/3", 21845)]
)
def test_the_setting_of_a_state_is_read(tiny_model, text, share):
    python = Learner.from_pretrained(tiny_model, strategy="exact", unknown=text)
    plain = Learner.from_pretrained(tiny_model, strategy="exact")
    c = CLearner(image_of(plain))
    assert c.share() == 0
    c.from_bytes(statefile.to_bytes(python._content()))
    assert c.share() == share


def test_what_is_no_share_is_refused(tiny_model):
    _, c, n_features = both_learners(tiny_model, 0)
    x, labels = around(9, 0, n_features=n_features)
    c.learn_features(x, labels)
    with pytest.raises(Failed, match="argument"):
        c.predict_features(x, (1 << 16) + 1)
