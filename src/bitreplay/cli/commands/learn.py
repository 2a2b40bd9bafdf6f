"""bitreplay learn STATE FOLDER: one experience from a folder of class folders, or of pictures of one class."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bitreplay.cli import options, saving, show
from bitreplay.cli.reading import LeftOut, fitted
from bitreplay.data.folder import SUFFIXES, passed_over, pictures
from bitreplay.learner import Learner
from bitreplay.reports import Learned
from bitreplay.statefile import Lock


def learn(
    state: options.State,
    folder: Annotated[Path, typer.Argument(help="A folder a class in it; or pictures, with --label.")],
    label: Annotated[str | None, typer.Option(help="The class of all pictures in the folder.")] = None,
    model: options.ModelFile = None,
    strategy: options.Strategy = None,
    bits: options.Bits = None,
    code_bits: options.CodeBits = None,
    level: options.Level = None,
    numbers: options.Numbers = None,
    per_class: options.PerClass = None,
    epochs: options.Epochs = None,
    rate: options.Rate = None,
    augment: options.Augment = None,
    seed: options.Seed = None,
    digests: Annotated[
        bool | None, typer.Option("--digests", help="Of exact: unlearn refuses what was never learned.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; then the state stays as it is.")] = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Learn one experience and save. A state that does not exist is begun; only then settings may be given."""
    named = options.given(strategy=strategy, bits=bits, code_bits=code_bits, level=level, numbers=numbers,
                          per_class=per_class, epochs=epochs, rate=rate, augment=augment, seed=seed,
                          digests=digests)  # fmt: skip
    start = time.perf_counter()
    with Lock(state) as lock:
        if state.exists():
            if named:
                raise ValueError(f"{state} exists, and its settings stay: leave out {', '.join(named)}.")
            learner = Learner.load(state, model)
        else:
            learner = Learner.from_pretrained(model or options.DEFAULT_MODEL, **named)
        left_out = LeftOut(skip_unreadable)
        images, labels = read(folder, label, learner.strategy.side, left_out)
        left_out.end()
        with show.bar(quiet=json) as bar:
            learned = learner.learn(images, labels, progress=bar, time_limit=time_limit)
        saving.save(learner, state, lock)
    with saving.answering(f"{state} is saved."):
        _tell(state, learner, learned, left_out, round(time.perf_counter() - start, 2), json)


def _tell(state: Path, learner: Learner, learned: Learned, left_out: LeftOut, seconds: float, json: bool) -> None:
    size = state.stat().st_size
    found = {
        "state": str(state), "experience": learned.experience, "pictures": learned.pictures,
        "skipped": left_out.unread, "left_out": left_out.sentences,
        "new_classes": learned.new_classes, "classes": learner.labels, "samples": [learned.samples.start,
        learned.samples.stop], "steps": learned.steps, "seconds": seconds, "memory_bytes": learner.memory_bytes,
        "state_bytes": size, "hash": learner.state_hash(),
    }  # fmt: skip
    if json:
        show.as_json(found)
        return
    new = f", new: {show.names(learned.new_classes)}" if learned.new_classes else ""
    show.say(
        f"Learned {show.counted(learned.pictures, 'picture', 'pictures')} in {seconds} s{new}. "
        f"{show.counted(len(learner.labels), 'class is', 'classes are')} known; "
        f"{show.size(learner.memory_bytes)} of {learner.strategy.keeps} are stored, {state} has {show.size(size)}."
    )


def read(folder: Path, label: str | None, side: int, left_out: LeftOut) -> tuple[np.ndarray, list[str]]:
    """Pictures of a folder, already fitted, and their labels.

    A class folder without pictures counts as one that could not be read, so that no class is lost without a word.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder.")
    places = [folder]
    if label is None:
        left_out.passed_over(passed_over(folder, of_classes=True))
        places = sorted(place for place in folder.iterdir() if place.is_dir() and not place.name.startswith("."))
    found: list[np.ndarray] = []
    labels: list[str] = []
    for place in places:
        left_out.passed_over(passed_over(place))
        files = pictures(place)
        if not files and label is None:
            left_out.unreadable(ValueError(f"{place} is a class folder without pictures ({', '.join(SUFFIXES)})."))
        read = [picture for _, picture in fitted(files, side, left_out.unreadable)]
        found += read
        labels += [place.name if label is None else label] * len(read)
    if not found:
        wanted = "pictures" if label is not None else "class folder with pictures"
        raise ValueError(f"{folder} has no {wanted} that can be read ({', '.join(SUFFIXES)}).")
    return np.concatenate(found), labels
