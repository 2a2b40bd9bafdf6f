"""The method, BNN+LR+CWR*: a frozen binary backbone, 1-bit replay, an integer tail and a CWR* head.

    images -> backbone -> level code -> minibatch of new and replayed codes -> tail: forward, backward, update
                                    \\-> replay memory                          head: consolidated per experience

`Learner._learn` is the whole loop. Pictures of any size come in by door.py; what is learned lies in knowledge.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay import answers, door, novelty, pretrained, statefile, zoo
from bitreplay.backbone import Backbone
from bitreplay.classes import Name, names_of
from bitreplay.engine.counter import key, random_bits
from bitreplay.knowledge import Knowledge
from bitreplay.pretrained import Augment, TailLike
from bitreplay.rates import first_rate, rate_at
from bitreplay.replay import CodesOf, ReplayMemory
from bitreplay.reports import Evaluation, Learned
from bitreplay.settings import Settings
from bitreplay.told import path_of, told
from bitreplay.watch import Progress, Watch
from bitreplay.zoo import Model

SHUFFLE = 0x5EED0003
ENCODED_AT_ONCE = 32


class Learner(Knowledge):
    """A backbone, what is learned (tail, head, memory, names), and the loop. `from_pretrained` builds one."""

    def __init__(
        self, backbone: Backbone, tail: TailLike, memory: ReplayMemory, settings: Settings | None = None,
        augment: Augment | None = None, model: Model | None = None,
    ) -> None:  # fmt: skip
        super().__init__(tail, memory)
        self.backbone, self.settings, self.augment, self.model = backbone, settings or Settings(), augment, model
        self._among_stored = (-1, np.zeros(0, np.int64))
        self._origin = statefile.Origin()

    @classmethod
    def from_pretrained(
        cls, model: str | Path | Model, settings: Settings | None = None, /, **changes: Any
    ) -> Learner:  # fmt: skip
        """A learner that knows nothing yet. `model` is a name (`bitreplay models`) or a file.

        `changes` are fields of Settings, changed in `settings` or in the defaults.
        """
        if settings is not None and not isinstance(settings, Settings):
            raise ValueError(
                f"settings must be Settings, got {told(settings)}; name single ones, such as per_class=30."
            )
        chosen = (settings or Settings()).changed(**changes)
        found = model if isinstance(model, Model) else zoo.find(model)
        return cls(*pretrained.build(found, chosen), model=found)

    # the method

    def learn(
        self, images: Any, labels: Any, *, progress: Callable[[Progress], None] | None = None,
        cancel: Callable[[], bool] | None = None, time_limit: float | None = None,
    ) -> Learned:  # fmt: skip
        """One experience: pictures and their names, new classes or more of known ones. All of it, or nothing."""
        watch = Watch(progress, cancel, time_limit)
        images = door.pictures(images, self.backbone.input_shape[0], watch.fitting)
        names, augment = _names(labels, len(images)), self.augment
        if augment is None:
            return self.learn_codes(self.latent_bits(images, watch), names, watch)
        return self._learn(
            names,
            fresh=lambda chosen: self.backbone.latent_bits(augment(images[chosen], self.tail.steps)),
            plain=lambda chosen: self.backbone.latent_bits(images[chosen]),
            watch=watch,
        )

    def learn_codes(self, codes: NDArray[np.uint64], labels: Any, watch: Watch | None = None) -> Learned:
        """As `learn`, from level codes, which every epoch uses as they are."""
        codes = self._checked(codes)
        return self._learn(_names(labels, len(codes)), codes.__getitem__, codes.__getitem__, watch or Watch())

    def _learn(self, names: list[Name], fresh: CodesOf, plain: CodesOf, watch: Watch) -> Learned:
        """The loop. Of chosen samples `fresh` makes the codes of this step, `plain` those that are stored."""
        with self.all_or_nothing():
            labels, added = self.add_names(names)
            present = self.present(labels)
            self._begin(present)
            epochs = self._epochs(len(names))
            steps = epochs * -(-len(names) // self.settings.new)
            first = self._first_rate(steps)
            minibatches = (chosen for epoch in range(epochs) for chosen in self._minibatches(len(names), epoch))
            for done, chosen in enumerate(minibatches):
                watch.check()
                self.tail.step(*self._join(fresh(chosen), labels[chosen]), rate_at(first, done, steps))
                watch.report("steps", done + 1, steps)
            self._end(present)
            offered = self.memory.offered
            if self.settings.strategy == "replay":
                self.memory.update(plain, labels, self.experiences)
            self.experiences += 1
        return Learned(self.experiences - 1, range(offered, self.memory.offered), added, steps)

    def _begin(self, present: NDArray[np.int64]) -> None:
        """Temporary weights: the consolidated ones of the classes present. Naive goes on with what it has."""
        if self.settings.strategy == "naive":
            self.tail.load_head(self.tail.head_weights, ((present > 0) | (self.head.past > 0)).astype(np.uint8))
        else:
            self.tail.load_head(self.head.begin_experience(present), (present > 0).astype(np.uint8))

    def _end(self, present: NDArray[np.int64]) -> None:
        """Consolidate, and predict with the consolidated weights from now on."""
        if self.settings.strategy == "naive":
            self.head.count(present)
        else:
            self.head.consolidate(self.tail.head_weights, present)
            self.tail.load_head(self.head.consolidated_weights, self.head.seen)

    def _join(self, codes: NDArray[np.uint64], labels: NDArray[np.int32]) -> tuple[NDArray, NDArray[np.int32]]:
        """New samples and, once there are any, replayed ones in their proportion, also in a short minibatch."""
        if len(self.memory) == 0:
            return codes, labels
        count = -(-self.settings.replayed * len(codes) // self.settings.new)
        old_codes, old_labels = self.memory.sample(count)
        return np.concatenate([codes, old_codes]), np.concatenate([labels, old_labels])

    def _epochs(self, samples: int) -> int:
        """A small experience gets as many epochs as make `least_steps` steps."""
        steps = -(-samples // self.settings.new)
        return max(self.settings.epochs, -(-self.settings.least_steps // steps))

    def _first_rate(self, steps: int) -> Fraction:
        given, flips = self.settings.rate, self.settings.learns_binary_weights
        return first_rate(self.settings.strategy, self.tail.feature_power, steps, flips) if given is None else given

    def _minibatches(self, samples: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Sample numbers in a fresh order each epoch; the last minibatch may be short."""
        order_key = key(self.settings.seed, self.experiences << 32 | epoch, SHUFFLE)
        order = np.argsort(random_bits(order_key, np.arange(samples, dtype=np.uint32)), kind="stable")
        for start in range(0, samples, self.settings.new):
            yield order[start : start + self.settings.new]

    # what may be asked

    def latent_bits(self, images: Any, watch: Watch | None = None) -> NDArray[np.uint64]:
        """Level codes of pictures of any size."""
        watch = watch or Watch()
        images = door.pictures(images, self.backbone.input_shape[0], watch.fitting)
        codes = np.empty((len(images), *self.memory.sample_shape), np.uint64)
        for start in range(0, len(images), ENCODED_AT_ONCE):
            watch.check()
            end = min(start + ENCODED_AT_ONCE, len(images))
            codes[start:end] = self.backbone.latent_bits(images[start:end])
            watch.report("pictures", end, len(images))
        return codes

    def predict(self, images: Any, *, unknown: float | Fraction | None = None) -> NDArray:
        """The names of the classes, None where the answer is "unknown".

        `unknown` is the share of the stored samples that may be called so; the setting of that name if not given.
        """
        return self.predict_codes(self.latent_bits(images), unknown=unknown)

    def predict_codes(self, codes: NDArray[np.uint64], *, unknown: float | Fraction | None = None) -> NDArray:
        logits = self._logits(codes)
        numbers = logits.argmax(axis=1)
        share = self.settings.unknown if unknown is None else self.settings.changed(unknown=unknown).unknown
        if share and len(self.memory) > 1:
            numbers = np.where(self._strange(codes, share), -1, numbers)
        return self.classes.named(numbers)

    def predict_proba(self, images: Any) -> NDArray[np.float64]:
        """Probabilities (n, classes), in the order of `labels`."""
        return self.predict_proba_codes(self.latent_bits(images))

    def predict_proba_codes(self, codes: NDArray[np.uint64]) -> NDArray[np.float64]:
        found = answers.probabilities(self._logits(codes))
        return found[:, np.flatnonzero(self.head.seen)] / 2.0**answers.POINT

    def evaluate(self, images: Any, labels: Any) -> Evaluation:
        """Compare predictions with the truth; classes that were never learned count as wrong."""
        return self.evaluate_codes(self.latent_bits(images), labels)

    def evaluate_codes(self, codes: NDArray[np.uint64], labels: Any) -> Evaluation:
        return Evaluation.of(self.predict_codes(codes).tolist(), _names(labels, len(codes)), self.labels)

    def _logits(self, codes: NDArray[np.uint64]) -> NDArray:
        if not self.labels:
            raise ValueError("Nothing has been learned yet: call learn first.")
        return self.tail.logits(self._checked(codes))

    def _checked(self, codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        fits = isinstance(codes, np.ndarray) and codes.dtype == np.uint64 and codes.ndim == 4 and len(codes) > 0
        if not fits or codes.shape[1:] != self.memory.sample_shape:
            found = f"{codes.dtype} {codes.shape}" if isinstance(codes, np.ndarray) else type(codes).__name__
            raise ValueError(f"Codes must be uint64 of shape (n, *{self.memory.sample_shape}), got {found}.")
        return codes

    def _strange(self, codes: NDArray[np.uint64], share: Fraction) -> NDArray[np.bool_]:
        """Whether codes are further from the stored ones than those are from one another, but for a share of them."""
        stored, planes = [kept.codes for kept in self.memory.kept.values()], self.settings.code_bits
        if self._among_stored[0] != self.changes:
            self._among_stored = (self.changes, novelty.stored_distances(stored, planes))
        return novelty.nearest(codes, stored, planes) > novelty.limit(self._among_stored[1], share)

    # what is kept

    def forget(self, label: Name | None = None, *, sample: int | None = None) -> bool:
        """As Knowledge.forget; the next `save` rewrites every generation of the file.

        Also for a sample that is stored no more: the generation before may hold it.
        """
        found = super().forget(label, sample=sample)
        if found or (sample is not None and 0 <= sample < self.memory.offered):
            self._origin = self._origin.without_past()
        return found

    def save(self, path: str | Path, *, lock: statefile.Lock | None = None, overwrite: bool = False) -> None:
        """Write the whole state; power may fail at any moment. The state before is kept for `rollback`."""
        if self.model is None:
            raise ValueError("This learner was not made from a model file, so its state cannot be saved.")
        place = path_of(path, "The state")
        content = statefile.Content(self.model.name, self.model.digest, self.settings, self.state())
        self._origin = statefile.save(place, content, self._origin, lock, overwrite)

    @classmethod
    def load(cls, path: str | Path, model: str | Path | Model | None = None) -> Learner:
        """A learner as it was saved. `model` is needed only if the state's own is not among those shipped."""
        content, origin = statefile.load(path_of(path, "The state"))
        learner = cls._of(content, model, path)
        learner._origin = origin
        return learner

    @classmethod
    def rollback(
        cls, path: str | Path, model: str | Path | Model | None = None, *, lock: statefile.Lock | None = None
    ) -> Learner:
        """Put the generation before the last save in its place, if it can be used, and load it."""
        statefile.rollback(path_of(path, "The state"), lock, check=lambda content: cls._of(content, model, path))
        return cls.load(path, model)

    @classmethod
    def _of(cls, content: statefile.Content, model: str | Path | Model | None, path: str | Path) -> Learner:
        found = pretrained.model_of(content, model, path)
        learner = cls(*pretrained.build(found, content.settings, content.state.capacity), model=found)
        pretrained.check_fit(content.state, learner.tail, learner.memory, path)
        learner.restore(content.state)
        return learner


def _names(labels: Any, count: int) -> list[Name]:
    """One name for each sample; a single name stands for all of them."""
    names = names_of(labels)
    names = names * count if isinstance(labels, str | int | np.generic) else names
    if len(names) != count:
        raise ValueError(f"There must be as many labels as pictures, got {len(names)} and {count}.")
    if not names:
        raise ValueError("An experience needs at least one picture.")
    return names
