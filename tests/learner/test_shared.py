"""One learner, many threads: each answer is that of a whole state, and learning is not disturbed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.data.groceries import groceries
from bitreplay.engine import machine_pool
from bitreplay.strategies import STRATEGIES
from tests import tiny

FAST: dict[str, Any] = {
    "learning_rate": 0.3,
    "memory_per_class": 4,
    "batch_size": 5,
    "replay_batch_size": 20,
    "epochs": 4,
    "min_steps": 40,
}
GROUPS = [("red", "green"), ("blue",), ("white",), ("red", "blue"), ("green", "white")]
PROBES = [tiny.pictures(*tiny.COLOURS, each=1, seed=seed)[0][: 1 + seed % 3] for seed in range(20)]


def learn(learner: Learner, number: int) -> None:
    learner.learn(*tiny.pictures(*GROUPS[number % len(GROUPS)], each=8, seed=number))


def answers(learner: Learner, probe: int) -> bytes:
    return learner.predict_proba(PROBES[probe]).tobytes()


def undisturbed(model, experiences: int, **settings: Any) -> tuple[list[list[bytes]], str]:
    """The answers to each probe after each experience, and the last state's hash, from one thread alone."""
    learner, found = Learner.from_pretrained(model, **FAST | settings), []
    for number in range(experiences):
        learn(learner, number)
        found.append([answers(learner, probe) for probe in range(len(PROBES))])
    return found, learner.state_hash()


@pytest.mark.parametrize(
    ("strategy", "bits", "predictions"),
    [(strategy, "8/1/16", 300) for strategy in STRATEGIES]
    + [("replay", "8/8/16", 300), pytest.param("replay", "float", 300, marks=pytest.mark.slow)]
    + [pytest.param("replay", "8/1/16", 10_000, marks=pytest.mark.slow)],
)
def test_every_answer_is_that_of_a_whole_state(tiny_model, strategy, bits, predictions):
    """Eight threads ask while another learns ten experiences. An answer is that of a state that was the last whole one
    at some time between the question and the answer."""
    if bits == "float":
        pytest.importorskip("torch")
    expected, last = undisturbed(tiny_model, 10, strategy=strategy, bits=bits)
    learner = Learner.from_pretrained(tiny_model, strategy=strategy, bits=bits, **FAST)
    learn(learner, 0)
    done, seen, wrong = threading.Event(), set[int](), list[tuple[int, ...]]()

    def ask(worker: int) -> None:
        asked = 0
        while asked < predictions // 8 or not done.is_set():
            asked, probe = asked + 1, (worker + 7 * asked) % len(PROBES)
            before = learner.experiences
            answer = answers(learner, probe)
            possible = [n for n in range(before, learner.experiences + 1) if expected[n - 1][probe] == answer]
            seen.update(possible[:1])
            if not possible:
                wrong.append((worker, probe, before, learner.experiences))

    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask, worker) for worker in range(8)]
        try:
            for number in range(1, 10):
                learn(learner, number)
        finally:
            done.set()
        for future in asking:
            future.result()
    assert wrong == [] and len(seen) > 1
    assert learner.state_hash() == learner.strategy.state().hash() == last


def test_a_shipped_model_answers_four_threads_as_it_answers_one():
    learner, data = Learner.from_pretrained("bireal18", epochs=1, min_steps=5), groceries()
    learner.learn(data.train_images[::40], data.train_labels[::40])
    pictures = data.test_images[::11][:32]
    alone = learner.predict_proba(pictures)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(learner.predict_proba, pictures))
    assert np.array_equal(np.concatenate(found), alone)


def test_an_answer_does_not_wait_for_learning_to_end(tiny_model):
    """Asked in the middle of learn: from the state before, and at once, on this thread and on others."""
    learner = Learner.from_pretrained(tiny_model, **FAST)
    learn(learner, 0)
    before, hash_before, found = answers(learner, 3), learner.state_hash(), list[Any]()

    def progress(done) -> None:
        if done.part == "steps" and done.done == 5:
            found.append((answers(learner, 3), learner.state_hash(), learner.experiences, list(learner.labels)))
            with ThreadPoolExecutor(1) as pool:
                found.append(pool.submit(lambda: (answers(learner, 3), learner.state_hash())).result(timeout=60))

    learner.learn(*tiny.pictures("blue", "white"), progress=progress)
    assert found == [(before, hash_before, 1, ["green", "red"]), (before, hash_before)]
    assert learner.state_hash() != hash_before and answers(learner, 3) != before


@pytest.mark.parametrize("change", ["learn", "forget", "rename", "save", "restore"])
def test_a_change_from_inside_a_change_is_refused_and_the_outer_one_too(tiny_model, tmp_path, change):
    learner = Learner.from_pretrained(tiny_model, **FAST)
    learn(learner, 0)
    before, state = learner.state_hash(), learner.state()
    calls: dict[str, Callable[[], object]] = {
        "learn": lambda: learn(learner, 1), "forget": lambda: learner.forget("red"),
        "rename": lambda: learner.rename("red", "rose"), "save": lambda: learner.save(tmp_path / "state"),
        "restore": lambda: learner.restore(state),
    }  # fmt: skip

    def inside(done) -> None:
        calls[change]()

    with pytest.raises(ValueError, match="cannot be changed or saved from inside a change"):
        learner.learn(*tiny.pictures("blue"), progress=inside)
    assert learner.state_hash() == learner.strategy.state().hash() == before
    learn(learner, 1)


def test_changes_of_several_threads_take_turns(tiny_model, tmp_path):
    """Each class is learned by a thread of its own, and saved: all are there in the end, none half."""
    learner = Learner.from_pretrained(tiny_model, **FAST | {"min_steps": 4, "epochs": 1})

    def work(number: int) -> None:
        images, _ = tiny.pictures("red", each=4, seed=number)
        learner.learn(images, f"class {number}")
        learner.save(tmp_path / "state")
        learner.rename(f"class {number}", f"renamed {number}")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(20)))
    assert sorted(map(str, learner.labels)) == sorted(f"renamed {number}" for number in range(20))
    assert learner.experiences == 20 and learner.samples_seen == 80
    learner.save(tmp_path / "state")
    assert Learner.load(tmp_path / "state", tiny_model).state_hash() == learner.state_hash()


def test_at_most_so_many_arenas_are_made_and_they_are_used_again(tiny_model, monkeypatch):
    monkeypatch.setattr(machine_pool, "max_concurrent_runs", lambda: 3)
    learner = Learner.from_pretrained(tiny_model, **FAST)
    learn(learner, 0)
    alone = [answers(learner, probe) for probe in range(len(PROBES))]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda k: answers(learner, k % 20), range(400))) == [alone[k % 20] for k in range(400)]
    tail = tiny.inside(learner).tail
    pools = [tiny.inside(learner).backbone._arenas, getattr(tail, "_arenas")]  # noqa: B009
    assert all(1 <= pool.n_arenas <= 3 for pool in pools)


def test_a_run_that_fails_gives_its_arena_back(tiny_model):
    learner = Learner.from_pretrained(tiny_model, **FAST)
    pool = tiny.inside(learner).backbone._arenas
    for _ in range(2 * machine_pool.MAX_ARENAS):
        place = pool.lend()
        with pytest.raises(ZeroDivisionError), place.lock:
            assert place.machine is not None
            raise ZeroDivisionError
    assert pool.n_arenas == 1
