"""A state file with a right checksum and wrong content is refused in a sentence, or it is a state that works."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, LearningStopped
from bitreplay.engine.sums import diagonal
from tests import tiny
from tests.hostile import other_array
from tests.statefile.edited import PARTS, edited, opened, sealed

VALUES: list[Any] = [
    np.int64(0), np.uint64(1 << 63), np.int64(-1), np.zeros(3, np.int64), np.zeros((0, 4), np.uint8), True, False, "x",
    "", "8/1/32", "exact", "0" * 64, Fraction(1, 3), Fraction(-2), Fraction(1, 1 << 40), (), ("blue",), (None, 3),
]  # fmt: skip


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
    """Arrays, or another section, changed; signed again."""
    found = opened(good)
    parts = [name for name in found if name.startswith(PARTS)]
    for _ in range(rng.integers(1, 4)):
        chosen = parts if rng.random() < 0.5 else sorted(set(found) - set(parts))
        name = chosen[rng.integers(len(chosen))]
        if name in parts:
            array = found[name]
            found[name] = other_array(array, rng) if array.size else array[None]
        else:
            found[name] = other_value(found[name], rng)
    return sealed(found)


def other_value(value: Any, rng: np.random.Generator) -> Any:
    """Often one of the same type, so that more than the first check is met."""
    number = [0, 1, -1, 2, 3, 16, 1 << 20, 1 << 31, 1 << 53, (1 << 62) - 1, 1 << 62][rng.integers(11)]
    if rng.random() < 0.7 and isinstance(value, np.ndarray) and not value.ndim:
        return np.array(abs(number) if value.dtype == np.uint64 else number, value.dtype)
    if rng.random() < 0.7 and isinstance(value, tuple) and value:  # an earlier change may have left no name
        names = list(value)
        names[rng.integers(len(names))] = [None, "blue", 7, "x" * 200, -(1 << 53) + 1][rng.integers(5)]
        return tuple(names)
    return VALUES[rng.integers(len(VALUES))]


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
        assert re.search(r"all that a state can count: begin a new one|at its limit .*: begin a new state", str(error))
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

    def change(arrays: Any, learned: Any, others: Any) -> None:
        arrays[array][place] = value

    return edited(state, change)


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
    products, counts, rows = (opened(exact)[f"{PARTS}sums.{name}"] for name in ("products", "counts", "class_sums"))
    bound = 127**2 * int(counts.sum()) + int(products[diagonal(rows.shape[1])].sum())
    for value, fits in ((bound, True), (bound + 1, False), (-bound - 1, False)):
        (tmp_path / "state").write_bytes(with_value(exact, "sums.products", 1, value))
        if fits:
            assert Learner.load(tmp_path / "state", tiny_model).labels
            continue
        with pytest.raises(ValueError, match="not sums of images"):
            Learner.load(tmp_path / "state", tiny_model)


@pytest.mark.parametrize("names", [["green", "blue"], ["blue", None], ["blue"], ["blue", "green", "red"]])
def test_classes_out_of_order_are_refused(exact, tiny_model, tmp_path, names):
    (tmp_path / "state").write_bytes(edited(exact, lambda arrays, learned, others: learned.update(names=names)))
    with pytest.raises(ValueError, match="are not in order|do not fit its names"):
        Learner.load(tmp_path / "state", tiny_model)


def resigned(good, path, change):
    path.write_bytes(edited(good, lambda arrays, learned, others: change(arrays, learned)))


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

    for name, value in (
        ("model/digest", long),
        ("settings/" + long[:200], "1"),
        ("settings/replay_layer", long),
        ("settings/strategy", long),
        ("learned/counters/" + long[:200], np.int64(1)),
        ("versions/" + long[:200], np.int64(1)),
        (long[:255], np.int64(1)),
    ):
        path.write_bytes(sealed(opened(good) | {name: value}))
        with pytest.raises(ValueError, match="state") as found:
            Learner.load(path, tiny_model)
        assert len(str(found.value)) < 500, str(found.value)[:1000]
