"""bitreplay evaluate STATE FOLDER: how well a state does on pictures whose classes are known."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from bitreplay.arguments import escaped
from bitreplay.cli import matrix, options, show
from bitreplay.cli.answers import apart
from bitreplay.cli.corrections import all_known
from bitreplay.cli.reading import SkippedFiles, labelled
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
            help="A folder a class in it; or a data set or a .npz file, whose test pictures count.", metavar="FOLDER"
        ),
    ],
    model: options.ModelFile = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst answers to name.")] = 10,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the confusion matrix: a .png, .svg or .pdf file (needs matplotlib).")
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Test a state: accuracy, per class, what is taken for what, and the worst pictures by name."""
    if plot is not None:
        _check_place(plot)
    learner = Learner.load(state, model)
    skipped = SkippedFiles(skip_unreadable)
    with show.bar(quiet=json) as bar:
        images, labels, names = _read(data, learner.strategy.side, skipped, bar)
    skipped.end()
    latents = learner.encode(images)
    evaluation = learner.evaluate_encoded(latents, all_known(learner, labels))
    wrong = _worst(evaluation, learner.labels, learner.predict_proba_encoded(latents), names)[:worst]
    if plot is not None:
        _draw(evaluation, plot, state.name)
    if json:
        show.as_json({
            "state": str(state), "samples": evaluation.samples, "accuracy": evaluation.accuracy,
            "seen_accuracy": evaluation.seen_accuracy,
            "per_class": {str(name): share for name, share in evaluation.per_class.items()},
            "labels": evaluation.labels, "confusion": evaluation.confusion.tolist(), "worst": wrong,
            "plot": None if plot is None else str(plot), "left_out": skipped.sentences,
        })  # fmt: skip
        return
    _tell(evaluation, learner.labels, wrong, plot)


def _read(data: str, side: int, skipped: SkippedFiles, bar: show.Bar) -> tuple[NDArray[np.uint8], list[str], list[str]]:
    """Pictures, their classes, and names to call them by."""
    if Path(data).is_dir():
        images, labels, paths = labelled(Path(data), None, side, skipped, bar.reading)
        return images, labels, [str(path) for path in paths]
    found = load_dataset(data, None, side, refuse).data
    names = [found.class_names[number] for number in found.test_labels]
    return found.test_images, names, [f"{data} test {number}" for number in range(len(names))]


def _worst(
    evaluation: Evaluation, learned: list[Name], shares: NDArray[np.float64], names: list[str]
) -> list[dict[str, Any]]:
    """Wrong answers, those first that gave the true class the least, and of equal ones the surest."""
    column = {label: number for number, label in enumerate(learned)}
    found = []
    for k in np.flatnonzero(evaluation.answers != evaluation.truth).tolist():
        truth, share = evaluation.labels[evaluation.truth[k]], shares[k]
        answered = evaluation.answers[k] < len(evaluation.labels)
        answer = evaluation.labels[evaluation.answers[k]] if answered else None
        given = 0.0 if answer is None else float(share[column[answer]])
        true = float(share[column[truth]]) if truth in column else 0.0
        found.append({"image": names[k], "truth": truth, "label": answer, "probability": round(given, 6),
                      "probability_of_truth": round(true, 6)})  # fmt: skip
    return sorted(found, key=lambda one: (one["probability_of_truth"], -one["probability"]))


def _check_place(plot: Path) -> None:
    from bitreplay.plots.figure import figure

    figure(1, 1)
    if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{plot} is no .png, .svg or .pdf file: its suffix says how the matrix is drawn.")
    if plot.is_dir() or not plot.parent.is_dir():
        raise ValueError(f"The matrix cannot be drawn to {plot}: name a file in a folder that exists.")


def _draw(evaluation: Evaluation, plot: Path, title: str) -> None:
    import io

    from bitreplay import plots

    drawn = io.BytesIO()
    plots.confusion(evaluation, title).savefig(drawn, format=plot.suffix[1:].lower())
    write_whole(plot, drawn.getvalue())


def _tell(evaluation: Evaluation, learned: list[Name], wrong: list[dict[str, Any]], plot: Path | None) -> None:
    counts = evaluation.confusion
    tested = np.flatnonzero(counts.sum(axis=1)).tolist()
    rows = [
        (escaped(label), int(counts[row].sum()), f"{100 * evaluation.per_class[label]:.1f} %",
         _taken_for(evaluation, counts[row], row))
        for row in tested for label in [evaluation.labels[row]]
    ]  # fmt: skip
    seen = "" if evaluation.seen_accuracy == evaluation.accuracy else (
        f", {100 * evaluation.seen_accuracy:.1f} % on those of learned classes"
    )  # fmt: skip
    never = [label for label in evaluation.labels if label not in learned]
    parts: list[Any] = [
        f"{100 * evaluation.accuracy:.1f} % of {show.counted(evaluation.samples, 'picture', 'pictures')} "
        f"of {show.counted(len(tested), 'class', 'classes')} are right{seen}.",
        *([f"Never learned, and so never right: {show.names(never)}."] if never else []),
        show.table("classes", ("class", "pictures", "right", "most often taken for"), rows),
        *matrix.lines(evaluation, shutil.get_terminal_size().columns),
    ]
    if wrong:
        shared, names = apart([one["image"] for one in wrong])
        body = [(name, _sure(one["truth"], one["probability_of_truth"]), _sure(one["label"], one["probability"]))
                for name, one in zip(names, wrong, strict=True)]  # fmt: skip
        columns = ("picture", "it is, and was given", "it was taken for, by")
        parts.append(show.table(f"worst answers{f', in {shared}' if shared else ''}", columns, body, text=3))
    show.say(*parts, *([f"Confusion matrix: {plot}"] if plot is not None else []))


def _sure(label: Name | None, share: float) -> str:
    return "unknown" if label is None else f"{escaped(label)} {100 * share:.1f} %"


def _taken_for(evaluation: Evaluation, counts: NDArray[np.int64], row: int) -> str:
    others = counts.copy()
    others[row] = 0
    most = int(others.argmax())
    name = "unknown" if most == len(evaluation.labels) else escaped(evaluation.labels[most])
    return f"{name} ({others[most]})" if others[most] else ""
