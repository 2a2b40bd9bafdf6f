"""Real signals while a learner learns: whatever they cut, the state is the one before or the one after it, and no lock
is held.

A timer of the system sends them at random moments, a tenth of them twice within microseconds, so that the second one
comes while the first is dealt with. `make test-interrupts` sends 45,000 during learns of 0.2 ms and 5,000 during those
of 200 ms.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Thread
from types import FrameType
from typing import Any

import numpy as np
import pytest

from bitreplay.learner import Learner
from tests import tiny

MANY, FEW = (int(count) for count in os.environ.get("BITREPLAY_INTERRUPTS", "1000,20").split(","))
DOUBLE = 0.1


@dataclass
class Interrupts:
    """While `open`, SIGALRM raises KeyboardInterrupt, as Ctrl-C does; at other times nothing comes of it."""

    rng: np.random.Generator
    open: bool = False
    sent: int = 0
    doubled: int = 0
    _here: int = field(default=0)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.open:
            self.sent += 1
            self._here += 1
            raise KeyboardInterrupt

    def during(self, act: Callable[[], Any], within: float) -> bool:
        """Whether `act` came to its end."""
        self._here, ended = 0, False
        double = self.rng.random() < DOUBLE
        delay, gap = self.rng.uniform(2e-6, within), self.rng.uniform(2e-6, 6e-5) if double else 0.0
        try:
            try:
                self.open = True
                signal.setitimer(signal.ITIMER_REAL, delay, gap)
                act()
                ended = True
            except KeyboardInterrupt:
                if double:
                    time.sleep(3 * gap)
        except KeyboardInterrupt:
            pass
        self.open = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.doubled += self._here > 1
        return ended


@pytest.fixture
def interrupts(monkeypatch) -> Iterator[Interrupts]:
    """What a signal raises inside a finalizer, Python drops; pytest's hook would itself be cut by the next one."""
    made = Interrupts(np.random.default_rng(27))
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    before = signal.signal(signal.SIGALRM, made)
    yield made
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def on_a_thread(act: Callable[..., Any], *arguments: Any) -> Any:
    """What `act` returns. A lock that is held for ever is found, and not waited for."""
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(act(*arguments)), daemon=True)
    thread.start()
    thread.join(60)
    assert found, "A lock is held that nobody will free."
    return found[0]


def quickest(act: Callable[[], Any], back: Callable[[], Any]) -> float:
    """Seconds that it takes where nothing else is in the way."""
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
        back()
    return min(taken)


def held(learner: Learner) -> bool:
    return learner._published._turn._lock.locked()


def attack(learner: Learner, act: Callable[[], Any], interrupts: Interrupts, signals: int) -> None:
    before = learner.state()
    within = 2 * quickest(act, lambda: learner.restore(before))
    act()
    probe, _ = tiny.pictures("red", "green", each=3, seed=9)
    hashes = {False: before.hash(), True: learner.state_hash()}
    answers = {True: learner.predict_proba(probe).tolist()}
    learner.restore(before)
    answers[False] = learner.predict_proba(probe).tolist()
    sent = ended = 0
    while sent < signals:
        done = interrupts.during(act, within)
        sent, ended = interrupts.sent, ended + done
        assert not held(learner)
        found = learner.state_hash()
        assert found == hashes[True] or (found == hashes[False] and not done)
        new = found == hashes[True]
        assert on_a_thread(learner.predict_proba, probe).tolist() == answers[new]
        on_a_thread(learner.restore, before)
        assert learner.state_hash() == learner.strategy.state().hash() == hashes[False]
    assert interrupts.doubled > signals * DOUBLE / 5
    on_a_thread(act)
    assert learner.state_hash() == hashes[True]
    print(f"{interrupts.sent} signals, {interrupts.doubled} double, {ended} changes that ended first")


def test_short_changes(tiny_model, interrupts):
    learner = Learner.from_pretrained(tiny_model)
    learner.learn(*tiny.pictures("red", "green", each=4))
    images, labels = tiny.pictures("blue", each=2)
    attack(learner, lambda: learner.learn(images, labels), interrupts, MANY)


def test_long_changes(tiny_model, interrupts):
    """Of a strategy whose parts are changed in place: tail, head, memory; the 17th class makes them grow."""
    learner = Learner.from_pretrained(tiny_model, strategy="replay", min_steps=250, memory_per_class=8)
    images, _ = tiny.pictures("red", "green", "blue", "white", each=4)
    learner.learn(images, list(range(16)))
    attack(learner, lambda: learner.learn(images[:3], [16, 1, 2]), interrupts, FEW)


def test_changes_that_grow_the_room(tiny_model, interrupts):
    learner = Learner.from_pretrained(tiny_model, strategy="cwr", min_steps=1, epochs=1)
    images, _ = tiny.pictures("red", "green", "blue", "white", each=4)
    learner.learn(images, list(range(16)))
    attack(learner, lambda: learner.learn(images[:3], [16, 1, 2]), interrupts, max(FEW, 100))


def test_saves(tiny_model, tmp_path, interrupts):
    """A save that was cut after its last step has saved, and the next one knows the file for its own."""
    learner = Learner.from_pretrained(tiny_model)
    path = tmp_path / "state"
    within = 2 * quickest(lambda: learner.save(path), lambda: None)
    images, labels = tiny.pictures("red", "green", each=1)
    for _ in range(max(FEW, 60)):
        on_a_thread(learner.learn, images, labels)
        interrupts.during(lambda: learner.save(path), within)
        assert not held(learner)
        learner.save(path)
        assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()
