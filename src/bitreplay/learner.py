"""A learner: pictures come in by fitting.py, a strategy (strategies/) learns them, an immutable predictor answers.

    learn, unlearn, merge, forget,
    rename, restore                   changes: they take turns, and each is done whole or not at all
    predict, evaluate, state, labels  come from the last whole state, on any number of threads, and wait for nobody

The method itself, the loop over minibatches, is in strategies/gradient.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay import statefile, zoo
from bitreplay.arguments import short_repr, whole_number
from bitreplay.data.pictures import fitting
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.learning.classes import Classes, Name, labels_of
from bitreplay.learning.progress import Progress, Watch
from bitreplay.learning.reports import Learned, Stored
from bitreplay.learning.samples import Latents, Pictures, Samples, encoded
from bitreplay.lifecycle import assembly, merging, saving
from bitreplay.lifecycle.published import Published, removes, removes_nothing
from bitreplay.parts.state import State
from bitreplay.prediction.confusions import MAX_PAIRS, Pair
from bitreplay.prediction.discriminant_predictor import DiscriminantPredictor
from bitreplay.prediction.predictor import Predictor
from bitreplay.settings import Settings
from bitreplay.strategies import Strategy
from bitreplay.zoo import Model


class Learner:
    """A strategy and what it has learned, and the doors. `from_pretrained` makes one.

    >>> pictures = np.repeat(np.uint8([0, 255]), 8)[:, None, None, None] * np.ones((32, 32, 3), np.uint8)
    >>> learner = Learner.from_pretrained("bireal18", strategy="replay")
    >>> learner.learn(pictures, ["black"] * 8 + ["white"] * 8).steps
    40
    >>> learner.evaluate(pictures, ["black"] * 8 + ["white"] * 8).accuracy
    1.0
    """

    def __init__(self, strategy: Strategy, model: Model | None = None) -> None:
        self.strategy, self.settings, self.model = strategy, strategy.settings, model
        self._published = Published(strategy)

    @classmethod
    def from_pretrained(
        cls, model: str | Path | Model, settings: Settings | None = None, /, **changes: Any
    ) -> Learner:  # fmt: skip
        """A learner that knows nothing yet. `model` is a name (`bitreplay models`) or a file.

        `changes` are fields of Settings, changed in `settings` or in the defaults, such as numbers=128.
        """
        if settings is not None and not isinstance(settings, Settings):
            raise ValueError(
                f"settings must be Settings, got {short_repr(settings)}; name single ones, such as per_class=30."
            )
        chosen = Settings.of(**changes) if settings is None else settings.changed(**changes)
        found = model if isinstance(model, Model) else zoo.find(model)
        return cls(assembly.build(found, chosen), found)

    def __repr__(self) -> str:
        model = "no model file" if self.model is None else self.model.name
        at = f" at size {self.settings.size}" if self.settings.size else ""
        state, kind = self._published.snapshot.state, type(self.strategy)
        return (
            f"<Learner {model}{at}, {kind.name}: {len(self.labels)} classes, {kind.pictures(state)} pictures learned, "
            f"{state.bytes} bytes>"
        )

    # what changes

    def learn(
        self, images: Any, labels: Any, *, progress: Callable[[Progress], None] | None = None,
        cancel: Callable[[], bool] | None = None, time_limit: float | None = None,
    ) -> Learned:  # fmt: skip
        """One experience: pictures and their names, new classes or more of known ones. All of it, or nothing.

        `images` are uint8 (n, height, width, 3) of any size, or arrays, paths, Pillow images or tensors one after the
        other; `labels` are text or whole numbers, one for each, or one for all. A folder of class folders is
        `learn(*bitreplay.labelled(folder))`. `progress` hears what is done. If `cancel` returns True, or after
        `time_limit` seconds, LearningStopped is raised, and nothing has changed.
        """
        watch = Watch(progress, cancel, time_limit)
        pictures = fitting.fit_pictures(images, self.strategy.side, watch.fitting)
        return self._learn(Pictures(pictures, self.strategy.encode), labels, watch)

    def learn_encoded(self, latents: NDArray, labels: Any, watch: Watch | None = None) -> Learned:
        """As `learn`, from latents (`latents`), which every epoch uses as they are."""
        return self._learn(self._latents(latents), labels, watch or Watch())

    def _learn(self, samples: Samples, labels: Any, watch: Watch) -> Learned:
        names = labels_of(labels, len(samples))

        def act() -> Learned:
            self._published.snapshot.state.need_room_to_count()
            known = Classes(self._published.snapshot.state.names)
            return self.strategy.learn(samples, known.spelled(names), watch)

        return self._published.change(act)

    def forget(self, label: Name | None = None, *, sample: int | None = None) -> bool:
        """Remove a class, or one stored sample by its number; the next `save` rewrites every generation of the file.

        What weights have learned from it stays. Returns whether it was stored; a label must be known. A sample that is
        stored no more is taken out of the generation before too.
        """
        if (label is None) == (sample is None):
            raise ValueError("Forget either a label or a sample.")
        number = None if sample is None else whole_number(sample)
        if sample is not None and number is None:
            raise ValueError(f"A sample is named by its whole number, got {short_repr(sample)}.")

        def act() -> bool:
            if number is not None:
                return self.strategy.forget_sample(number)
            assert label is not None
            self.strategy.forget(label)
            return True

        def was_seen(stored: bool) -> bool:
            return stored or (number is not None and 0 <= number < self.samples_seen)

        return self._published.change(act, was_seen)

    def unlearn(
        self, images: Any, labels: Any, *, progress: Callable[[Progress], None] | None = None,
        cancel: Callable[[], bool] | None = None, time_limit: float | None = None, final: bool = True,
    ) -> None:  # fmt: skip
        """Become the learner that never saw these pictures, bit for bit (exact alone); the next `save` rewrites every
        generation of the file, or, if it is not `final`, keeps the one before for `rollback`. All of it, or nothing.

        What was never learned is refused with the setting `digests`; without it, only what the sums prove impossible.
        """
        watch = Watch(progress, cancel, time_limit)
        pictures = fitting.fit_pictures(images, self.strategy.side, watch.fitting)
        names = labels_of(labels, len(pictures))
        samples = Pictures(pictures, self.strategy.encode)
        removing = removes if final else removes_nothing
        self._published.change(lambda: self.strategy.unlearn(samples, names, watch), removing)

    def merge(
        self, *others: Learner, base: Learner | None = None, rename: Mapping[Name, Name] | None = None,
        without: Sequence[Learner] = (),
    ) -> None:  # fmt: skip
        """Become the learner that saw what all of them saw (exact alone). All of it, or nothing.

        With `base`, which all of them began as, what it saw counts once. `rename` gives classes other names, those of
        one name become one. A MergedTwice warning says if pictures are added twice. `without` are learners that were
        merged into these before and shall be in them no more; the next `save` rewrites every generation then.
        """
        for other in (*others, *without, *(() if base is None else (base,))):
            if not isinstance(other, Learner):
                raise ValueError(f"A learner is merged with learners, got {short_repr(other)}.")

        def act() -> None:
            first = None if base is None else base._content()
            contents, removed = ([one._content() for one in learners] for learners in (others, without))
            self.strategy.load_state(merging.merged(self._content(), contents, first, rename, removed).state)

        self._published.change(act, removes if without else removes_nothing)

    def rename(self, old: Name, new: Name) -> None:
        self._published.change(lambda: self.strategy.rename(old, new))

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self._published.change(lambda: self.strategy.load_state(state))

    # what may be asked

    @property
    def labels(self) -> list[Name]:
        """The classes that can be answered."""
        return list(self._published.snapshot.predictor.labels)

    @property
    def experiences(self) -> int:
        """How many were learned."""
        state = self._published.snapshot.state
        return (dict(state.notes) | dict(state.own)).get("experiences", 0)

    @property
    def samples_seen(self) -> int:
        """How many samples were given a number, for `forget`."""
        return self.strategy.samples_seen(self._published.snapshot.state)

    @property
    def memory_bytes(self) -> int:
        """Bytes that grow with what was seen: those of stored samples."""
        return self.strategy.memory_bytes(self._published.snapshot.state)

    def stored(self) -> list[Stored]:
        """What is kept of each class."""
        return self.strategy.stored(self._published.snapshot.state)

    def state(self) -> State:
        """All that was learned, by value."""
        return self._published.snapshot.state

    def state_hash(self) -> str:
        """sha256 of everything that learning changes."""
        return self._published.snapshot.state.hash()

    def encode(self, images: Any) -> NDArray:
        """Codes of pictures of any size: the numbers of a picture that this strategy learns from."""
        return encoded(fitting.fit_pictures(images, self.strategy.side), self.strategy.encode, Watch())

    def predict(self, images: Any, *, unknown: float | Fraction | None = None) -> NDArray:
        """The names of the classes, None where the answer is "unknown".

        `unknown` is the share of known pictures that may be called so (by exact; by replay, of the stored samples); the
        setting of that name if not given.
        """
        return self.predict_encoded(self.encode(images), unknown=unknown)

    def predict_encoded(self, latents: NDArray, *, unknown: float | Fraction | None = None) -> NDArray:
        share = self.settings.unknown if unknown is None else self.settings.changed(unknown=unknown).unknown
        return self._answering(latents).names(latents, share)

    def predict_proba(self, images: Any) -> NDArray[np.float64]:
        """Probabilities (n, classes), in the order of `labels`."""
        return self.predict_proba_encoded(self.encode(images))

    def predict_proba_encoded(self, latents: NDArray) -> NDArray[np.float64]:
        return self._answering(latents).probabilities(latents)

    @property
    def predictor(self) -> Predictor:
        """What answers from the last whole state, on any number of threads. It stays as it is whatever is learned
        later."""
        return self._published.snapshot.predictor

    def confusions(self, most: int = MAX_PAIRS) -> list[Pair]:
        """Pairs of classes and the share of either's pictures expected to be taken for the other, the largest first, at
        most so many: all pairs of up to 141 classes if not given.

        From the sums alone (exact alone): before a single mistake is made.
        """
        count = whole_number(most)
        if count is None or count < 1:
            raise ValueError(f"most must be a whole number from 1, got {short_repr(most)}.")
        predictor = self._published.snapshot.predictor
        if not isinstance(predictor, DiscriminantPredictor):
            raise ValueError(f"Confusions are expected from sums, by the strategy exact, not by {self.strategy.name}.")
        return predictor.confusions(count) if len(predictor.labels) > 1 else []

    def evaluate(self, images: Any, labels: Any) -> Evaluation:
        """Compare predictions with the truth; classes that were never learned count as wrong."""
        return self.evaluate_encoded(self.encode(images), labels)

    def evaluate_encoded(self, latents: NDArray, labels: Any) -> Evaluation:
        predictor = self._answering(latents)
        answers = predictor.names(latents, self.settings.unknown)
        truth = Classes(predictor.labels).spelled(labels_of(labels, len(latents)))
        return Evaluation.of(answers.tolist(), truth, list(predictor.labels))

    def _answering(self, latents: NDArray) -> Predictor:
        """The last whole state's, for one call from beginning to end."""
        predictor = self._published.snapshot.predictor
        if not predictor.labels:
            raise ValueError("Nothing has been learned yet: call learn first.")
        self._latents(latents)
        return predictor

    def _latents(self, latents: NDArray) -> Latents:
        return Latents.checked(latents, self.strategy.latent_type, self.strategy.latent_shape)

    # what is kept

    def save(self, path: str | Path, *, lock: statefile.Lock | None = None, overwrite: bool = False) -> None:
        """Write the whole state; power may fail at any moment. The state before is kept for `rollback`."""
        saving.save(self._published, self._content, path, lock, overwrite)

    @classmethod
    def load(
        cls, path: str | Path, model: str | Path | Model | None = None, *, micro_batch_size: int | None = None
    ) -> Learner:  # fmt: skip
        """A learner as it was saved.

        `model` is needed only if the state's own is not shipped. States do not keep the setting `micro_batch_size`.
        """
        content, origin = saving.load(path, micro_batch_size)
        learner = cls._of(content, model, path)
        learner._published.begin_at(origin)
        return learner

    def to_bytes(self) -> bytes:
        """What `save` would write, to be kept or sent by other means."""
        return statefile.to_bytes(self._content())

    @classmethod
    def from_bytes(cls, data: bytes, model: str | Path | Model | None = None) -> Learner:
        """A learner from the bytes of a state file, checked as `load` checks them."""
        return cls._of(statefile.from_bytes(data, "The state"), model, "The state")

    @classmethod
    def rollback(
        cls, path: str | Path, model: str | Path | Model | None = None, *, lock: statefile.Lock | None = None
    ) -> Learner:
        """Put the generation before the last save in its place, if it can be used, and load it."""
        learner, origin = saving.rollback(path, lambda content: cls._of(content, model, path), lock)
        learner._published.begin_at(origin)
        return learner

    @classmethod
    def _of(cls, content: statefile.Content, model: str | Path | Model | None, path: str | Path) -> Learner:
        found = assembly.model_of(content, model, path)
        return cls(assembly.strategy_of(content, found, path), found)

    def __reduce__(self) -> tuple[Any, ...]:
        """Through the bytes of a state file, which are checked when they are read; the model is found again."""
        content = self._content()
        return _from_bytes, (statefile.to_bytes(content), str(self._model_file()), self._published.snapshot.origin)

    def __deepcopy__(self, memo: dict[int, Any]) -> Learner:
        other = self._of(statefile.copied(self._content(), "The copy"), self.model, "The copy")
        other._published.begin_at(self._published.snapshot.origin)
        return other

    def _model_file(self) -> Path:
        assert self.model is not None
        return self.model.path.absolute()

    def _content(self) -> statefile.Content:
        if self.model is None:
            raise ValueError("This learner was not made from a model file, so its state cannot be saved.")
        return statefile.Content(self.model.name, self.model.digest, self.settings, self._published.snapshot.state)


def _from_bytes(data: bytes, model: str, origin: statefile.Origin) -> Learner:
    """A learner that was pickled. Its model is where it was, or else among those shipped."""
    content = statefile.from_bytes(data, "The pickled learner")
    learner = Learner._of(content, model if Path(model).exists() else None, "The pickled learner")
    learner._published.begin_at(origin)
    return learner
