"""bitreplay demo: a shop's scale learns fruit it has never seen, two kinds at a time.

Groceries, 7 experiences of 2 classes; every strategy beside the others (exact sums, 1-bit latent replay, BNN+CWR*,
naive fine-tuning), and joint training of tail and head on everything at once. Accuracy is over all 14 classes, also
those not yet shown: it starts low, rises with what an experience teaches and falls with what it makes the learner
forget.
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

PAIRS = (2,) * 7
COUNTED = ("exact", "replay")
JOINT_EPOCHS = 20
WORDS = {"cwr": "head alone", "naive": "nothing kept"}


@dataclass(frozen=True)
class Row:
    """After one experience: accuracy of each strategy, and the seconds that each needed, the network's included."""

    experience: int
    classes: list[str]
    pictures: int
    accuracy: dict[str, float]
    seen_accuracy: dict[str, float]
    seconds: dict[str, float]


def demo(
    model: options.Model = options.DEFAULT_MODEL,
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Side of the square images that the network sees.",
            show_default="its smallest",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Order of the classes, and everything random.")] = 0,
    plot: Annotated[Path, typer.Option(help="Where to write the chart.")] = Path("bitreplay-demo.svg"),
    joint: Annotated[bool, typer.Option(help="Train tail and head on all classes at once too.")] = True,
    json: options.Json = False,
) -> None:
    """Learn 14 kinds of fruit, two at a time, and show what is remembered."""
    if plot.is_dir() or not plot.parent.is_dir():
        raise ValueError(f"The chart cannot be written to {plot}: name a file in a folder that exists.")
    start = time.perf_counter()
    found = zoo.find(model)
    data = groceries()
    names = np.array(data.class_names)
    side = size or min([found.size, *found.graph.ranges_at])  # the photographs are 64x64: little is lost
    learners = {
        strategy: Learner.from_pretrained(found, strategy=strategy, seed=seed, size=side) for strategy in STRATEGIES
    }
    rows: list[Row] = []
    with show.bar(quiet=json) as bar:
        bar.part("test pictures", 0, 1)
        test, _ = coded_in(learners, data.test_images)
        truth = names[data.test_labels]
        for experience in new_classes(data, PAIRS, np.random.default_rng(seed)):
            rows.append(step(experience, names, learners, test, truth, bar))
        bound = together(found, side, data, names, truth, seed, bar) if joint else None
    title = f"14 kinds of fruit, two at a time ({found.name} at {side}x{side}): test photographs answered rightly"
    plot.write_text(line_chart(title, _series(rows, bound), "new kinds of fruit", [row.classes for row in rows]))
    seconds = round(time.perf_counter() - start, 1)
    bytes_of = {name: footprint(learners[name]) for name in COUNTED}
    if json:
        show.as_json({"model": found.name, "seed": seed, "rows": [asdict(row) for row in rows], "joint": bound,
                      "size": side, "bytes": bytes_of, "seconds": seconds, "plot": str(plot)})  # fmt: skip
        return
    _print(rows, bound, bytes_of, seconds, plot)


def coded_in(learners: dict[str, Learner], images: np.ndarray) -> tuple[dict[str, Latents], dict[str, float]]:
    """Codes of pictures by their name, and seconds. The network runs once for all strategies that share latents."""
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
    latents, network = coded_in(learners, experience.images)
    accuracy, seen, seconds = {}, {}, {}
    for done, (strategy, learner) in enumerate(learners.items(), 1):
        bar.part(f"experience {number}: {STRATEGIES[strategy].title}", done, len(learners) + 1)
        kind = learner.strategy.latents
        (learned,) = follow(learner, [(latents[kind], labels)], test[kind], truth)
        seconds[strategy] = round(network[kind] + learned.seconds, 2)
        accuracy[strategy], seen[strategy] = learned.evaluation.accuracy, learned.evaluation.seen_accuracy
    classes = names[list(experience.classes)].tolist()
    return Row(experience.index, classes, len(labels), accuracy, seen, seconds)


def together(
    found: zoo.Model, side: int, data: Any, names: np.ndarray, truth: np.ndarray, seed: int, bar: show.Bar
) -> float:
    """Accuracy after learning all classes at once."""
    learner = Learner.from_pretrained(found, strategy="naive", epochs=JOINT_EPOCHS, seed=seed, size=side)
    everything = [(data.train_images, names[data.train_labels])]
    (learned,) = follow(learner, everything, data.test_images, truth, progress=bar)
    return learned.evaluation.accuracy


def _titles(rows: list[Row]) -> dict[str, str]:
    return {STRATEGIES[name].title: name for name in rows[0].accuracy}


def _series(rows: list[Row], bound: float | None) -> dict[str, list[float]]:
    """Best first; with words for who does not know the names."""
    series = {
        f"{name} ({WORDS[key]})" if key in WORDS else name: [row.accuracy[key] for row in rows]
        for name, key in _titles(rows).items()
    }
    series |= {} if bound is None else {"all at once (joint)": [bound] * len(rows)}
    return dict(sorted(series.items(), key=lambda item: -item[1][-1]))


def _print(rows: list[Row], bound: float | None, bytes_of: dict[str, dict], seconds: float, plot: Path) -> None:
    titles = dict(sorted(_titles(rows).items(), key=lambda item: -rows[-1].accuracy[item[1]]))
    body = [("\n".join(row.classes), *(f"{100 * row.accuracy[key]:.1f} %" for key in titles.values())) for row in rows]
    taken = ", ".join(f"{STRATEGIES[name].title} {sum(row.seconds[name] for row in rows):.1f} s" for name in COUNTED)
    joint = [] if bound is None else [f"All classes at once (joint training of tail and head): {100 * bound:.1f} %."]
    sizes = [
        show.table(
            f"bytes, {STRATEGIES[strategy].title}",
            ("", ""),
            [(name.replace("_", " "), show.size(count)) for name, count in counted.items()],
        )
        for strategy, counted in bytes_of.items()
    ]
    show.say(
        show.table("accuracy on all 14 classes after each experience", ("new classes", *titles), body),
        *joint,
        f"Learned in: {taken}.",
        *sizes,
        f"{seconds:.0f} s in all. Chart: {plot}",
    )
