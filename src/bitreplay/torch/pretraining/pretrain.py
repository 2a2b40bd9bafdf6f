"""Pre-train a model: `pretrain` for programs, `main` for the command line.

Several processes: torchrun --nproc-per-node 2 -m bitreplay.torch.pretraining.pretrain MODEL --data DIR --out FILE
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from bitreplay.torch.arrays import Arrays, open_dataset
from bitreplay.torch.models import build, check_widths, input_size
from bitreplay.torch.pretraining.checkpoint import checkpoint_of
from bitreplay.torch.pretraining.display import Display
from bitreplay.torch.pretraining.first_weights import start_from
from bitreplay.torch.pretraining.options import parser
from bitreplay.torch.pretraining.pretraining_loop import Pretraining
from bitreplay.torch.pretraining.recipe import default_recipe
from bitreplay.torch.pretraining.teacher_answers import answers_of
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.weights import digest_of, export_parts, load_weights

MIN_SIDE = 64


def pretrain(
    model: str,
    data: str | Path,
    out: str | Path,
    *,
    teacher: str | Path | None = None,
    init: str | Path | None = None,
    export: str | Path | None = None,
    widths: Sequence[int] | None = None,
    device: str | None = None,
    fresh: bool = False,
    quiet: bool = False,
    checkpoint_seconds: float = 60.0,
    **settings: Any,
) -> dict[str, Any]:
    """Pre-train a model and write its weights.

    A run that was killed resumes from `out`.checkpoint. Under torchrun the processes share the work, and the first one
    alone prints and writes.

    Parameters
    ----------
    model : str
        The name of a network, such as "react18".
    data : str or Path
        Tiny-ImageNet (folder, .zip or arrays) or a folder with one folder per class.
    out : str or Path
        The file for the weights.
    teacher : str or Path, optional
        Weights to learn from.
    init : str or Path, optional
        Weights to start from, of the same model, or of react18 for react18_64.
    export : str or Path, optional
        A folder for the weights in parts that are small enough to send.
    widths : sequence of int, optional
        Channels of each group of layers, for another size of model.
    device : str, optional
        "cpu", "cuda" or "cuda:NUMBER"; by default a GPU when there is one.
    fresh : bool, default False
        Ignore a checkpoint.
    quiet : bool, default False
        Print nothing.
    checkpoint_seconds : float, default 60
        The time between two checkpoints.
    **settings
        Fields of `Recipe`; None keeps the model's default.

    Returns
    -------
    dict
        The note of the file: accuracy, epochs, recipe and more.
    """
    began = time.perf_counter()
    recipe, out = default_recipe(model, **settings), Path(out)
    check_outputs(out, export)
    if widths is not None:
        check_widths(model, widths)

    def train(world: World, display: Display) -> dict[str, Any]:
        torch.backends.cudnn.benchmark = True
        torch.manual_seed(recipe.seed)
        dataset = open_dataset(Path(data), max(MIN_SIDE, input_size(model)))
        classes = len(dataset.class_names)
        options: dict[str, Any] = {} if widths is None else {"widths": list(widths)}
        network, before = build(model, classes, **options), None
        if init is not None:
            network, before = start_from(Path(init), model, classes, options)
        tutor, taught = load_weights(Path(teacher)) if teacher is not None else (None, {})
        views = Arrays.of(dataset.train_images, dataset.train_labels, world.device)
        val = Arrays.of(dataset.test_images, dataset.test_labels, world.device)
        if fresh and world.rank == 0:
            checkpoint_of(out).unlink(missing_ok=True)
        origin = {
            "teacher_sha256": None if teacher is None else digest_of(Path(teacher)),
            "init_sha256": None if init is None else digest_of(Path(init)),
            "data": Path(data).name,
            "images": len(views),
        }
        run = Pretraining(
            recipe,
            network,
            views,
            val,
            out,
            world,
            tutor,
            checkpoint_seconds=checkpoint_seconds,
            began=began,
            origin=origin,
            reserve=30.0 if recipe.average else 15.0,
            answers_at=None if teacher is None else answers_of(Path(teacher)),
            say=display.say,
        )
        for event in run.walk():
            display.show(event)
        note = run.finish(
            {
                "classes": classes,
                "options": options,
                "class_names": list(dataset.class_names),
                "data": Path(data).name,
                "images": len(views),
                "teacher_top1": taught.get("top1"),
                "before": before,
                "torch": torch.__version__,
                "date": time.strftime("%Y-%m-%d", time.gmtime()),
            }
        )
        if export is not None and world.rank == 0:
            note["parts"] = [path.name for path in export_parts(Path(export), model, run.model, note)]
        display.say(f"{out}: {model}, {note['epochs']} epochs, top-1 {note['top1']:.2f} %")
        return note

    # A function of its own: what it builds on the group of processes is gone when the block ends.
    with World.join(device) as world, Display(model, quiet=quiet or world.rank > 0) as display:
        return train(world, display)


def check_outputs(out: Path, export: str | Path | None) -> None:
    """Refuse paths that could not be written at the end of the run."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder; expected a file to write.")
    if export is not None and Path(export).is_file():
        raise ValueError(f"{export} is a file; expected a folder for the parts.")


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    args = vars(parser().parse_args(arguments))
    as_json = args.pop("json")
    note = pretrain(**args, quiet=as_json)
    if as_json and World.rank_here() == 0:
        print(json.dumps(note))
    return note


def program() -> int:
    """`main` as a process: an error is one sentence and exit code 1."""
    try:
        main()
    except (ValueError, OSError, FloatingPointError) as error:
        print(str(error) or type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(program())
