"""bitreplay learn STATE PICTURES: one experience from a folder of class folders, or of pictures of one class."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import all_known
from bitreplay.cli.reading import SkippedFiles, gathered
from bitreplay.learner import Learner
from bitreplay.learning.progress import Progress, Watch
from bitreplay.learning.reports import Learned
from bitreplay.statefile import Lock


def learn(
    state: options.State,
    pictures: Annotated[
        list[Path], typer.Argument(help="A folder a class in it; or pictures and folders of them, with --label.")
    ],
    label: Annotated[
        str | None, typer.Option(help="The class of all these pictures.", show_default="by their folders")
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
        bool | None, typer.Option("--digests", help="Of exact: unlearn refuses what was never learned.")
    ] = None,
    exact_forget: Annotated[
        bool | None, typer.Option("--exact-forget", help="Of exact: keep products of each class; forget is exact then.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds to read and to learn; then the state stays as it is.", show_default="none"),
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Learn one experience and save. A state that does not exist is begun; only then settings may be given."""
    named = options.given(
        strategy=strategy,
        bits=bits,
        latent_bits=latent_bits,
        replay_layer=replay_layer,
        feature_layers=feature_layers,
        n_components=n_components,
        memory_per_class=memory_per_class,
        epochs=epochs,
        learning_rate=learning_rate,
        augment=augment,
        seed=seed,
        digests=digests,
        exact_forget=exact_forget,
        size=size,
    )
    start = time.perf_counter()
    watch = Watch(time_limit=time_limit)
    with Lock(state) as lock:
        begun = not state.exists()
        if not begun:
            if named:
                raise ValueError(f"{state} exists, and its settings stay: leave out {', '.join(named)}.")
            learner = Learner.load(state, model, micro_batch_size=micro_batch_size)
        else:
            learner = Learner.from_pretrained(
                model or options.DEFAULT_MODEL, **named, **options.given(micro_batch_size=micro_batch_size)
            )
        skipped = SkippedFiles(skip_unreadable)
        with show.bar(quiet=json) as bar:

            def reading(done: int, total: int) -> None:
                watch.check()
                bar.reading(done, total)

            def learning(done: Progress) -> None:
                watch.check()
                bar(done)

            images, labels = gathered(pictures, label, learner.strategy.side, skipped, reading)
            skipped.end()
            learned = learner.learn(images, all_known(learner, labels), progress=learning, time_limit=time_limit)
        saving.save(learner, state, lock)
    with saving.answering(f"{state} is saved."):
        _tell(state, learner, learned, skipped, round(time.perf_counter() - start, 2), begun, json)


def _tell(
    state: Path, learner: Learner, learned: Learned, skipped: SkippedFiles, seconds: float, begun: bool, json: bool
) -> None:
    size, model = state.stat().st_size, learner.model.name if learner.model else None
    found = {
        "state": str(state), "model": model, "experience": learned.experience, "pictures": learned.pictures,
        "skipped": skipped.unread, "left_out": skipped.sentences,
        "new_classes": learned.new_classes, "labels": learner.labels, "classes": learner.labels,
        "samples": [learned.samples.start, learned.samples.stop], "steps": learned.steps, "seconds": seconds,
        "memory_bytes": learner.memory_bytes, "learned_before": learned.known,
        "state_bytes": size, "hash": learner.state_hash(),
    }  # fmt: skip
    if json:
        show.as_json(found)
        return
    new = f", new: {show.names(learned.new_classes)}" if learned.new_classes else ""
    side = learner.strategy.side
    seen = f" Its model is {model}, which sees pictures at {side}x{side} pixels." if begun else ""
    show.say(
        f"Learned {show.counted(learned.pictures, 'picture', 'pictures')} in {seconds} s{new}. "
        f"{show.counted(len(learner.labels), 'class is', 'classes are')} known; "
        f"{show.size(learner.memory_bytes)} of {learner.strategy.keeps} are stored, {state} has {show.size(size)}."
        + (_again(learned) if learned.known else "")
        + seen
    )


def _again(learned: Learned) -> str:
    """Digests tell it; the sums count what is learned twice twice."""
    if learned.known == learned.pictures:
        return " All of them had been learned before as the same classes, and count once more now."
    return f" {learned.known} of them had been learned before as the same class, and count once more now."
