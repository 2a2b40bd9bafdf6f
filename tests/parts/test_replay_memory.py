"""The replay memory: fair to everything ever seen, balanced by class, bounded, and nobody else's arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.parts.replay_memory import ReplayMemory
from tests.engine.law import method

repeatable = settings(deadline=None, derandomize=True, max_examples=60)
experiences = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=25), min_size=1, max_size=5)


def offer(memory: ReplayMemory, labels: list[int], experience: int = 0) -> None:
    """Samples whose code is (number of arrival, class)."""
    n_features = np.arange(memory.offered, memory.offered + len(labels), dtype=np.uint64)
    latents = np.stack([n_features, np.array(labels, np.uint64)], axis=1)
    memory.update(latents, np.array(labels, np.int32), experience)


def filled(memory_per_class: int, parts: list[list[int]], seed: int = 0) -> ReplayMemory:
    memory = ReplayMemory(memory_per_class, (2,), seed)
    for number, labels in enumerate(parts):
        offer(memory, labels, number)
    return memory


def chi_square(counts: np.ndarray, share: float) -> float:
    """Of sums over runs that each keep a fixed number; about len(counts) - 1 with deviation sqrt(2 (len - 1))."""
    return float(((counts - counts.mean()) ** 2).sum() / (counts.mean() * (1 - share)))


def test_everything_ever_seen_is_kept_with_the_same_probability():
    """60 samples of a class in experiences of 5, 40 and 15, ten slots, 3,000 seeds: each is kept 500 times on average.

    59 degrees of freedom: mean 59, deviation 10.9. Six deviations above are 124.
    """
    kept = np.zeros(60)
    for seed in range(3000):
        kept[filled(10, [[7] * 5, [7] * 40, [7] * 15], seed).latents[:, 0].astype(int)] += 1
    assert kept.sum() == 3000 * 10
    assert chi_square(kept, 10 / 60) < 124


def test_an_experience_s_share_follows_its_size():
    """Ten equal experiences, 30 slots: three of each, on average over 300 seeds within 6 deviations of 0.09."""
    shares = np.zeros(10)
    for seed in range(300):
        shares += np.bincount(filled(30, [[0] * 100] * 10, seed).origins, minlength=10)
    assert np.abs(shares / 300 - 3).max() < 6 * 0.095


@repeatable
@given(experiences, st.integers(0, 6), st.integers(0, 2**64 - 1), st.lists(st.integers(1, 40), max_size=4))
def test_it_holds_and_draws_what_the_law_says(parts, memory_per_class, seed, draws):
    memory, oracle = filled(memory_per_class, parts, seed), method.Reservoir(memory_per_class, seed)
    for labels in parts:
        oracle.update(labels)
    stored = oracle.stored()
    assert list(zip(memory.labels.tolist(), memory.latents[:, 0].tolist(), strict=True)) == stored
    assert memory.seen == oracle.seen
    for count in draws if stored else []:
        latents, labels = memory.sample(count)
        assert list(zip(labels.tolist(), latents[:, 0].tolist(), strict=True)) == [
            stored[i] for i in oracle.sample(count)
        ]


@repeatable
@given(experiences, st.integers(1, 6))
def test_classes_are_balanced_and_the_capacity_is_kept(parts, memory_per_class):
    memory = filled(memory_per_class, parts)
    offered = [label for labels in parts for label in labels]
    assert memory.counts() == {c: min(memory_per_class, offered.count(c)) for c in sorted(set(offered))}
    assert len(memory) == sum(memory.counts().values()) and memory.bytes == 16 * len(memory)
    assert np.array_equal(memory.latents[:, 1], memory.labels.astype(np.uint64)), "a code lies with its own class"
    assert len(set(memory.latents[:, 0].tolist())) == len(memory), "no sample twice"
    origin = [number for number, labels in enumerate(parts) for _ in labels]
    assert memory.origins.tolist() == [origin[int(n)] for n in memory.latents[:, 0]]


@repeatable
@given(experiences, st.integers(1, 6))
def test_how_samples_are_cut_into_experiences_does_not_matter(parts, memory_per_class):
    whole, cut = filled(memory_per_class, [[c for labels in parts for c in labels]]), filled(memory_per_class, parts)
    assert np.array_equal(whole.latents, cut.latents) and np.array_equal(whole.labels, cut.labels)


@repeatable
@given(experiences, st.integers(1, 6), st.integers(1, 40))
def test_it_shares_no_memory_with_the_caller(parts, memory_per_class, count):
    memory = ReplayMemory(memory_per_class, (2,))
    given_away: list[np.ndarray] = []
    for number, labels in enumerate(parts):
        latents = np.array([[number, label] for label in labels], np.uint64)
        n_features = np.array(labels, np.int32)
        memory.update(latents, n_features, number)
        given_away += [latents, n_features]
    before = [array.copy() for array in (memory.latents, memory.labels, memory.origins)]
    given_away += [*memory.sample(count), *memory.sample(count)]
    for array in given_away:
        array[...] = 99
    assert np.array_equal(memory.latents, before[0]) and np.array_equal(memory.labels, before[1])
    assert np.array_equal(memory.origins, before[2])


@pytest.mark.parametrize("count", [1, 2, 8, 9, 50])
def test_a_draw_has_the_size_that_was_asked_for(count):
    """All different while the memory has so many (8), with replacement beyond."""
    memory = filled(4, [[0] * 9, [1] * 9])
    for _ in range(20):
        latents, labels = memory.sample(count)
        assert latents.shape == (count, 2) and labels.shape == (count,) and labels.dtype == np.int32
        assert np.array_equal(latents[:, 1], labels.astype(np.uint64))
        different = len(set(latents[:, 0].tolist()))
        assert different == count if count <= 8 else different <= 8
    assert len(memory) == 8


@pytest.mark.parametrize("count", [3, 30])
def test_draws_are_even(count):
    """20 stored, 6,000 draws: 19 degrees of freedom, mean 19, deviation 6.2. Six deviations above are 56."""
    memory = filled(10, [[0] * 15 + [1] * 15], seed=4)
    places = {int(code): at for at, code in enumerate(memory.latents[:, 0])}
    counts = np.zeros(20)
    for _ in range(6000):
        for code in memory.sample(count)[0][:, 0]:
            counts[places[int(code)]] += 1
    assert counts.sum() == 6000 * count
    assert chi_square(counts, count / 20 if count <= 20 else 1 / 20) < 56


def test_draws_differ_from_one_another_and_repeat_with_the_seed():
    one, same, other = (filled(30, [[0] * 90], seed) for seed in (1, 1, 2))
    drawn = [memory.sample(20)[0].tolist() for memory in (one, same, other, one)]
    assert drawn[0] == drawn[1] != drawn[2] and drawn[0] != drawn[3]


@repeatable
@given(experiences, st.integers(1, 6))
def test_a_function_of_codes_is_asked_once_for_what_gets_a_place(parts, memory_per_class):
    arrays, asking = filled(memory_per_class, parts), ReplayMemory(memory_per_class, (2,))
    for number, labels in enumerate(parts):
        asked: list[list[int]] = []
        first = asking.offered

        def codes_of(chosen, asked=asked, first=first, labels=labels):
            asked.append(chosen.tolist())
            return np.array([[first + n, labels[n]] for n in chosen], np.uint64).reshape(-1, 2)

        asking.update(codes_of, np.array(labels, np.int32), number)
        kept = {n - first for r in asking.reservoirs.values() for n in r.ids.tolist() if n >= first}
        assert len(asked) == 1 and len(asked[0]) == len(kept) and set(asked[0]) == kept
    assert np.array_equal(arrays.latents, asking.latents) and np.array_equal(arrays.origins, asking.origins)


@pytest.mark.parametrize(
    ("latents", "labels", "sentence"),
    [
        (np.zeros((2, 2)), [0, 1], "Latents must be uint64"),
        (np.zeros((2, 3), np.uint64), [0, 1], "Latents must be uint64"),
        (np.zeros((2, 2), np.uint64), [0], "as many labels as latents, got 1 and 2"),
        (np.zeros((2, 2), np.uint64), [0.0, np.nan], "Labels must be class numbers"),
        (np.zeros((2, 2), np.uint64), [0, -1], "Labels must be class numbers"),
        (np.zeros((2, 2), np.uint64), [[0, 1]], "Labels must be class numbers"),
        (lambda chosen: np.zeros((1, 2), np.uint64), [0, 1], "Latents must be uint64"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(latents, labels, sentence):
    memory = filled(4, [[0, 1, 1]])
    before = memory.latents.copy(), memory.offered, memory.seen
    with pytest.raises(ValueError, match=sentence):
        memory.update(latents, np.array(labels), 1)
    assert np.array_equal(memory.latents, before[0]) and (memory.offered, memory.seen) == before[1:]


@pytest.mark.parametrize("memory", [ReplayMemory(3, (2,)), ReplayMemory(0, (2,))])
def test_nothing_can_be_drawn_from_an_empty_memory(memory):
    with pytest.raises(ValueError, match="1 samples cannot be drawn: the memory holds 0"):
        memory.sample(1)
    memory.update(np.zeros((0, 2), np.uint64), np.zeros(0, np.int32), 0)
    assert len(memory) == memory.offered == memory.bytes == 0


@pytest.mark.parametrize("memory_per_class", [-1, 1.5, "x", None])
def test_slots_that_are_no_whole_number_are_refused(memory_per_class):
    with pytest.raises(ValueError, match="memory_per_class must be an integer from 0"):
        ReplayMemory(memory_per_class, (2,))


@pytest.mark.parametrize("count", ["3", 1.5, -1, None])
def test_a_count_that_is_no_whole_number_is_refused(count):
    with pytest.raises(ValueError, match="samples cannot be drawn"):
        filled(2, [[0, 1]]).sample(count)


def test_codes_and_labels_of_another_kind_are_refused_or_understood():
    memory = ReplayMemory(2, (2,))
    with pytest.raises(ValueError, match="Latents must be an array"):
        memory.update([[1, 2]], np.zeros(1, np.int64), 0)  # type: ignore[arg-type]
    memory.update(np.ones((2, 2), np.uint64), [0, 1], 0)
    assert memory.counts() == {0: 1, 1: 1}
