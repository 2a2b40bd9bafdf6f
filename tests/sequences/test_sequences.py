"""The same random life in Python and in C ends in the same bytes, call after call, or in the same refusal.

1,000 lives in every run. BITREPLAY_SEQUENCES=COUNT and BITREPLAY_FIRST=SEED ask for others: life k has the seed FIRST +
k, so that a long run can be continued, and a failing seed is a test.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.export import image_of
from bitreplay.learning.progress import Watch
from bitreplay.learning.samples import Latents
from bitreplay.statefile import to_bytes
from tests.core.c_learner import CLearner, Failed
from tests.statefile.test_impossible import changed

LIVES = int(os.environ.get("BITREPLAY_SEQUENCES", "1000"))
FIRST = int(os.environ.get("BITREPLAY_FIRST", "0"))
SHARES = 4
KEPT: list[dict[str, Any]] = [{}, {"digests": True}, {"exact_forget": True}, {"digests": True, "exact_forget": True}]
NAMES: list[str | int] = ["a", "b", "ä", 7]


class Life:
    """Two learners, each in Python and in C; `learned` is what the first should know."""

    def __init__(self, seed: int, learners: list[Learner], machines: list[CLearner], empty: bytes) -> None:
        self.random, self.learners, self.machines = random.Random(seed), learners, machines
        for learner, machine in zip(learners, machines, strict=True):
            learner.restore(Learner.from_bytes(empty, learner.model).state())
            machine.from_bytes(empty)
        self.learned: list[tuple[np.ndarray, str | int]] = []
        self.others: list[tuple[np.ndarray, str | int]] = []

    def picture(self) -> np.ndarray:
        size, kind = len(self.learners[0].strategy.features), self.random.randrange(4)  # type: ignore[attr-defined]
        draw = {
            0: lambda: self.random.choice([-127, 127]),
            1: lambda: self.random.randrange(-1, 2),
            2: lambda: 127,
            3: lambda: self.random.randrange(-127, 128),
        }[kind]
        return np.array([[draw() for _ in range(size)]], np.int8)

    def both(self, which: int, ours: Callable[[Learner], Any], theirs: Callable[[CLearner], Any]) -> bool:
        """Whether both did it, and are the same; or both refused and stayed what they were."""
        learner, machine = self.learners[which], self.machines[which]
        before = to_bytes(learner._content())
        done = [_does(lambda: ours(learner)), _does(lambda: theirs(machine))]
        assert done[0] == done[1], "Python did it, C refused" if done[0] else "C did it, Python refused"
        now = to_bytes(learner._content())
        assert machine.to_bytes() == now and (done[0] or now == before)
        return done[0]

    def learn(self, which: int) -> None:
        shown = [(self.picture(), self.random.choice(NAMES)) for _ in range(self.random.randrange(1, 4))]
        x, names = np.concatenate([picture for picture, _ in shown]), [name for _, name in shown]
        assert self.both(which, lambda one: one.learn_encoded(x, names), lambda one: one.learn_features(x, names))
        (self.others if which else self.learned).extend(shown)

    def unlearn(self, x: np.ndarray, name: str | int) -> bool:
        def ours(one: Learner) -> None:
            one._published.change(lambda: one.strategy.unlearn(Latents(x), [name], Watch()))

        return self.both(0, ours, lambda one: one.unlearn_features(x[0], name))

    def unlearn_known(self) -> None:
        if self.learned:
            x, name = self.learned.pop(self.random.randrange(len(self.learned)))
            assert self.unlearn(x, name), "what was learned cannot be unlearned"

    def unlearn_stranger(self) -> None:
        x, name = self.picture(), self.random.choice(NAMES)
        if any(name == other and np.array_equal(x, known) for known, other in self.learned):
            return
        if self.unlearn(x, name):  # the sums could not tell: it comes back
            assert self.both(0, lambda one: one.learn_encoded(x, [name]), lambda one: one.learn_features(x, [name]))

    def forget(self) -> None:
        name = self.random.choice(NAMES)
        known = any(other == name for _, other in self.learned)
        assert self.both(0, lambda one: one.forget(name), lambda one: one.forget(name)) == known
        self.learned = [(x, other) for x, other in self.learned if other != name]

    def rename(self) -> None:
        old, new = self.random.sample(NAMES, 2)
        if self.both(0, lambda one: one.rename(old, new), lambda one: one.rename(old, new)):
            self.learned = [(x, new if name == old else name) for x, name in self.learned]

    def merge(self) -> None:
        other, state = self.learners[1], to_bytes(self.learners[1]._content())
        assert self.both(0, lambda one: one.merge(other), lambda one: one.merge(state))
        if self.random.randrange(3):
            self.learned.extend(self.others)
        else:
            assert self.both(0, lambda one: one.merge(without=[other]), lambda one: one.merge(state, how="take_out"))

    def ask(self) -> None:
        if self.learned:
            x = self.picture()
            assert self.learners[0].predict_encoded(x).tolist() == self.machines[0].predict_features(x)
            assert abs(self.learners[0].predict_proba_encoded(x).sum() - 1) < 1e-6

    def load(self) -> None:
        """Its own bytes, or some that are changed and sealed: the same state, or nowhere."""
        learner = self.learners[0]
        state = to_bytes(learner._content())

        def change(arrays: dict[str, np.ndarray]) -> None:
            array = arrays[self.random.choice([name for name in sorted(arrays) if arrays[name].size])]
            place = self.random.randrange(array.size)
            array.reshape(-1)[place] = self.random.choice([0, 1, -1, 127, int(array.reshape(-1)[place]) + 1]) % 2**31

        given = changed(state, change) if self.learned and self.random.randrange(2) else state

        def ours(one: Learner) -> None:
            one.restore(Learner.from_bytes(given, one.model).state())

        if self.both(0, ours, lambda one: one.from_bytes(given)) and given != state:
            assert self.both(0, lambda one: one.restore(Learner.from_bytes(state, one.model).state()),
                             lambda one: one.from_bytes(state))  # fmt: skip

    def live(self) -> None:
        steps = [lambda: self.learn(0), lambda: self.learn(0), lambda: self.learn(1), self.unlearn_known, self.ask,
                 self.unlearn_stranger, self.forget, self.rename, self.merge, self.load]  # fmt: skip
        for _ in range(self.random.randrange(3, 14)):
            self.random.choice(steps)()
        while self.learned:
            self.unlearn_known()
        assert not self.learners[0].labels


def _does(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (ValueError, Failed):
        return False
    return True


@pytest.mark.parametrize("share", range(SHARES))
def test_a_life_in_python_and_in_c(tiny_model, share):
    learners = [
        Learner.from_pretrained(tiny_model, strategy="exact", feature_layers="head", **KEPT[share]) for _ in range(2)
    ]
    machines = [CLearner(image_of(learners[0])) for _ in range(2)]
    empty = to_bytes(learners[0]._content())
    for seed in range(FIRST + share, FIRST + LIVES, SHARES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                Life(seed, learners, machines, empty).live()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
