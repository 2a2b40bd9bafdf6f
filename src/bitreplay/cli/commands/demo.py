"""bitreplay demo: a shop's scale learns fruit that it has never seen, two kinds at a time.

Groceries in 7 experiences of 2 classes, with every strategy (exact, 1-bit latent replay, BNN+CWR*, naive fine-tuning),
and joint training of tail and head on all classes at once. Accuracy is over all 14 classes, including those not yet
learned: it starts low, rises with what an experience teaches and falls with what the learner forgets.
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
from bitreplay.learning.samples import Latents
from bitreplay.strategies import STRATEGIES
from bitreplay.streams.follow import follow
from bitreplay.streams.scenario import Experience, new_classes

BINARY = "quicknet"  # replay and CWR* are methods for binary networks: their tails learn in a minute
PAIRS = (2,) * 7
SHOWN_FOOTPRINTS = ("exact", "replay")
JOINT_EPOCHS = 20
EXPLANATIONS = {"cwr": "head alone", "naive": "nothing kept"}


@dataclass(frozen=True)
class Row:
    """After one experience: each strategy's accuracy and its seconds, including the network's."""

    experience: int
    classes: list[str]
    pictures: int
    accuracy: dict[str, float]
    seen_accuracy: dict[str, float]
    seconds: dict[str, float]


def demo(
    model: options.Model = BINARY,
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Side of the network's input in pixels.",
            show_default="its smallest",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Order of the classes, and all that is random.")] = 0,
    plot: Annotated[Path, typer.Option(help="Where to write the chart.")] = Path("bitreplay-demo.svg"),
    joint: Annotated[bool, typer.Option(help="Also train tail and head on all classes at once.")] = True,
    json: options.Json = False,
) -> None:
    """Learn 14 kinds of fruit, two at a time, and show what each strategy remembers."""
    if plot.is_dir() or not plot.parent.is_dir():
        raise ValueError(f"The chart cannot be written to {plot}; expected a file in an existing folder.")
    start = time.perf_counter()
    network = zoo.find(model)
    data = groceries()
    names = np.array(data.class_names)
    side = size or min([network.size, *network.graph.ranges_at])  # the photographs are 64x64: little is lost
    learners = {
        strategy: Learner.from_pretrained(network, strategy=strategy, seed=seed, size=side) for strategy in STRATEGIES
    }
    rows: list[Row] = []
    with show.bar(quiet=json) as bar:
        bar.part("test pictures", 0, 1)
        test, _ = encoded_by(learners, data.test_images)
        truth = names[data.test_labels]
        for experience in new_classes(data, PAIRS, np.random.default_rng(seed)):
            rows.append(step(experience, names, learners, test, truth, bar))
        joint_bound = joint_accuracy(network, side, data, names, truth, seed, bar) if joint else None
    title = f"14 kinds of fruit, two at a time ({network.name} at {side}x{side}): accuracy on test photographs"
    plot.write_text(line_chart(title, _series(rows, joint_bound), "new kinds of fruit", [row.classes for row in rows]))
    seconds = round(time.perf_counter() - start, 1)
    footprints = {name: footprint(learners[name]) for name in SHOWN_FOOTPRINTS}
    if json:
        show.as_json({"model": network.name, "seed": seed, "rows": [asdict(row) for row in rows], "joint": joint_bound,
                      "size": side, "bytes": footprints, "seconds": seconds, "plot": str(plot)})  # fmt: skip
        return
    _print(rows, joint_bound, footprints, seconds, plot)


def encoded_by(learners: dict[str, Learner], images: np.ndarray) -> tuple[dict[str, Latents], dict[str, float]]:
    """Encoded pictures and seconds, by kind. The network runs once for all strategies that learn from the same kind."""
    latents, seconds = {}, {}
    for kind, learner in {learner.strategy.latents: learner for learner in learners.values()}.items():
        start = time.perf_counter()
        latents[kind] = Latents(learner.encode(images))
        seconds[kind] = time.perf_counter() - start
    return latents, seconds


def step(
    experience: Experience, names: np.ndarray, learners: dict[str, Learner], test: dict[str, Latents],
    truth: np.ndarray,
    bar: show.Bar,
) -> Row:  # fmt: skip
    """One experience for every strategy."""
    number = experience.index + 1
    bar.part(f"experience {number}", 0, len(learners) + 1)
    labels = names[experience.labels]
    latents, encoding_seconds = encoded_by(learners, experience.images)
    accuracy, seen, seconds = {}, {}, {}
    for done, (strategy, learner) in enumerate(learners.items(), 1):
        bar.part(f"experience {number}: {STRATEGIES[strategy].title}", done, len(learners) + 1)
        kind = learner.strategy.latents
        (learned,) = follow(learner, [(latents[kind], labels)], test[kind], truth)
        seconds[strategy] = round(encoding_seconds[kind] + learned.seconds, 2)
        accuracy[strategy], seen[strategy] = learned.evaluation.accuracy, learned.evaluation.seen_accuracy
    classes = names[list(experience.classes)].tolist()
    return Row(experience.index, classes, len(labels), accuracy, seen, seconds)


def joint_accuracy(
    network: zoo.Model, side: int, data: Any, names: np.ndarray, truth: np.ndarray, seed: int, bar: show.Bar
) -> float:
    """Accuracy after learning all classes at once."""
    learner = Learner.from_pretrained(network, strategy="naive", epochs=JOINT_EPOCHS, seed=seed, size=side)
    all_at_once = [(data.train_images, names[data.train_labels])]
    (learned,) = follow(learner, all_at_once, data.test_images, truth, progress=bar)
    return learned.evaluation.accuracy


def _titles(rows: list[Row]) -> dict[str, str]:
    return {STRATEGIES[name].title: name for name in rows[0].accuracy}


def _series(rows: list[Row], joint_bound: float | None) -> dict[str, list[float]]:
    """Best first, with explanations of the names."""
    series = {
        f"{name} ({EXPLANATIONS[key]})" if key in EXPLANATIONS else name: [row.accuracy[key] for row in rows]
        for name, key in _titles(rows).items()
    }
    series |= {} if joint_bound is None else {"all at once (joint)": [joint_bound] * len(rows)}
    return dict(sorted(series.items(), key=lambda item: -item[1][-1]))


def _print(rows: list[Row], joint_bound: float | None, footprints: dict[str, dict], seconds: float, plot: Path) -> None:
    titles = dict(sorted(_titles(rows).items(), key=lambda item: -rows[-1].accuracy[item[1]]))
    body = [("\n".join(row.classes), *(f"{100 * row.accuracy[key]:.1f} %" for key in titles.values())) for row in rows]
    times = ", ".join(
        f"{STRATEGIES[name].title} {sum(row.seconds[name] for row in rows):.1f} s" for name in SHOWN_FOOTPRINTS
    )
    joint = (
        []
        if joint_bound is None
        else [f"All classes at once (joint training of tail and head): {100 * joint_bound:.1f} %."]
    )
    sizes = [
        show.table(
            f"bytes, {STRATEGIES[strategy].title}",
            ("", ""),
            [(name.replace("_", " "), show.size(count)) for name, count in counted.items()],
        )
        for strategy, counted in footprints.items()
    ]
    show.say(
        show.table("accuracy on all 14 classes after each experience", ("new classes", *titles), body),
        *joint,
        f"Learned in: {times}.",
        *sizes,
        f"{seconds:.0f} s in all. Chart: {plot}",
    )
