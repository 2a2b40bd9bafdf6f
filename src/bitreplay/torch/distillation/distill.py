"""Pre-train binary networks without labels: `distill` for programs, `main` for the command line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from bitreplay.torch.distillation.loop import Distillation
from bitreplay.torch.distillation.options import parser
from bitreplay.torch.distillation.pool import PicturePool
from bitreplay.torch.distillation.pupil import Pupil
from bitreplay.torch.distillation.recipe import DistillationRecipe
from bitreplay.torch.models import build
from bitreplay.torch.models.efficientnet_lite import CLASSES, pretrained
from bitreplay.torch.pretraining.world import chosen_device
from bitreplay.torch.weights import digest_of, export_parts, load_weights

TOLD = ("views", "seconds", "recipe", "date", "agreement", "pool_sha256", "before")


def pupil_of(name: str, out: Path, init: Path | None = None, **options: int | None) -> Pupil:
    """A fresh network, or one that goes on from the weights of a file; layers that the file lacks are fresh.

    `options` are the model's: `size` and `top` of the QuickNets.
    """
    asked = {key: value for key, value in options.items() if value is not None}
    try:
        network = build(name, CLASSES, **asked)
    except TypeError:
        raise ValueError(f"{name} takes no {' and no '.join(asked)}; the QuickNets do.") from None
    if init is None:
        return Pupil(name, network, out, asked)
    first, note = load_weights(init)
    if note["model"] != name:
        raise ValueError(f"{init} holds {note['model']}, not {name}.")
    mine = network.state_dict()
    fitting = {key: x for key, x in first.state_dict().items() if key in mine and mine[key].shape == x.shape}
    if not fitting:
        raise ValueError(f"{init} holds {name} of other widths.")
    network.load_state_dict(mine | fitting)
    before = {"sha256": digest_of(init), "fresh": sorted(set(mine) - set(fitting))}
    return Pupil(name, network, out, asked, before | {key: note.get(key) for key in TOLD})


def distill(
    pupils: Sequence[Pupil],
    data: str | Path,
    recipe: DistillationRecipe,
    *,
    side: int = 192,
    teacher_weights: str | Path | None = None,
    export: str | Path | None = None,
    device: str | None = None,
    compiled: bool | None = None,
    workers: int = 8,
    checkpoint_seconds: float = 300.0,
    say: Callable[[str], None] = print,
) -> list[dict[str, Any]]:
    """Train the pupils on the pictures at `data`, write their weights, return the notes that the files carry."""
    began = time.perf_counter()
    chosen = chosen_device(device, 0)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(recipe.seed)
    pool = PicturePool(Path(data), side, chosen, workers=workers)
    try:
        teacher = pretrained(recipe.teacher, None if teacher_weights is None else Path(teacher_weights))
        gpu = chosen.type == "cuda"
        run = Distillation(
            recipe, teacher, pupils, pool,
            compiled=gpu if compiled is None else compiled, checkpoint_seconds=checkpoint_seconds, began=began,
        )  # fmt: skip
        run.warm_up()
        say(f"{time.perf_counter() - began:.0f} s: ready, {len(pool.images)} pictures")
        for report in run.walk():
            if report.step % 200 == 0:
                each = zip(pupils, report.losses, strict=True)
                told = ", ".join(f"{pupil.name} {kl:.3f} {apart:.3f}" for pupil, (kl, apart) in each)
                say(
                    f"{run.elapsed():.0f} s: {report.views} views, {report.progress:.3f}, rate {report.rate:.2e}, "
                    f"{report.pictures} pictures, {report.views_a_second:.0f} views/s: {told}"
                )
        notes = run.finish(
            {
                "classes": CLASSES,
                "data": Path(data).name,
                "torch": torch.__version__,
                "date": time.strftime("%Y-%m-%d", time.gmtime()),
            }
        )
    finally:
        pool.close()
    for pupil, note in zip(pupils, notes, strict=True):
        if export is not None:
            export_parts(Path(export), pupil.out.stem, pupil.model, note, half=True)
        say(f"{pupil.out}: {note['views']} views, agrees with the teacher in {note['agreement']['top1']:.1f} %")
    return notes


def main(arguments: list[str] | None = None) -> list[dict[str, Any]]:
    args = vars(parser().parse_args(arguments))
    settings = {f.name: args[f.name] for f in fields(DistillationRecipe) if args.get(f.name) is not None}
    init = None if args["init"] is None else Path(args["init"])
    first = {name: Path(file) for name, file in args["also_init"]}
    pupils = [pupil_of(args["model"], Path(args["out"]), init, size=args["size"], top=args["top"])]
    pupils += [pupil_of(name, Path(file), first.get(name)) for name, file in args["also"]]
    notes = distill(
        pupils,
        args["data"],
        DistillationRecipe(**settings),
        side=args["side"],
        teacher_weights=args["teacher_weights"],
        export=args["export"],
        device=args["device"],
        compiled=None if args["compile"] is None else args["compile"] == "on",
        workers=args["workers"],
        checkpoint_seconds=args["checkpoint_seconds"],
        say=(lambda text: None) if args["json"] else lambda text: print(text, flush=True),
    )
    if args["json"]:
        print(json.dumps(notes))
    return notes


if __name__ == "__main__":
    try:
        main()
    except (ValueError, OSError, FloatingPointError) as error:
        sys.exit(str(error) or type(error).__name__)
