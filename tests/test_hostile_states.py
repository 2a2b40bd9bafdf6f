"""A state file with a right checksum and wrong content is refused in a sentence, or it is a state that works."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, LearningStopped
from bitreplay.modelfile.container import pack_container, unpack_container
from tests import tiny
from tests.hostile import other_array, places_of

VALUES: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    16,
    1 << 20,
    1 << 31,
    1 << 53,
    1 << 63,
    10**30,
    1.5,
    None,
    True,
    "x",
    "",
    [],
    {},
    "blue",
]


def made(tiny_model, tmp_path_factory, strategy):
    fast = {"rate": 0.3, "per_class": 3, "least_steps": 2, "epochs": 1}
    learner = Learner.from_pretrained(tiny_model, strategy=strategy, **fast)
    learner.learn(*tiny.pictures("red", "green"))
    learner.learn(*tiny.pictures("blue"))
    learner.forget("red")
    path = tmp_path_factory.mktemp("state") / "good"
    learner.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def good(tiny_model, tmp_path_factory):
    return made(tiny_model, tmp_path_factory, "replay")


@pytest.fixture(scope="module")
def exact(tiny_model, tmp_path_factory):
    return made(tiny_model, tmp_path_factory, "exact")


def altered(good: bytes, rng: np.random.Generator) -> bytes:
    """Arrays, or one entry of a text, changed; signed again."""
    arrays, texts = unpack_container(good, "")
    del texts["sha256"]
    for _ in range(rng.integers(1, 4)):
        name = sorted(arrays)[rng.integers(len(arrays))]
        text = ("learned", "model", "settings")[rng.integers(3)]
        if rng.random() < 0.5:
            arrays[name] = other_array(arrays[name], rng) if arrays[name].size else arrays[name][None]
        else:
            found = {"": json.loads(texts[text])}
            holder, key = (places := places_of(found))[rng.integers(len(places))]
            holder[key] = VALUES[rng.integers(len(VALUES))]
            texts[text] = json.dumps(found[""])
    return pack_container(arrays, texts)


def outcome(path, model) -> str:
    images, _ = tiny.pictures("green", "blue", each=2, seed=4)
    try:
        learner = Learner.load(path, model)
    except ValueError as error:
        assert "\n" not in str(error) and str(error).endswith(".") and len(str(error)) < 500, str(error)
        return "refused"
    try:
        learner.learn(images, "green", time_limit=2)
    except LearningStopped:
        return "works"  # it says that an experience takes a million epochs
    assert learner.predict_proba(images).shape == (4, len(learner.labels))
    share = 0.1 if learner.strategy.stores_samples else 0
    assert set(learner.predict(images, unknown=share).tolist()) <= {*learner.labels, None}
    learner.save(path, overwrite=True)
    assert Learner.load(path, model).state_hash() == learner.state_hash()
    return "works"


@pytest.mark.parametrize("runs", [300, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["good", "exact"])
def test_whatever_a_state_says_it_is_refused_or_it_works(kind, tiny_model, tmp_path, runs, request):
    found: Counter[str] = Counter()
    whole = request.getfixturevalue(kind)
    for seed in range(runs):
        path = tmp_path / "altered"
        path.write_bytes(altered(whole, np.random.default_rng(seed)))
        found[outcome(path, tiny_model)] += 1
    assert found["works"] > runs / 20 and found["refused"] > runs / 2


@pytest.mark.parametrize(
    ("array", "place", "value", "sentence"),
    [
        ("head.past", 9, 4, "Its head does not fit its names"),
        ("head.past", 1, 4, "Its head does not fit its names"),
        ("head.past", 0, 2**62, "Its head does not fit its names"),
        ("memory.seen", 0, 2**62, "Its memory's counts do not fit its samples"),
        ("memory.ids", 0, 24, "Its memory holds samples never seen"),
        ("memory.ids", 0, -1, "Its memory holds samples never seen"),
        ("memory.origins", 0, 2, "Its memory holds samples never seen"),
    ],
)
def test_counts_that_contradict_one_another_are_refused(good, tiny_model, tmp_path, array, place, value, sentence):
    arrays, texts = unpack_container(good, "")
    del texts["sha256"]
    arrays[array][place] = value
    (tmp_path / "state").write_bytes(pack_container(arrays, texts))
    with pytest.raises(ValueError, match=sentence):
        Learner.load(tmp_path / "state", tiny_model)


@pytest.mark.parametrize(
    ("array", "place", "value", "sentence"),
    [
        ("sums.counts", 0, 0, "It has a class without pictures"),
        ("sums.counts", 0, -1, "It has a class without pictures"),
        ("sums.counts", 0, 131_073, "is missing or of another kind"),
        ("sums.class_sums", (0, 3), 127 * 8 + 1, "not the sums of pictures"),
        ("sums.products", 0, -1, "not the sums of pictures"),
        ("sums.products", 1, 127**2 * 16 + 1, "not the sums of pictures"),
    ],
)
def test_sums_that_no_pictures_make_are_refused(exact, tiny_model, tmp_path, array, place, value, sentence):
    arrays, texts = unpack_container(exact, "")
    del texts["sha256"]
    arrays[array][place] = value
    (tmp_path / "state").write_bytes(pack_container(arrays, texts))
    with pytest.raises(ValueError, match=sentence):
        Learner.load(tmp_path / "state", tiny_model)


@pytest.mark.parametrize("names", [["green", "blue"], ["blue", None], ["blue"], ["blue", "green", "red"]])
def test_classes_out_of_order_are_refused(exact, tiny_model, tmp_path, names):
    arrays, texts = unpack_container(exact, "")
    del texts["sha256"]
    texts["learned"] = json.dumps(json.loads(texts["learned"]) | {"names": names})
    (tmp_path / "state").write_bytes(pack_container(arrays, texts))
    with pytest.raises(ValueError, match="do not stand in order|do not fit its names"):
        Learner.load(tmp_path / "state", tiny_model)
