"""bitreplay demo: a shop's scale learns fruit it has never seen, two kinds at a time.

Groceries, 7 experiences of 2 classes; 1-bit latent replay beside BNN+CWR* and naive fine-tuning on the same latents,
and joint training on everything at once as the bound. Accuracy is over all 14 classes, also those not yet shown: it
starts low, rises with what an experience teaches and falls with what it makes the learner forget.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bitreplay import zoo
from bitreplay.cli import options, show
from bitreplay.cli.footprint import footprint
from bitreplay.cli.plot import line_chart
from bitreplay.data.groceries import groceries
from bitreplay.learner import Learner
from bitreplay.scenario import Experience, new_classes

STRATEGIES = {"replay": "1-bit replay", "cwr": "BNN+CWR*", "naive": "naive"}
PAIRS = (2,) * 7
JOINT_EPOCHS = 20


@dataclass(frozen=True)
class Row:
    """After one experience: accuracy of each strategy, and the seconds that replay needed for all of it."""

    experience: int
    classes: list[str]
    pictures: int
    accuracy: dict[str, float]
    seen_accuracy: dict[str, float]
    seconds: float


def demo(
    model: options.Model = options.DEFAULT_MODEL,
    seed: Annotated[int, typer.Option(help="Order of the classes, and everything random.")] = 0,
    plot: Annotated[Path, typer.Option(help="Where to write the chart.")] = Path("bitreplay-demo.svg"),
    joint: Annotated[bool, typer.Option(help="Train on all classes at once too, as the bound.")] = True,
    json: options.Json = False,
) -> None:
    """Learn 14 kinds of fruit, two at a time, and show what is remembered."""
    if plot.is_dir() or not plot.parent.is_dir():
        raise ValueError(f"The chart cannot be written to {plot}: name a file in a folder that exists.")
    start = time.perf_counter()
    found = zoo.find(model)
    data = groceries()
    names = np.array(data.class_names)
    learners = {strategy: Learner.from_pretrained(found, strategy=strategy, seed=seed) for strategy in STRATEGIES}
    replay = learners["replay"]
    rows: list[Row] = []
    with show.bar(quiet=json) as bar:
        bar.part("test pictures", 0, 1)
        test = replay.latent_bits(data.test_images)
        truth = names[data.test_labels]
        for experience in new_classes(data, PAIRS, np.random.default_rng(seed)):
            rows.append(step(experience, names, learners, test, truth, bar))
        bound = together(found, data, names, test, truth, seed, bar) if joint else None
    plot.write_text(line_chart(f"groceries with {found.name}: accuracy on all 14 classes", _series(rows, bound)))
    seconds = round(time.perf_counter() - start, 1)
    bytes_of = footprint(replay)
    if json:
        show.as_json({"model": found.name, "seed": seed, "rows": [asdict(row) for row in rows], "joint": bound,
                      "bytes": bytes_of, "seconds": seconds, "plot": str(plot)})  # fmt: skip
        return
    _print(rows, bound, bytes_of, seconds, plot)


def step(
    experience: Experience, names: np.ndarray, learners: dict[str, Learner], test: np.ndarray, truth: np.ndarray,
    bar: show.Bar,
) -> Row:  # fmt: skip
    """One experience for every strategy. The pictures pass the backbone once, since all share it."""
    number = experience.index + 1
    bar.part(f"experience {number}", 0, len(learners) + 1)
    replay = learners["replay"]
    start = time.perf_counter()
    codes = replay.latent_bits(experience.images)
    encoding, seconds = time.perf_counter() - start, 0.0
    accuracy, seen = {}, {}
    for done, (strategy, learner) in enumerate(learners.items(), 1):
        bar.part(f"experience {number}: {STRATEGIES[strategy]}", done, len(learners) + 1)
        start = time.perf_counter()
        learner.learn_codes(codes, names[experience.labels])
        if strategy == "replay":
            seconds = encoding + time.perf_counter() - start
        result = learner.evaluate_codes(test, truth)
        accuracy[strategy], seen[strategy] = result.accuracy, result.seen_accuracy
    classes = names[list(experience.classes)].tolist()
    return Row(experience.index, classes, len(codes), accuracy, seen, round(seconds, 2))


def together(
    found: zoo.Model, data: Any, names: np.ndarray, test: np.ndarray, truth: np.ndarray, seed: int, bar: show.Bar
) -> float:
    """Accuracy after learning all classes at once."""
    learner = Learner.from_pretrained(found, strategy="naive", epochs=JOINT_EPOCHS, seed=seed)
    learner.learn(data.train_images, names[data.train_labels], progress=bar)
    return learner.evaluate_codes(test, truth).accuracy


def _series(rows: list[Row], bound: float | None) -> dict[str, list[float]]:
    series = {name: [row.accuracy[key] for row in rows] for key, name in STRATEGIES.items()}
    return series | ({} if bound is None else {"joint (bound)": [bound] * len(rows)})


def _print(rows: list[Row], bound: float | None, bytes_of: dict[str, int], seconds: float, plot: Path) -> None:
    columns = ("new classes", *STRATEGIES.values(), "seconds")
    body = [
        (", ".join(row.classes), *(f"{100 * row.accuracy[key]:.1f} %" for key in STRATEGIES), f"{row.seconds:.1f}")
        for row in rows
    ]
    out = show.out()
    out.print(show.table("accuracy on all 14 classes after each experience", columns, body))
    if bound is not None:
        out.print(f"All classes at once (joint training, the bound): {100 * bound:.1f} %.")
    sizes = [(name.replace("_", " "), show.size(count)) for name, count in bytes_of.items()]
    out.print(show.table("bytes", ("", ""), sizes))
    out.print(f"{seconds:.0f} s in all. Chart: {plot}")
