"""bitreplay evaluate STATE FOLDER: test a state on labelled pictures."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from bitreplay.arguments import escaped
from bitreplay.cli import matrix, options, show
from bitreplay.cli.corrections import classes_named
from bitreplay.cli.predictions import common_folder
from bitreplay.cli.reading import SkippedFiles, read_labelled
from bitreplay.data.named import load_dataset
from bitreplay.data.pictures.picture import refuse
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name
from bitreplay.modelfile.container import write_whole


def evaluate(
    state: options.State,
    data: Annotated[
        str,
        typer.Argument(
            help="Folder with one folder per class; or a data set or .npz file, of which test pictures are used.",
            metavar="FOLDER",
        ),
    ],
    model: options.ModelFile = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst predictions to list.")] = 10,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the confusion matrix to a .png, .svg or .pdf file (needs matplotlib).")
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Test a state: accuracy, also per class, the confusion matrix, and the pictures with the worst predictions."""
    if plot is not None:
        _check_plot(plot)
    learner = Learner.load(state, model)
    skipped = SkippedFiles(skip_unreadable)
    with show.bar(quiet=json) as bar:
        latents, labels, names = _read(data, learner, skipped, bar)
    skipped.end()
    evaluation = learner.evaluate_encoded(latents, classes_named(learner, labels))
    wrong = _worst(evaluation, learner.labels, learner.predict_proba_encoded(latents), names)[:worst]
    if plot is not None:
        _draw(evaluation, plot, state.name)
    if json:
        show.as_json({
            "state": str(state), "samples": evaluation.samples, "accuracy": evaluation.accuracy,
            "seen_accuracy": evaluation.seen_accuracy,
            "per_class": {str(name): share for name, share in evaluation.per_class.items()},
            "labels": evaluation.labels, "confusion": evaluation.confusion.tolist(), "worst": wrong,
            "plot": None if plot is None else str(plot), "skipped": skipped.sentences,
        })  # fmt: skip
        return
    _print_result(evaluation, learner.labels, wrong, plot)


def _read(data: str, learner: Learner, skipped: SkippedFiles, bar: show.Bar) -> tuple[NDArray, list[str], list[str]]:
    """Latents of pictures, their classes and their names."""
    side = learner.strategy.side
    if Path(data).is_dir():
        latents, labels, paths = read_labelled(Path(data), None, side, skipped, bar.reading, learner.encode)
        return latents, labels, [str(path) for path in paths]
    dataset = load_dataset(data, None, side, refuse).data
    names = [dataset.class_names[number] for number in dataset.test_labels]
    return learner.encode(dataset.test_images), names, [f"{data} test {number}" for number in range(len(names))]


def _worst(
    evaluation: Evaluation, learned: list[Name], shares: NDArray[np.float64], names: list[str]
) -> list[dict[str, Any]]:
    """Wrong predictions, by rising probability of the true class, then by falling probability of the prediction."""
    column = {label: number for number, label in enumerate(learned)}
    rows = []
    for k in np.flatnonzero(evaluation.answers != evaluation.truth).tolist():
        truth, share = evaluation.labels[evaluation.truth[k]], shares[k]
        answered = evaluation.answers[k] < len(evaluation.labels)
        answer = evaluation.labels[evaluation.answers[k]] if answered else None
        probability = 0.0 if answer is None else float(share[column[answer]])
        probability_of_truth = float(share[column[truth]]) if truth in column else 0.0
        rows.append({"image": names[k], "truth": truth, "label": answer, "probability": round(probability, 6),
                      "probability_of_truth": round(probability_of_truth, 6)})  # fmt: skip
    return sorted(rows, key=lambda row: (row["probability_of_truth"], -row["probability"]))


def _check_plot(plot: Path) -> None:
    from bitreplay.plots.figure import figure

    figure(1, 1)
    if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{plot} is not a .png, .svg or .pdf file.")
    if plot.is_dir() or not plot.parent.is_dir():
        raise ValueError(f"The matrix cannot be drawn to {plot}; expected a file in an existing folder.")


def _draw(evaluation: Evaluation, plot: Path, title: str) -> None:
    import io

    from bitreplay import plots

    image = io.BytesIO()
    plots.confusion(evaluation, title).savefig(image, format=plot.suffix[1:].lower())
    write_whole(plot, image.getvalue())


def _print_result(evaluation: Evaluation, learned: list[Name], wrong: list[dict[str, Any]], plot: Path | None) -> None:
    counts = evaluation.confusion
    tested = np.flatnonzero(counts.sum(axis=1)).tolist()
    rows = [
        (escaped(label), int(counts[row].sum()), f"{100 * evaluation.per_class[label]:.1f} %",
         _taken_for(evaluation, counts[row], row))
        for row in tested for label in [evaluation.labels[row]]
    ]  # fmt: skip
    seen = "" if evaluation.seen_accuracy == evaluation.accuracy else (
        f", {100 * evaluation.seen_accuracy:.1f} % of those of learned classes"
    )  # fmt: skip
    unlearned = [label for label in evaluation.labels if label not in learned]
    parts: list[Any] = [
        f"{100 * evaluation.accuracy:.1f} % of {show.counted(evaluation.samples, 'picture', 'pictures')} "
        f"of {show.counted(len(tested), 'class', 'classes')} are right{seen}.",
        *([f"Classes that were never learned: {show.names(unlearned)}."] if unlearned else []),
        show.table("classes", ("class", "pictures", "right", "most often taken for"), rows),
        *matrix.lines(evaluation, shutil.get_terminal_size().columns),
    ]
    if wrong:
        shared, names = common_folder([one["image"] for one in wrong])
        body = [(name, _sure(one["truth"], one["probability_of_truth"]), _sure(one["label"], one["probability"]))
                for name, one in zip(names, wrong, strict=True)]  # fmt: skip
        columns = ("picture", "true class, probability", "predicted class, probability")
        parts.append(show.table(f"worst predictions{f', in {shared}' if shared else ''}", columns, body, text=3))
    show.say(*parts, *([f"Confusion matrix: {plot}"] if plot is not None else []))


def _sure(label: Name | None, share: float) -> str:
    return "unknown" if label is None else f"{escaped(label)} {100 * share:.1f} %"


def _taken_for(evaluation: Evaluation, counts: NDArray[np.int64], row: int) -> str:
    others = counts.copy()
    others[row] = 0
    confused = int(others.argmax())
    name = "unknown" if confused == len(evaluation.labels) else escaped(evaluation.labels[confused])
    return f"{name} ({others[confused]})" if others[confused] else ""
