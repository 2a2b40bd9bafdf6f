"""bitreplay learn STATE PICTURES: learn one experience, from a folder of class folders or pictures of one class."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import classes_named
from bitreplay.cli.reading import SkippedFiles, as_they_are, read_all
from bitreplay.learner import Learner
from bitreplay.learning.progress import Progress, Watch
from bitreplay.learning.reports import Learned
from bitreplay.statefile import Lock


def learn(
    state: options.State,
    pictures: Annotated[
        list[Path],
        typer.Argument(help="Folder with one folder per class; or, with --label, pictures and folders of them."),
    ],
    label: Annotated[
        str | None, typer.Option(help="Class of all these pictures.", show_default="their folders' names")
    ] = None,
    model: options.ModelToBegin = None,
    size: options.Size = None,
    strategy: options.Strategy = None,
    bits: options.Bits = None,
    latent_bits: options.LatentBits = None,
    replay_layer: options.ReplayLayer = None,
    feature_layers: options.FeatureLayers = None,
    n_components: options.Components = None,
    memory_per_class: options.MemoryPerClass = None,
    epochs: options.Epochs = None,
    learning_rate: options.LearningRate = None,
    augment: options.Augment = None,
    micro_batch_size: options.MicroBatchSize = None,
    seed: options.Seed = None,
    digests: Annotated[
        bool | None, typer.Option("--digests", help="For exact: let unlearn refuse pictures that were never learned.")
    ] = None,
    exact_forget: Annotated[
        bool | None,
        typer.Option("--exact-forget", help="For exact: keep products of each class, so that forget is exact."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds to read and learn; after that the state stays as it was.", show_default="none"),
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Learn one experience and save. A new state is created if the file does not exist; only then settings may be
    given."""
    settings = options.settings_in(locals())
    start = time.perf_counter()
    watch = Watch(time_limit=time_limit)
    with Lock(state) as lock:
        is_new = not state.exists()
        learner = _begun(model, settings) if is_new else _gone_on(state, model, settings)
        skipped = SkippedFiles(skip_unreadable)
        with show.bar(quiet=json) as bar:
            learned = _learned(learner, pictures, label, skipped, bar, watch, time_limit)
        saving.save(learner, state, lock)
    with saving.reporting(f"{state} is saved."):
        _print_result(state, learner, learned, skipped, round(time.perf_counter() - start, 2), is_new, json)


def _begun(model: str | None, settings: dict[str, Any]) -> Learner:
    return Learner.from_pretrained(model or options.DEFAULT_MODEL, **settings)


def _gone_on(state: Path, model: str | None, settings: dict[str, Any]) -> Learner:
    """The learner of a state; the micro-batch size belongs to the machine and may be another one."""
    fixed = [name for name in settings if name != "micro_batch_size"]
    if fixed:
        raise ValueError(f"{state} exists, and its settings cannot be changed: leave out {', '.join(fixed)}.")
    return Learner.load(state, model, micro_batch_size=settings.get("micro_batch_size"))


def _learned(
    learner: Learner, pictures: Sequence[Path], label: str | None, skipped: SkippedFiles, bar: show.Bar, watch: Watch,
    time_limit: float | None,
) -> Learned:  # fmt: skip
    """What was learned of the pictures of these files and folders; all of it in the time that `watch` knows."""

    def reading(done: int, total: int) -> None:
        watch.check()
        bar.reading(done, total)

    def learning(done: Progress) -> None:
        watch.check()
        bar(done)

    augments = learner.settings.augment  # then the pictures are encoded anew in each step
    use = as_they_are if augments else learner.encode
    samples, labels = read_all(pictures, label, learner.strategy.side, skipped, reading, use)
    skipped.end()
    names = classes_named(learner, labels)
    if augments:
        return learner.learn(samples, names, progress=learning, time_limit=time_limit)
    return learner.learn_encoded(samples, names, Watch(learning, time_limit=time_limit))


def _print_result(
    state: Path, learner: Learner, learned: Learned, skipped: SkippedFiles, seconds: float, is_new: bool, json: bool
) -> None:
    size, model = state.stat().st_size, learner.model.name if learner.model else None
    result = {
        "state": str(state), "model": model, "experience": learned.experience, "pictures": learned.pictures,
        "unreadable": skipped.unreadable_count, "skipped": skipped.sentences,
        "new_classes": learned.new_classes, "classes": learner.labels,
        "samples": [learned.samples.start, learned.samples.stop], "steps": learned.steps, "seconds": seconds,
        "memory_bytes": learner.memory_bytes, "learned_before": learned.known,
        "state_bytes": size, "hash": learner.state_hash(),
    }  # fmt: skip
    if json:
        show.as_json(result)
        return
    new = f", new: {show.names(learned.new_classes)}" if learned.new_classes else ""
    side = learner.strategy.side
    model_note = f" Its model is {model} at {side}x{side} pixels." if is_new else ""
    show.say(
        f"Learned {show.counted(learned.pictures, 'picture', 'pictures')} in {seconds} s{new}. "
        f"{show.counted(len(learner.labels), 'class is', 'classes are')} known; "
        f"{show.size(learner.memory_bytes)} of {learner.strategy.keeps} are stored; {state} is {show.size(size)}."
        + (_learned_before(learned) if learned.known else "")
        + model_note
    )


def _learned_before(learned: Learned) -> str:
    """Known from digests: the sums count a picture as often as it is learned."""
    if learned.known == learned.pictures:
        return " All of them had been learned before as the same classes and now count once more."
    return f" {learned.known} of them had been learned before as the same class and now count once more."
