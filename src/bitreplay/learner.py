"""A learner: images are fitted (data/pictures/fitting.py), a strategy learns them, an immutable predictor answers.

    learn, unlearn, merge, forget,
    rename, restore                   changes: one at a time, each whole or not at all
    predict, evaluate, state, labels  answered from the last whole state, on any number of threads, without waiting

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
from bitreplay.arguments import as_integer, short_repr
from bitreplay.data.pictures import fitting
from bitreplay.engine.bit_widths import Bits
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.learning.classes import Classes, Name, labels_of
from bitreplay.learning.progress import Progress, Watch
from bitreplay.learning.reports import Learned, Stored
from bitreplay.learning.samples import Latents, Pictures, Samples
from bitreplay.lifecycle import assembly, merging, saving
from bitreplay.lifecycle.published import Published, removes, removes_nothing
from bitreplay.parts.state import State
from bitreplay.prediction.confusions import MAX_PAIRS, Pair
from bitreplay.prediction.discriminant_predictor import DiscriminantPredictor
from bitreplay.prediction.predictor import Predictor
from bitreplay.settings import UNSET, Settings, Unset
from bitreplay.strategies import Strategy
from bitreplay.zoo import Model


class Learner:
    """A classifier that goes on learning: new classes, and more images of known ones.

    `Learner.from_pretrained` makes one, `Learner.load` reads one from a file. Threads may share a learner.

    Attributes
    ----------
    settings : Settings
        How it is built and how it learns.
    model : Model or None
        The network that it was made from.
    strategy : Strategy
        What learns; it changes only during a change of the learner.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.repeat(np.uint8([0, 255]), 8)[:, None, None, None] * np.ones((32, 32, 3), np.uint8)
    >>> labels = ["black"] * 8 + ["white"] * 8
    >>> learner = Learner.from_pretrained("react_tiny")
    >>> learner.learn(images, labels).new_classes
    ['black', 'white']
    >>> learner.predict(images[6:10]).tolist()
    ['black', 'black', 'white', 'white']
    >>> learner.evaluate(images, labels).accuracy
    1.0
    """

    def __init__(self, strategy: Strategy, model: Model | None = None) -> None:
        self.strategy, self.settings, self.model = strategy, strategy.settings, model
        self._published = Published(strategy)

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path | Model,
        settings: Settings | None = None,
        /,
        *,
        strategy: str | Unset = UNSET,
        bits: Bits | str | Unset = UNSET,
        replay_layer: str | None | Unset = UNSET,
        latent_bits: int | Unset = UNSET,
        memory_per_class: int | Unset = UNSET,
        epochs: int | Unset = UNSET,
        min_steps: int | Unset = UNSET,
        batch_size: int | Unset = UNSET,
        replay_batch_size: int | Unset = UNSET,
        learning_rate: Fraction | float | str | None | Unset = UNSET,
        augment: bool | Unset = UNSET,
        unknown: Fraction | float | str | Unset = UNSET,
        seed: int | Unset = UNSET,
        feature_layers: str | None | Unset = UNSET,
        n_components: int | None | Unset = UNSET,
        digests: bool | Unset = UNSET,
        projection: str | None | Unset = UNSET,
        exact_forget: bool | Unset = UNSET,
        size: int | None | Unset = UNSET,
        micro_batch_size: int | None | Unset = UNSET,
    ) -> Learner:
        """Make a learner that has learned nothing yet on a pretrained network.

        Parameters
        ----------
        model : str, Path or Model
            A shipped model by name (`bitreplay models` lists them) or a model file.
        settings : Settings, optional
            By default `Settings()`.
        **changes
            Single settings, by name, in place of those in `settings`; `Settings` describes them.

        Returns
        -------
        Learner

        Raises
        ------
        ValueError
            If a setting is out of range, or there is no such model.

        Examples
        --------
        >>> Learner.from_pretrained("react_tiny", strategy="replay", memory_per_class=10)
        <Learner react_tiny, replay: 0 classes, 0 pictures learned, 27408 bytes>
        """
        parameters = locals()
        if settings is not None and not isinstance(settings, Settings):
            raise ValueError(
                f"settings must be Settings, got {short_repr(settings)}; "
                "name single settings, such as memory_per_class=30."
            )
        changes = {name: parameters[name] for name in Settings.names() if parameters[name] is not UNSET}
        chosen = Settings.of(**changes) if settings is None else settings.changed(**changes)
        pretrained = model if isinstance(model, Model) else zoo.find(model)
        return cls(assembly.build(pretrained, chosen), pretrained)

    def __repr__(self) -> str:
        """Name the model, the strategy and how much was learned."""
        model = "no model file" if self.model is None else self.model.name
        at = f" at size {self.settings.size}" if self.settings.size else ""
        state, kind = self.state(), type(self.strategy)
        return (
            f"<Learner {model}{at}, {kind.name}: {len(self.labels)} classes, {kind.pictures(state)} pictures learned, "
            f"{state.bytes} bytes>"
        )

    # changes

    def learn(
        self, images: Any, labels: Any, *, progress: Callable[[Progress], None] | None = None,
        cancel: Callable[[], bool] | None = None, time_limit: float | None = None,
    ) -> Learned:  # fmt: skip
        """Learn one experience: images and their labels, of new classes or of known ones. All of it, or nothing.

        Parameters
        ----------
        images : array of uint8 (n, height, width, 3), or iterable
            Images of any size. An iterable may have arrays, paths, Pillow images and tensors.
        labels : str, int or sequence of them
            One label per image, or a single one for all. `learn(*bitreplay.labelled(folder))` learns a folder.
        progress : callable, optional
            Called with a `Progress` now and then.
        cancel : callable, optional
            Called between minibatches; learning stops if it returns True.
        time_limit : float, optional
            Seconds after which learning stops.

        Returns
        -------
        Learned

        Raises
        ------
        LearningStopped
            If it was cancelled or ran out of time; nothing has changed then.
        ValueError
            If images or labels cannot be used.

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> learner.learn(np.zeros((3, 40, 30, 3), np.uint8), "night").pictures
        3
        """
        watch = Watch(progress, cancel, time_limit)
        pictures = fitting.fit_pictures(images, self.strategy.side, watch.fitting)
        return self._learn(Pictures(pictures, self.strategy.encode), labels, watch)

    def learn_encoded(self, latents: NDArray, labels: Any, watch: Watch | None = None) -> Learned:
        """Learn one experience from what `encode` returned; every epoch uses it as it is.

        Parameters
        ----------
        latents : array
            As `encode` returns it.
        labels : str, int or sequence of them
            One label per sample, or a single one for all.
        watch : Watch, optional
            Progress, cancelling and a time limit.

        Returns
        -------
        Learned

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> latents = learner.encode(np.zeros((3, 32, 32, 3), np.uint8))
        >>> learner.learn_encoded(latents, ["night"] * 3).pictures
        3
        """
        return self._learn(self._latents(latents), labels, watch or Watch())

    def _learn(self, samples: Samples, labels: Any, watch: Watch) -> Learned:
        names = labels_of(labels, len(samples))

        def act() -> Learned:
            self.state().need_room_to_count()
            known = Classes(self.state().names)
            return self.strategy.learn(samples, known.spelled(names), watch)

        return self._published.change(act)

    def forget(self, label: Name | None = None, *, sample: int | None = None) -> bool:
        """Remove a class, or one stored sample; the next `save` removes it from the revision before too.

        Weights that were trained with it stay as they are.

        Parameters
        ----------
        label : str or int, optional
            A class that was learned.
        sample : int, optional
            The number of a sample, as `Learned.samples` and `Stored.ids` have it.

        Returns
        -------
        bool
            Whether it was stored.

        Raises
        ------
        ValueError
            If there is no such class.

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> report = learner.learn(np.zeros((1, 32, 32, 3), np.uint8), "night")
        >>> learner.forget("night"), learner.labels
        (True, [])
        """
        if (label is None) == (sample is None):
            raise ValueError("Forget either a label or a sample.")
        number = None if sample is None else as_integer(sample)
        if sample is not None and number is None:
            raise ValueError(f"sample must be an integer, got {short_repr(sample)}.")

        def act() -> bool:
            if number is not None:
                return self.strategy.forget_sample(number)
            assert label is not None
            self.strategy.forget(label)
            return True

        def was_seen(stored: bool) -> bool:
            # The revision before may hold a sample that is stored no longer.
            return stored or (number is not None and 0 <= number < self.samples_seen)

        return self._published.change(act, was_seen)

    def unlearn(
        self, images: Any, labels: Any, *, progress: Callable[[Progress], None] | None = None,
        cancel: Callable[[], bool] | None = None, time_limit: float | None = None, final: bool = True,
    ) -> None:  # fmt: skip
        """Become the learner that never saw these images, bit for bit (exact only). All of it, or nothing.

        With the setting `digests`, images that were never learned are refused; without it, only those that the class
        statistics prove impossible.

        Parameters
        ----------
        images, labels, progress, cancel, time_limit
            As in `learn`.
        final : bool
            The next `save` removes the images from the revision before too; otherwise it is kept for `rollback`.

        Raises
        ------
        LearningStopped
            If it was cancelled or ran out of time; nothing has changed then.
        ValueError
            If an image cannot have been learned, or the strategy cannot unlearn.

        Examples
        --------
        >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> before = learner.learn(images[:1], "black"), learner.state_hash()
        >>> added = learner.learn(images[1:], "white")
        >>> learner.unlearn(images[1:], "white")
        >>> learner.state_hash() == before[1]
        True
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
        """Become the learner that saw what all of them saw (exact only). All of it, or nothing.

        Parameters
        ----------
        *others : Learner
            Learners on the same model with the same settings.
        base : Learner, optional
            The learner that all of them began as; what it saw counts once.
        rename : mapping, optional
            Other names of classes; classes that get one name become one.
        without : sequence of Learner
            Learners that were merged into these before, to be taken out again; the next `save` removes them from the
            revision before too.

        Warns
        -----
        MergedTwice
            If images are added twice.

        Raises
        ------
        ValueError
            If the learners do not fit each other, or the strategy cannot merge.

        Examples
        --------
        >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
        >>> here, there = (Learner.from_pretrained("react_tiny") for _ in range(2))
        >>> reports = here.learn(images[:1], "black"), there.learn(images[1:], "white")
        >>> here.merge(there)
        >>> here.labels
        ['black', 'white']
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
        """Give a class another name.

        Parameters
        ----------
        old, new : str or int
            The name of a class that was learned, and one that no other class has.

        Raises
        ------
        ValueError
            If there is no such class, or the new name is in use.

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> report = learner.learn(np.zeros((1, 32, 32, 3), np.uint8), "nihgt")
        >>> learner.rename("nihgt", "night")
        >>> learner.labels
        ['night']
        """
        self._published.change(lambda: self.strategy.rename(old, new))

    def restore(self, state: State) -> None:
        """Go back to a state that `state` returned.

        Parameters
        ----------
        state : State
            One of a learner on the same model with the same settings.

        Raises
        ------
        ValueError
            If the state does not fit; nothing has changed then.

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> empty = learner.state()
        >>> report = learner.learn(np.zeros((1, 32, 32, 3), np.uint8), "night")
        >>> learner.restore(empty)
        >>> learner.labels
        []
        """
        self._published.change(lambda: self.strategy.load_state(state))

    # what was learned

    @property
    def labels(self) -> list[Name]:
        """The classes that were learned, in the order of the columns of `predict_proba`."""
        return list(self.predictor.labels)

    @property
    def experiences(self) -> int:
        """The number of experiences that were learned."""
        state = self.state()
        return (dict(state.notes) | dict(state.strategy_counters)).get("experiences", 0)

    @property
    def samples_seen(self) -> int:
        """The number of samples that were numbered for `forget`; 0 if the strategy stores none."""
        return self.strategy.samples_seen(self.state())

    @property
    def memory_bytes(self) -> int:
        """The size of what is kept of images: stored latents, or class statistics."""
        return self.strategy.memory_bytes(self.state())

    def stored(self) -> list[Stored]:
        """List what the replay memory holds of each class.

        Returns
        -------
        list of Stored
            Empty if the strategy stores no samples.

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny", strategy="replay")
        >>> report = learner.learn(np.zeros((3, 32, 32, 3), np.uint8), "night")
        >>> [(kept.label, kept.samples) for kept in learner.stored()]
        [('night', 3)]
        """
        return self.strategy.stored(self.state())

    def state(self) -> State:
        """Return all that was learned, as a value that later changes leave alone.

        Returns
        -------
        State

        Examples
        --------
        >>> Learner.from_pretrained("react_tiny").state().names
        ()
        """
        return self._published.snapshot.state

    def state_hash(self) -> str:
        """Return a sha256 of all that was learned; learners with equal hashes answer alike, on every machine.

        Returns
        -------
        str

        Examples
        --------
        >>> first, second = (Learner.from_pretrained("react_tiny") for _ in range(2))
        >>> first.state_hash() == second.state_hash()
        True
        """
        return self.state().hash()

    # answers

    def encode(self, images: Any) -> NDArray:
        """Compute what the strategy learns from: features (exact) or latents (replay).

        Parameters
        ----------
        images : array of uint8 (n, height, width, 3), or iterable
            As in `learn`.

        Returns
        -------
        array
            One row per image.

        Examples
        --------
        >>> Learner.from_pretrained("react_tiny").encode(np.zeros((3, 32, 32, 3), np.uint8)).shape
        (3, 640)
        """
        pictures = fitting.fit_pictures(images, self.strategy.side)
        return Pictures(pictures, self.strategy.encode).coded(Watch()).values

    def predict(self, images: Any, *, unknown: float | Fraction | None = None) -> NDArray:
        """Return the class of each image.

        Parameters
        ----------
        images : array of uint8 (n, height, width, 3), or iterable
            As in `learn`.
        unknown : float or Fraction, optional
            The share of images of known classes that may be answered "unknown"; by default the setting of that name.

        Returns
        -------
        array (n,)
            Labels; None where the answer is "unknown".

        Raises
        ------
        ValueError
            If nothing has been learned yet.

        Examples
        --------
        >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> report = learner.learn(images, ["black", "white"])
        >>> learner.predict(images).tolist()
        ['black', 'white']
        """
        return self.predict_encoded(self.encode(images), unknown=unknown)

    def predict_encoded(self, latents: NDArray, *, unknown: float | Fraction | None = None) -> NDArray:
        """Return the class of each sample that `encode` returned; otherwise as `predict`.

        Parameters
        ----------
        latents : array
            As `encode` returns it.
        unknown : float or Fraction, optional
            As in `predict`.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> latents = learner.encode(np.zeros((1, 32, 32, 3), np.uint8))
        >>> report = learner.learn_encoded(latents, "night")
        >>> learner.predict_encoded(latents).tolist()
        ['night']
        """
        share = self.settings.unknown if unknown is None else self.settings.changed(unknown=unknown).unknown
        return self._answering(latents).names(latents, share)

    def predict_proba(self, images: Any) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        images : array of uint8 (n, height, width, 3), or iterable
            As in `learn`.

        Returns
        -------
        array of float64 (n, classes)
            Columns are in the order of `labels`.

        Examples
        --------
        >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> report = learner.learn(images, ["black", "white"])
        >>> learner.predict_proba(images).round(3)
        array([[1., 0.],
               [0., 1.]])
        """
        return self.predict_proba_encoded(self.encode(images))

    def predict_proba_encoded(self, latents: NDArray) -> NDArray[np.float64]:
        """Return the probability of each class for what `encode` returned.

        Parameters
        ----------
        latents : array
            As `encode` returns it.

        Returns
        -------
        array of float64 (n, classes)

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> latents = learner.encode(np.zeros((1, 32, 32, 3), np.uint8))
        >>> report = learner.learn_encoded(latents, "night")
        >>> learner.predict_proba_encoded(latents)
        array([[1.]])
        """
        return self._answering(latents).probabilities(latents)

    @property
    def predictor(self) -> Predictor:
        """What answers from the last whole state, on any number of threads; later changes leave it alone."""
        return self._published.snapshot.predictor

    def confusions(self, limit: int = MAX_PAIRS) -> list[Pair]:
        """Return the pairs of classes that are expected to be confused, from class statistics alone (exact only).

        Parameters
        ----------
        limit : int
            At most this many pairs; by default all pairs of up to 141 classes.

        Returns
        -------
        list of Pair
            `share` is the expected share of images of either class that are taken for the other; the largest first.

        Raises
        ------
        ValueError
            If the strategy has no class statistics.

        Examples
        --------
        >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> report = learner.learn(images, ["black", "white"])
        >>> [(pair.one, pair.other, round(pair.share, 3)) for pair in learner.confusions()]
        [('black', 'white', 0.0)]
        """
        count = as_integer(limit)
        if count is None or count < 1:
            raise ValueError(f"limit must be an integer from 1, got {short_repr(limit)}.")
        predictor = self.predictor
        if not isinstance(predictor, DiscriminantPredictor):
            raise ValueError(f"Only the strategy exact expects confusions, from its sums; got {self.strategy.name}.")
        return predictor.confusions(count) if len(predictor.labels) > 1 else []

    def evaluate(self, images: Any, labels: Any) -> Evaluation:
        """Compare the predictions for images with their labels; classes that were never learned count as wrong.

        Parameters
        ----------
        images : array of uint8 (n, height, width, 3), or iterable
            As in `learn`.
        labels : str, int or sequence of them
            One label per image, or a single one for all.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> report = learner.learn(images, ["black", "white"])
        >>> learner.evaluate(images, ["black", "grey"]).accuracy
        0.5
        """
        return self.evaluate_encoded(self.encode(images), labels)

    def evaluate_encoded(self, latents: NDArray, labels: Any) -> Evaluation:
        """Compare the predictions for what `encode` returned with the labels.

        Parameters
        ----------
        latents : array
            As `encode` returns it.
        labels : str, int or sequence of them
            One label per sample, or a single one for all.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> latents = learner.encode(np.zeros((1, 32, 32, 3), np.uint8))
        >>> report = learner.learn_encoded(latents, "night")
        >>> learner.evaluate_encoded(latents, "night").accuracy
        1.0
        """
        predictor = self._answering(latents)
        answers = predictor.names(latents, self.settings.unknown)
        truth = Classes(predictor.labels).spelled(labels_of(labels, len(latents)))
        return Evaluation.of(answers.tolist(), truth, list(predictor.labels))

    def _answering(self, latents: NDArray) -> Predictor:
        """Return the predictor of the last whole state, for one call from beginning to end."""
        predictor = self.predictor
        if not predictor.labels:
            raise ValueError("Nothing has been learned yet: call learn first.")
        self._latents(latents)
        return predictor

    def _latents(self, latents: NDArray) -> Latents:
        return Latents.checked(latents, self.strategy.latent_type, self.strategy.latent_shape)

    # files

    def save(self, path: str | Path, *, lock: statefile.Lock | None = None, overwrite: bool = False) -> None:
        """Write the state to a file; power may fail at any moment. The revision before is kept for `rollback`.

        Parameters
        ----------
        path : str or Path
            The state file.
        lock : Lock, optional
            The lock of that file, if the caller holds it.
        overwrite : bool
            Replace a file that this learner was not loaded from or saved to.

        Raises
        ------
        StateInUse
            If another process holds the file's lock.
        StateFileError
            If the file is another learner's, or has changed since it was read.
        OSError
            If the file cannot be written.

        Warns
        -----
        StateFileWarning
            If it is saved, but something else failed.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "fruit.state"
        >>> Learner.from_pretrained("react_tiny").save(path)
        >>> path.exists()
        True
        """
        saving.save(self._published, self._content, path, lock, overwrite)

    @classmethod
    def load(
        cls, path: str | Path, model: str | Path | Model | None = None, *, micro_batch_size: int | None = None
    ) -> Learner:  # fmt: skip
        """Read a learner from a state file.

        Parameters
        ----------
        path : str or Path
            The state file.
        model : str, Path or Model, optional
            The model that the state belongs to; needed only if it is not shipped.
        micro_batch_size : int, optional
            The setting of that name, which states do not keep.

        Returns
        -------
        Learner

        Raises
        ------
        StateFileError
            If the file is not a state file, is damaged or belongs to another model.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "fruit.state"
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> learner.save(path)
        >>> Learner.load(path).state_hash() == learner.state_hash()
        True
        """
        content, origin = saving.load(path, micro_batch_size)
        learner = cls._of(content, model, path)
        learner._published.begin_at(origin)
        return learner

    def to_bytes(self) -> bytes:
        """Return what `save` would write, to be stored or sent in another way.

        Returns
        -------
        bytes

        Examples
        --------
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> Learner.from_bytes(learner.to_bytes()).state_hash() == learner.state_hash()
        True
        """
        return statefile.to_bytes(self._content())

    @classmethod
    def from_bytes(cls, data: bytes, model: str | Path | Model | None = None) -> Learner:
        """Make a learner from the bytes of a state file, which are checked as `load` checks them.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned, or the content of a state file.
        model : str, Path or Model, optional
            As in `load`.

        Returns
        -------
        Learner

        Raises
        ------
        StateFileError
            If the bytes are not a state, are damaged or belong to another model.

        Examples
        --------
        >>> Learner.from_bytes(Learner.from_pretrained("react_tiny").to_bytes()).labels
        []
        """
        return cls._of(statefile.from_bytes(data, "The state"), model, "The state")

    @classmethod
    def rollback(
        cls, path: str | Path, model: str | Path | Model | None = None, *, lock: statefile.Lock | None = None
    ) -> Learner:
        """Put the revision before the last `save` in its place, if it can be used, and load it.

        Parameters
        ----------
        path : str or Path
            The state file.
        model : str, Path or Model, optional
            As in `load`.
        lock : Lock, optional
            The lock of that file, if the caller holds it.

        Returns
        -------
        Learner

        Raises
        ------
        StateFileError
            If there is no revision before, or it cannot be used; the file is as it was then.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "fruit.state"
        >>> learner = Learner.from_pretrained("react_tiny")
        >>> learner.save(path)
        >>> report = learner.learn(np.zeros((1, 32, 32, 3), np.uint8), "night")
        >>> learner.save(path)
        >>> Learner.rollback(path).labels
        []
        """
        learner, origin = saving.rollback(path, lambda content: cls._of(content, model, path), lock)
        learner._published.begin_at(origin)
        return learner

    @classmethod
    def _of(cls, content: statefile.Content, model: str | Path | Model | None, path: str | Path) -> Learner:
        its_model = assembly.model_of(content, model, path)
        return cls(assembly.strategy_of(content, its_model, path), its_model)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of a state file, which are checked when they are read; the model is found again."""
        content = self._content()
        assert self.model is not None
        return _from_bytes, (
            statefile.to_bytes(content),
            str(self.model.path.absolute()),
            self._published.snapshot.origin,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Learner:
        """Copy the state; the copy goes on alone."""
        other = self._of(statefile.copied(self._content(), "The copy"), self.model, "The copy")
        other._published.begin_at(self._published.snapshot.origin)
        return other

    def _content(self) -> statefile.Content:
        if self.model is None:
            raise ValueError("This learner was not made from a model file, so its state cannot be saved.")
        return statefile.Content(self.model.name, self.model.digest, self.settings, self.state(), self.strategy.side)


def _from_bytes(data: bytes, model: str, origin: statefile.Origin) -> Learner:
    """Unpickle a learner. Its model is where it was, or else among those shipped."""
    content = statefile.from_bytes(data, "The pickled learner")
    learner = Learner._of(content, model if Path(model).exists() else None, "The pickled learner")
    learner._published.begin_at(origin)
    return learner
