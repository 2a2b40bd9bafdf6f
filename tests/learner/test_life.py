"""The life of a learner: learning, forgetting, renaming, failing, saving and loading in any order."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bitreplay import Learner, LearningStopped
from tests import tiny

PER_CLASS = 3
NAMES = ["a", "b", "c", 7, "long " * 10]
PROBE, _ = tiny.pictures(*tiny.COLOURS, each=2, seed=99)


class Life(RuleBasedStateMachine):
    """`seen` is what a diary would say: how many samples of each class were learned and not forgotten with it."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.model = tiny.model(self.folder)
        self.learner = Learner.from_pretrained(
            self.model, learning_rate=0.3, memory_per_class=PER_CLASS, min_steps=2, epochs=1
        )
        self.seen: dict[str | int, int] = {}
        self.saved: tuple[str, dict[str | int, int]] | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=9), seed=st.integers(0, 9))
    def learn(self, names, seed):
        images = np.random.default_rng(seed).integers(0, 256, (len(names), 8, 8, 3), dtype=np.uint8)
        learned = self.learner.learn(images, names)
        assert set(learned.new_classes) == set(names) - set(self.seen)
        for name in names:
            self.seen[name] = self.seen.get(name, 0) + 1
        images[...] = 0

    @rule(wrong=st.integers(0, 6))
    def fail(self, wrong):
        """A call that cannot be done leaves the state and every answer as they were."""
        before = self.learner.state_hash()
        answers = self.learner.predict_proba(PROBE) if self.seen else None
        with pytest.raises((ValueError, LearningStopped)):
            [
                lambda: self.learner.learn(PROBE.astype(float), "a"),
                lambda: self.learner.learn(PROBE, ["a"]),
                lambda: self.learner.learn(PROBE, [float("nan")] * len(PROBE)),
                lambda: self.learner.learn(PROBE[:0], []),
                lambda: self.learner.learn(PROBE, "new", time_limit=0),
                lambda: self.learner.forget("never heard of"),
                lambda: self.learner.rename("never heard of", "x"),
            ][wrong]()
        assert self.learner.state_hash() == self.learner.strategy.state().hash() == before
        assert answers is None or np.array_equal(self.learner.predict_proba(PROBE), answers)

    @precondition(lambda self: self.seen)
    @rule(data=st.data())
    def forget(self, data):
        name = data.draw(st.sampled_from(sorted(self.seen, key=str)))
        self.learner.forget(name)
        del self.seen[name]

    @precondition(lambda self: self.learner.stored())
    @rule(data=st.data())
    def forget_a_sample(self, data):
        stored = data.draw(st.sampled_from(self.learner.stored()))
        if stored.ids:
            number = data.draw(st.sampled_from(sorted(stored.ids)))
            assert self.learner.forget(sample=number) and not self.learner.forget(sample=number)

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), new=st.sampled_from(["d", "e", 8]))
    def rename(self, data, new):
        name = data.draw(st.sampled_from(sorted(self.seen, key=str)))
        if new in self.seen and new != name:
            with pytest.raises(ValueError, match="already"):
                self.learner.rename(name, new)
            return
        self.learner.rename(name, new)
        self.seen[new] = self.seen.pop(name)

    @rule()
    def save_and_load(self):
        self.learner.save(self.folder / "state")
        loaded = Learner.load(self.folder / "state", self.model)
        assert loaded.state_hash() == self.learner.state_hash()
        self.learner = loaded

    @invariant()
    def what_is_known_and_stored_is_what_was_learned(self):
        assert sorted(self.learner.labels, key=str) == sorted(self.seen, key=str)
        kept = {stored.label: stored for stored in self.learner.stored()}
        assert set(kept) <= set(self.seen)
        for name, stored in kept.items():
            assert stored.seen == self.seen[name] and stored.samples <= min(PER_CLASS, stored.seen)
        assert len(tiny.inside(self.learner).memory) == sum(stored.samples for stored in kept.values())
        assert tiny.inside(self.learner).memory.bytes == len(tiny.inside(self.learner).memory) * 2 * 2 * 8
        if self.seen:
            assert set(self.learner.predict(PROBE).tolist()) <= set(self.seen)
            found = self.learner.predict_proba(PROBE)
            assert found.shape == (len(PROBE), len(self.seen)) and np.abs(found.sum(axis=1) - 1).max() < 1e-6


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=25, stateful_step_count=20, deadline=None, derandomize=True)
