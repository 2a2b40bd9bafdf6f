"""The learner in C beside the one in Python: the same numbers, answers, state files and hashes after every change."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner, statefile, zoo
from bitreplay.data.pictures import fitting
from bitreplay.engine import native
from bitreplay.engine.answers import ReferenceDiscriminant
from bitreplay.engine.discriminant import scores
from bitreplay.engine.sums import width
from bitreplay.export import image_of
from bitreplay.learning.classes import usual
from bitreplay.lifecycle.merging import MergedTwice
from bitreplay.parts.state import State
from bitreplay.strategies.exact import Exact, statistics_of
from tests import tiny
from tests.core.c_learner import CLearner, Failed, check, fitted

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=4, seed=3)
PROBE, _ = tiny.pictures(*tiny.COLOURS, each=2, seed=11)
NAMES = [
    "b",
    "a",
    10,
    9,
    "10",
    "it's",
    'say "x"',
    "both ' and \"",
    "\\",
    "a\nb\x7f",
    "käse",
    "梨",
    "\U0001f34e",
    "\xad",
    -3,
]


def both(model, **settings: Any) -> tuple[Learner, CLearner]:
    python = Learner.from_pretrained(model, strategy="exact", **settings)
    return python, CLearner(image_of(python), classes=16)


def same(python: Learner, c: CLearner) -> None:
    assert c.labels == python.labels
    assert c.state_hash() == python.state_hash()
    assert c.to_bytes() == statefile.to_bytes(python._content())


# pictures

SIDES = st.integers(1, 70)


@settings(max_examples=150, deadline=None)
@given(SIDES, SIDES, st.integers(1, 40), st.sampled_from([3, 4]), st.integers(0, 2**31))
def test_pictures_of_any_size_are_fitted_alike(height, width, side, colours, seed):
    picture = np.random.default_rng(seed).integers(0, 256, (height, width + 2, colours), np.uint8)[:, :width]
    assert np.array_equal(fitted(picture, side), fitting.fit_pictures(np.ascontiguousarray(picture[:, :, :3]), side)[0])


def test_the_largest_picture_is_fitted_alike():
    row = np.random.default_rng(0).integers(0, 256, (1, 1 << 14, 3), np.uint8)
    picture = np.repeat(row, 40, axis=0)
    assert np.array_equal(fitted(picture, 32), fitting.fit_pictures(picture, 32)[0])
    with pytest.raises(Failed, match="out of range"):
        fitted(np.zeros((1, (1 << 14) + 1, 3), np.uint8), 8)


@pytest.mark.parametrize("path", native.available_isas())
def test_a_model_of_the_zoo_gives_the_same_features_and_states(path, record_property):
    record_property("path", path)
    before = native.library().br_isa().decode()
    images = np.random.default_rng(1).integers(0, 256, (4, 40, 30, 3), np.uint8)
    try:
        native.set_isa(path)
        python, c = both(zoo.find("react_tiny"))
        assert np.array_equal(np.array([c.extract(image) for image in images]), python.encode(images))
        python.learn(images, [1, 2, 1, 2])
        c.learn(images, [1, 2, 1, 2])
        same(python, c)
        assert c.predict(images) == python.predict(images).tolist()
    finally:
        native.set_isa(before)


# sequences of calls

STEPS = [
    "learn",
    "learn",
    "learn",
    "unlearn",
    "forget",
    "rename",
    "reload",
    "merge",
    "base",
    "merge_since",
    "without",
    "answer",
]
KEPT: list[dict[str, Any]] = [{}, {"digests": True}, {"exact_forget": True}, {"digests": True, "exact_forget": True}]


@pytest.mark.parametrize("extra", KEPT, ids=lambda extra: " and ".join(extra) or "plain")
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_sequence_of_calls_ends_in_the_same_bytes(tiny_model, extra, data):
    """Whatever is done in whatever order, both have the same names, hash and file; what one refuses the other does."""
    python, c = both(tiny_model, **extra)
    learned: list[tuple[int, str | int]] = []
    base = python._content()
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=8)):
        if step == "learn":
            chosen = data.draw(st.lists(st.integers(0, len(POOL) - 1), min_size=1, max_size=6))
            labels = [data.draw(st.sampled_from(NAMES)) for _ in chosen]
            python.learn(POOL[chosen], labels)
            c.learn(POOL[chosen], labels)
            learned += zip(chosen, labels, strict=True)
        elif step == "unlearn" and learned:
            number, label = data.draw(st.sampled_from(learned))
            other = data.draw(st.sampled_from([number, (number + 5) % len(POOL)]))
            refused = _refused(lambda: python.unlearn(POOL[other], [label]))  # noqa: B023
            assert _refused(lambda: c.unlearn([POOL[other]], [label])) == refused  # noqa: B023
            if not refused and (other, label) in learned:
                learned.remove((other, label))
        elif step == "forget":
            label = data.draw(st.sampled_from(NAMES))
            refused = _refused(lambda: python.forget(label))  # noqa: B023
            assert _refused(lambda: c.forget(label)) == refused  # noqa: B023
            learned = learned if refused else [pair for pair in learned if pair[1] != label]
        elif step == "rename":
            old, new = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(NAMES))
            refused = _refused(lambda: python.rename(old, new))  # noqa: B023
            assert _refused(lambda: c.rename(old, new)) == refused  # noqa: B023
            learned = learned if refused else [(n, new if label == old else label) for n, label in learned]
        elif step == "reload":
            other = CLearner(image_of(python))
            other.from_bytes(statefile.to_bytes(python._content()))
            python = Learner._of(statefile.from_bytes(c.to_bytes(), "C's"), tiny_model, "C's")
            c = other
        elif step == "merge":
            other = Learner.from_pretrained(tiny_model, strategy="exact", **extra)
            other.learn(POOL[:3], ["a", 9, "käse"])
            c.merge(statefile.to_bytes(other._content()))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MergedTwice)
                python.merge(other)
        elif step == "base":
            base = python._content()
        elif step == "merge_since":
            began, other = (Learner._of(base, tiny_model, "a copy") for _ in range(2))
            other.learn(POOL[2:5], ["b", 9, "it's"])
            if other.labels[0] != 9 and data.draw(st.booleans()):
                other.forget(other.labels[0])
            state, common = statefile.to_bytes(other._content()), statefile.to_bytes(base)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MergedTwice)
                refused = _refused(lambda: python.merge(other, base=began))  # noqa: B023
            assert _refused(lambda: c.merge(state, common)) == refused  # noqa: B023
        elif step == "without":
            began, gone = (Learner._of(base, tiny_model, "a copy") for _ in range(2))
            gone.learn(POOL[2:5], ["b", 9, "it's"])
            since = data.draw(st.booleans())
            if data.draw(st.booleans()):  # it was merged before
                words: dict[str, Any] = {"base": began} if since else {}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", MergedTwice)
                    if not _refused(lambda: python.merge(gone, **words)):  # noqa: B023
                        c.merge(statefile.to_bytes(gone._content()), statefile.to_bytes(base) if since else None)
                same(python, c)
            state = statefile.to_bytes(gone._content())
            maybe = statefile.to_bytes(base) if since else None
            refused = _refused(lambda: python.merge(without=[gone], base=began if since else None))  # noqa: B023
            assert _refused(lambda: c.merge(state, maybe, "take_out")) == refused  # noqa: B023
        elif step == "answer" and python.labels:
            assert c.predict(PROBE) == python.predict(PROBE).tolist()
            probabilities = np.array([c.answer(image)[2] for image in PROBE]) / 2.0**30
            assert np.array_equal(probabilities, python.predict_proba(PROBE))
        same(python, c)


def _refused(call) -> bool:
    try:
        call()
    except (ValueError, Failed):
        return True
    return False


def test_an_experience_of_more_pictures_than_its_digest_sees_at_once(tiny_model):
    """512 of them; a class that comes later moves the others' rows meanwhile."""
    python, c = both(tiny_model)
    x = np.random.default_rng(0).integers(-127, 128, (1100, python.strategy.latent_shape[0]), np.int8)
    labels = [f"k{9 - min(i // 100, 9)}" for i in range(len(x))]
    python.learn_encoded(x, labels)
    c.learn_features(x, labels)
    same(python, c)


def test_scores_are_those_of_the_law(tiny_model):
    python, c = both(tiny_model)
    python.learn(POOL, COLOURS)
    c.learn(POOL, COLOURS)
    assert isinstance(python.strategy, Exact)
    rule = ReferenceDiscriminant(python.strategy.class_statistics.sums, python.strategy.features.lengths)
    for image in PROBE:
        assert np.array_equal(c.answer(image)[1], scores(rule.solution, python.encode(image))[0])


@pytest.mark.parametrize("pictures", [131_070, 131_071, 131_072, 131_073])
def test_sums_change_their_width_with_the_pictures(tiny_model, pictures):
    """Up to 131,072 pictures' sums are int32, those of more int64; and back again when one is unlearned."""
    python, _ = both(tiny_model)
    x = np.full((2, python.strategy.latent_shape[0]), 127, np.int8)
    x[1, ::2] = -5
    python.learn_encoded(x, ["a", "b"])
    python.restore(_many(python.state(), x[0], pictures - 2))
    image, data = image_of(python), statefile.to_bytes(python._content())
    c, narrow = CLearner(image, wide=1), CLearner(image)
    c.from_bytes(data)
    hashes = [c.state_hash()]
    for label in ("b", "a", "b"):
        python.learn_encoded(x[:1], [label])
        c.learn_features(x[:1], [label])
        same(python, c)
        hashes.append(c.state_hash())
    for label in ("b", "a", "b"):
        assert c.state_hash() == hashes.pop()
        c.unlearn_features(x[0], label)
    assert [c.state_hash()] == hashes
    if pictures <= 131_072:
        narrow.from_bytes(data)
        assert narrow.state_hash() == c.state_hash()
    with pytest.raises(Failed, match="no room"):
        narrow.from_bytes(statefile.to_bytes(python._content()))
        narrow.learn_features(np.repeat(x[:1], 3, axis=0), ["a"] * 3)


def _many(state: State, x: np.ndarray, more: int) -> State:
    """The state with `more` pictures x of its first class."""
    sums = statistics_of(state).sums.copy()
    triangle = np.outer(x.astype(np.int64), x)[np.tril_indices(len(x))]
    counts = sums.counts + [more, 0]
    dtype = width(int(counts.sum()))
    rows = sums.class_sums + np.array([[more], [0]]) * x
    arrays = {
        "counts": counts,
        "class_sums": rows.astype(dtype),
        "products": (sums.products + more * triangle).astype(dtype),
    }
    statistics = replace(statistics_of(state), arrays=arrays)
    return replace(state, parts={**state.parts, "sums": statistics})


def _name(learner: Learner, names: list[str]) -> None:
    """Gives its classes these names, sorted, whatever they are."""
    state = learner.state()
    learner.restore(replace(state, parts={**state.parts, "sums": replace(statistics_of(state), names=tuple(names))}))
    assert learner.labels == names


HALF = re.compile("[\ud800-\udfff]")


def test_names_of_every_kind_of_character_hash_alike(tiny_model):
    """What repr shows and what it escapes: wherever one follows the other in Unicode, and samples between. Halves of
    characters are in states of older versions alone."""
    python = Learner.from_pretrained(tiny_model, strategy="exact")
    starts = [*range(1, 0xDC00, 200), *range(0xDC00, 0x110000, 200)]
    texts = ["".join(map(chr, range(a, b))) for a, b in pairwise([*starts, 0x110000])]
    mixed = [len({c.isprintable() for c in text}) == 2 or number % 100 == 0 for number, text in enumerate(texts)]
    names = sorted({str(usual(text))[:200] for text, chosen in zip(texts, mixed, strict=True) if chosen})
    names = [name for name in names if usual(name) == name]
    valid = [name for name in names if not HALF.search(name)]
    assert len(valid) > 200
    c = CLearner(image_of(python), classes=len(names), name_bytes=800)
    x = np.zeros((len(names), python.strategy.latent_shape[0]), np.int8)
    python.learn_encoded(x[: len(valid)], valid)
    c.learn_features(x[: len(valid)], valid)
    same(python, c)
    python.learn_encoded(x[len(valid) :], [str(number) for number in range(len(valid), len(names))])
    _name(python, names)
    c.from_bytes(statefile.to_bytes(python._content()))
    same(python, c)
    other = CLearner(image_of(python), classes=len(names), name_bytes=800)
    other.from_bytes(c.to_bytes())
    same(python, other)


def test_halves_of_characters_are_found_but_not_given(tiny_model):
    python, c = both(tiny_model)
    python.learn(POOL[:4], ["pear", "plum", "pear", "plum"])
    _name(python, ["pear", "\udcc4pfel"])
    c.from_bytes(statefile.to_bytes(python._content()))
    same(python, c)
    for name in ("\udcc4pfel", "\ud800", "a\udfff"):
        with pytest.raises(Failed, match="out of range"):
            c.rename("pear", name)
        with pytest.raises(Failed, match="out of range"):
            c.learn(POOL[:1], [name])
        check(c.core.br_learner_end(c.learner))  # no picture: no experience
    same(python, c)
    for learner in (python, c):
        learner.rename("\udcc4pfel", "apple")
    same(python, c)
