"""bitreplay run: a whole protocol, class by class (nc) or instance by instance (ni), into a run folder; resumable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import dropwhile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bitreplay import zoo
from bitreplay.cli import options, saving, show
from bitreplay.cli.config import Config
from bitreplay.cli.footprint import footprint
from bitreplay.cli.runfolder import RunFolder, default_path
from bitreplay.data import splitting
from bitreplay.data.named import SETS, Source, load_dataset
from bitreplay.data.pictures.picture import refuse
from bitreplay.evaluation import metrics
from bitreplay.learner import Learner
from bitreplay.learning.samples import Latents
from bitreplay.settings import Settings
from bitreplay.statefile import Lock
from bitreplay.strategies import STRATEGIES
from bitreplay.streams.follow import Step, follow
from bitreplay.streams.scenario import Experience, grouped, new_classes, new_instances


def run(
    data: Annotated[str, typer.Option(help=f"{', '.join(SETS)}, a folder with one folder per class, or a .npz file.")],
    scenario: Annotated[str, typer.Option(help="nc: new classes; ni: new instances.")] = "nc",
    model: options.Model = options.DEFAULT_MODEL,
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
    seed: Annotated[int, typer.Option(help="Seed of the order of classes or samples and everything else random.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Training images per class: the first ones.", show_default="all")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the data set.", show_default="BITREPLAY_DATA")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Run folder; an interrupted run continues from it.", show_default="a folder in runs/"),
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    ray: options.Ray = None,
    config_file: Config = None,
    json: options.Json = False,
) -> None:
    """Learn a stream of experiences and evaluate after each; config, rows, plot and state go to the run folder."""
    specified = options.settings_in(locals())
    if scenario not in ("nc", "ni"):
        raise ValueError(f"scenario must be nc or ni, got {scenario!r}.")
    network = zoo.find(model)
    source = load_dataset(data, data_dir, size or network.size, show.skipped if skip_unreadable else refuse)
    if size == network.size:
        specified.pop("size", None)
    settings = Settings.of(**specified)
    if augment is None:
        settings = settings.changed(augment=source.augment and STRATEGIES[settings.strategy].augments)
    if source.splits and not json:
        for sentence in splitting.describe(source.splits):
            show.say(sentence)
    config: dict[str, Any] = {
        "data": data, "scenario": scenario, "limit": limit, "model": network.name,
        "model_checksum": network.digest, "settings": settings.to_dict(),
    }  # fmt: skip
    if source.splits:
        config["split"] = "series"
    experiences = stream(source, scenario, limit, settings.seed)
    folder = RunFolder(out or default_path(config), config)
    with Lock(folder.state) as lock, show.bar(quiet=json) as bar:
        rows, learner = walk(source, experiences, network, settings, folder, lock, bar, quiet=json, ray=ray)
    with saving.reporting(f"{folder.path} is complete."):
        _print_result(folder, config, source, rows, learner, json)


def _print_result(
    folder: RunFolder, config: dict[str, Any], source: Source, rows: list[dict[str, Any]], learner: Learner, json: bool
) -> None:
    data, scenario, model = config["data"], config["scenario"], config["model"]
    summary = {"folder": str(folder.path), "final": rows[-1]["accuracy"], "bytes": footprint(learner),
               "hash": learner.state_hash()} | transfer(rows, scenario)  # fmt: skip
    plot = folder.plot(f"{data} {scenario} with {model}", rows)
    if json:
        splits = [asdict(split) for split in source.splits]
        show.as_json({"config": config, "splits": splits, "rows": rows, "plot": str(plot)} | summary)
        return
    body = [
        (row["experience"] + 1, len(row["classes"]), row["pictures"], f"{100 * row['accuracy']:.2f} %",
         f"{100 * row['seen_accuracy']:.2f} %", show.size(row["memory_bytes"]), row["seconds"])
        for row in rows
    ]  # fmt: skip
    columns = ("experience", "classes", "pictures", "accuracy", "on classes seen", "stored", "seconds")
    shares = ", ".join(f"{name} {100 * summary[name]:.2f} %" for name in ("final", *transfer(rows, scenario)))
    title = f"{data} {scenario}, {model}, {learner.settings.strategy}"
    show.say(show.table(title, columns, body), shares, f"Run folder: {folder.path}")


def walk(
    source: Source, experiences: Iterator[Experience], model: zoo.Model, settings: Settings, folder: RunFolder,
    lock: Lock, bar: show.Bar, quiet: bool, ray: str | None = None,
) -> tuple[list[dict[str, Any]], Learner]:  # fmt: skip
    """Learns the rest of the stream, from the folder's state on."""
    exists = folder.state.exists()
    learner = Learner.load(folder.state, model) if exists else Learner.from_pretrained(model, **settings.to_dict())
    rows = folder.rows(learner.experiences)
    names = np.array(source.data.class_names)
    truth = names[source.data.test_labels]
    workers = None if ray is None else _workers(ray)
    learn = None if workers is None else partial(workers.learn, learner, progress=bar)
    encode = learner.encode if workers is None else partial(workers.encode, learner)
    test = Latents(encode(source.data.test_images))
    remaining = dropwhile(lambda experience: experience.index < len(rows), experiences)
    if len(rows) < learner.experiences:  # interrupted between the state and its row
        _, labels = next(remaining)
        evaluation = learner.evaluate_encoded(test.values, truth)
        step = Step(len(rows), tuple(set(names[labels].tolist())), evaluation, len(labels))
        rows.append(as_row(step, names, learner))
        folder.write_rows(rows)
    pairs = ((images, names[labels]) for images, labels in remaining)
    for step in follow(learner, pairs, test, truth, progress=bar, learn=learn):
        with saving.uninterrupted(last=False):
            learner.save(folder.state, lock=lock)
        rows.append(as_row(step, names, learner))
        folder.write_rows(rows)
        if not quiet:
            accuracy = f"{100 * step.evaluation.accuracy:.2f} %"
            show.say(f"{step.number + 1}. accuracy {accuracy} ({step.seconds:.2f} s)")
    return rows, learner


def _workers(address: str) -> Any:
    from bitreplay.cluster import Workers

    return Workers(address)


def as_row(step: Step, names: np.ndarray, learner: Learner) -> dict[str, Any]:
    result, order = step.evaluation, names.tolist()
    return {
        "experience": step.number, "classes": sorted(step.classes, key=order.index), "pictures": step.pictures,
        "accuracy": result.accuracy, "seen_accuracy": result.seen_accuracy, "per_class": result.per_class,
        "memory_bytes": learner.memory_bytes, "seconds": round(step.seconds, 2),
    }  # fmt: skip


def stream(source: Source, scenario: str, limit: int | None, seed: int) -> Iterator[Experience]:
    if scenario == "ni" and source.sessions is not None:
        if limit is not None:
            raise ValueError("--limit cannot be used with ni on this set: its experiences are whole sessions.")
        return grouped(source.data, source.sessions)
    data, rng = source.data if limit is None else source.data.limit(limit), np.random.default_rng(seed)
    if scenario == "nc":
        return new_classes(data, source.nc_sizes, rng)
    return new_instances(data, source.ni_count, rng)


def transfer(rows: list[dict[str, Any]], scenario: str) -> dict[str, float]:
    """Forgetting and backward transfer over the classes of each experience; defined for new classes only."""
    if scenario != "nc":
        return {}
    table = metrics.experience_table([row["classes"] for row in rows], [row["per_class"] for row in rows])
    return {"forgetting": metrics.forgetting(table), "backward_transfer": metrics.backward_transfer(table)}
