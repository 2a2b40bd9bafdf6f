"""A state file with a right checksum and wrong content is refused in a sentence, or it is a state that works."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, LearningStopped
from bitreplay.engine.sums import diagonal
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
    fast: dict[str, Any] = {"learning_rate": 0.3, "memory_per_class": 3, "min_steps": 2, "epochs": 1}
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
    before = learner.state_hash()
    try:
        learner.learn(images, "green", time_limit=2)
    except LearningStopped:
        return "works"  # it says that an experience takes a million epochs
    except ValueError as error:  # a counter that is at its limit: it answers as before, and cannot learn more
        assert str(error).endswith("all that a state can count: begin a new one."), str(error)
        assert learner.state_hash() == before
        return "works"
    assert learner.predict_proba(images).shape == (4, len(learner.labels))
    share = 0.1 if learner.strategy.refuses else 0
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


def with_value(state: bytes, array: str, place: Any, value: int) -> bytes:
    """The state with another number at one place, and a checksum that fits."""
    arrays, texts = unpack_container(state, "")
    del texts["sha256"]
    arrays[array][place] = value
    return pack_container(arrays, texts)


@pytest.mark.parametrize(
    ("array", "place", "value", "sentence"),
    [
        ("head.past", 9, 4, "Its head does not fit its names"),
        ("head.past", 1, 4, "Its head does not fit its names"),
        ("head.past", 0, 2**62, "Its head does not fit its names"),
        ("memory.seen", 0, 2**62, "Its memory's counts do not fit its samples"),
        ("memory.ids", 0, 24, "Its memory holds samples that were never seen"),
        ("memory.ids", 0, -1, "Its memory holds samples that were never seen"),
        ("memory.origins", 0, 2, "Its memory holds samples that were never seen"),
    ],
)
def test_counts_that_contradict_one_another_are_refused(good, tiny_model, tmp_path, array, place, value, sentence):
    (tmp_path / "state").write_bytes(with_value(good, array, place, value))
    with pytest.raises(ValueError, match=sentence):
        Learner.load(tmp_path / "state", tiny_model)


@pytest.mark.parametrize(
    ("array", "place", "value", "sentence"),
    [
        ("sums.counts", 0, 0, "It has a class without pictures"),
        ("sums.counts", 0, -1, "It has a class without pictures"),
        ("sums.counts", 0, 131_073, "is missing or has another type"),
        ("sums.class_sums", (0, 3), 127 * 8 + 1, "not sums of images"),
        ("sums.products", 0, -1, "not sums of images"),
    ],
)
def test_sums_that_no_pictures_make_are_refused(exact, tiny_model, tmp_path, array, place, value, sentence):
    (tmp_path / "state").write_bytes(with_value(exact, array, place, value))
    with pytest.raises(ValueError, match=sentence):
        Learner.load(tmp_path / "state", tiny_model)


def test_products_beyond_all_squares_are_refused(exact, tiny_model, tmp_path):
    """A class was forgotten, so 127^2 n and the squares together bound every product."""
    arrays, _ = unpack_container(exact, "")
    products, pictures = arrays["sums.products"], int(arrays["sums.counts"].sum())
    bound = 127**2 * pictures + int(products[diagonal(arrays["sums.class_sums"].shape[1])].sum())
    for value, fits in ((bound, True), (bound + 1, False), (-bound - 1, False)):
        (tmp_path / "state").write_bytes(with_value(exact, "sums.products", 1, value))
        if fits:
            assert Learner.load(tmp_path / "state", tiny_model).labels
            continue
        with pytest.raises(ValueError, match="not sums of images"):
            Learner.load(tmp_path / "state", tiny_model)


@pytest.mark.parametrize("names", [["green", "blue"], ["blue", None], ["blue"], ["blue", "green", "red"]])
def test_classes_out_of_order_are_refused(exact, tiny_model, tmp_path, names):
    arrays, texts = unpack_container(exact, "")
    del texts["sha256"]
    texts["learned"] = json.dumps(json.loads(texts["learned"]) | {"names": names})
    (tmp_path / "state").write_bytes(pack_container(arrays, texts))
    with pytest.raises(ValueError, match="are not in order|do not fit its names"):
        Learner.load(tmp_path / "state", tiny_model)


def resigned(good, path, change):
    arrays, texts = unpack_container(good, "")
    del texts["sha256"]
    learned = json.loads(texts["learned"])
    change(arrays, learned)
    path.write_bytes(pack_container(arrays, texts | {"learned": json.dumps(learned)}))


@pytest.mark.parametrize(
    ("counter", "last"),
    [("experiences", 2**31 - 1), ("steps", 2**62 - 1), ("offered", 2**62 - 1), ("draws", 2**62 - 1)],
)
def test_a_counter_at_its_end_loads_and_learns_no_more(good, tiny_model, tmp_path, counter, last):
    path = tmp_path / "state"
    resigned(good, path, lambda arrays, learned: learned.update({counter: last}))
    learner = Learner.load(path, tiny_model)
    before = learner.state_hash()
    with pytest.raises(ValueError, match=r"all that a state can count|at its limit.*begin a new state"):
        learner.learn(*tiny.pictures("green", each=2))
    assert learner.state_hash() == before
    learner.rename("green", "lime")
    learner.save(path)
    assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()


def test_the_last_experience_but_one_can_be_saved(good, tiny_model, tmp_path):
    path = tmp_path / "state"
    resigned(good, path, lambda arrays, learned: learned.update(experiences=2**31 - 2))
    learner = Learner.load(path, tiny_model)
    learner.learn(*tiny.pictures("green", each=2))
    learner.save(path)
    assert Learner.load(path, tiny_model).experiences == 2**31 - 1


@pytest.mark.parametrize("array", ["head.past", "memory.seen"])
def test_a_count_at_its_end_learns_no_more(good, tiny_model, tmp_path, array):
    def count(arrays, learned):
        arrays[array][0] = 2**62 - 1

    path = tmp_path / "state"
    resigned(good, path, count)
    learner = Learner.load(path, tiny_model)
    with pytest.raises(ValueError, match="all that a state can count"):
        learner.learn(*tiny.pictures("blue", each=2))


def test_an_experience_counter_of_exact_at_its_end(exact, tiny_model, tmp_path):
    path = tmp_path / "state"
    resigned(exact, path, lambda arrays, learned: learned.update(experiences=2**62 - 1))
    learner = Learner.load(path, tiny_model)
    with pytest.raises(ValueError, match="is at its limit"):
        learner.learn(*tiny.pictures("blue", each=2))


def test_a_small_state_cannot_ask_for_gigabytes(tmp_path):
    """Room for half a million classes takes 4 MB of counts, and would take gigabytes of weights."""
    learner = Learner.from_pretrained("bireal18", strategy="replay")
    learner.save(tmp_path / "state")
    room = 500_000

    def claim(arrays, learned):
        arrays["head.past"] = np.zeros(room, np.int64)
        arrays["head.consolidated_weights"] = np.zeros((room, 0), np.int32)

    resigned((tmp_path / "state").read_bytes(), tmp_path / "large", claim)
    code = (
        "import resource, sys\nfrom bitreplay import Learner, StateFileError\n"
        "Learner.load(sys.argv[1])\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    Learner.load(sys.argv[2])\nexcept StateFileError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "state", tmp_path / "large"]
    sentence, grown = subprocess.check_output(command, text=True).splitlines()
    assert "does not fit its model: its head has another width." in sentence
    assert int(grown) < 64 << 10, f"{grown} KiB"


def test_sentences_about_hostile_texts_are_short(good, tiny_model, tmp_path):
    long, path = "x" * 100_000, tmp_path / "state"

    def retold(**changes):
        arrays, texts = unpack_container(good, "")
        del texts["sha256"]
        path.write_bytes(pack_container(arrays, texts | {k: json.dumps(v) for k, v in changes.items()}))

    arrays, texts = unpack_container(good, "")
    learned, settings = json.loads(texts["learned"]), json.loads(texts["settings"])
    for changes in (
        {"model": {"name": long, "digest": long}},
        {"settings": settings | {long: 1}},
        {"settings": settings | {"level": long}},
        {"settings": settings | {"strategy": long}},
        {"learned": learned | {"names": [10**4000]}},
        {"learned": learned | {"names": [long]}},
        {"learned": learned | {"parts": {long: 1}}},
        {"learned": learned | {"same": {long: long}}},
    ):
        retold(**changes)
        with pytest.raises(ValueError, match="state") as found:
            Learner.load(path, tiny_model)
        assert len(str(found.value)) < 500, str(found.value)[:1000]
