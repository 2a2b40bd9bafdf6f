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
from torch import Tensor

from bitreplay import zoo
from bitreplay.torch.convert.restore import restore
from bitreplay.torch.distillation.distillation_loop import Distillation
from bitreplay.torch.distillation.distillation_options import parser
from bitreplay.torch.distillation.distillation_recipe import DistillationRecipe
from bitreplay.torch.distillation.pool import PicturePool
from bitreplay.torch.distillation.student import Student
from bitreplay.torch.models import build
from bitreplay.torch.models.efficientnet_lite import CLASSES, EfficientNetLite0, pretrained, weights_of
from bitreplay.torch.models.efficientnet_tiny import EfficientNetTiny
from bitreplay.torch.models.react18 import ReActBlock
from bitreplay.torch.pretraining.first_weights import spread
from bitreplay.torch.pretraining.world import resolve_device
from bitreplay.torch.weights import digest_of, export_parts, load_weights

IMAGENET = "efficientnet-lite0"
NOTED = ("weights", "views", "seconds", "recipe", "date", "agreement", "pool_sha256", "before")


def first_weights(init: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Weights by name, and what is known of their training with their sha256: of a file, of a shipped network, or
    ImageNet's of EfficientNet-Lite0."""
    if init == IMAGENET:
        network = EfficientNetLite0(CLASSES)
        network.load_pretrained()
        digest, weights = digest_of(weights_of(IMAGENET)), f"ImageNet, {IMAGENET}"
        return network.state_dict(), {"model": "efficientnet_lite0", "sha256": digest, "weights": weights}
    if not zoo.knows(str(init)):
        module, note = load_weights(Path(init))
        return module.state_dict(), {**note, "sha256": digest_of(Path(init))}
    model = zoo.find(init)
    note = {**model.about["training"], "sha256": model.digest}
    module = build(note["model"], CLASSES, **note.get("options", {}))
    missing = restore(module, model.graph)
    return {key: x for key, x in module.state_dict().items() if key not in missing}, note


def make_student(
    name: str, out: Path, init: str | Path | None = None, head: str | Path | None = None, **options: int | None
) -> Student:
    """A fresh network, or one with the weights of a file or of a shipped network, which may be the one it `inherits`.

    Residual blocks that the file lacks begin as the identity, other layers fresh; a 3x3 stem is spread over a 5x5 one.
    A shipped network has no head: `head` names weights of the same model to take one from. `options` are those of the
    model: `size` of the QuickNets and of react_tiny, `top` of the QuickNets.
    """
    chosen = {key: value for key, value in options.items() if value is not None}
    try:
        network = build(name, CLASSES, **chosen)
    except TypeError:
        raise ValueError(f"{name} takes no {' and no '.join(chosen)}.") from None
    if init is None:
        return Student(name, network, out, chosen)
    given, note = first_weights(init)
    if isinstance(network, EfficientNetTiny) and note["model"] == network.inherits:
        given = network.inherited(given)
    elif note["model"] != name:
        raise ValueError(f"{init} holds {note['model']}, not {name}.")
    head_note: dict[str, Any] = {}
    if head is not None:
        others, head_note = first_weights(head)
        if head_note["model"] != name:
            raise ValueError(f"{head} holds {head_note['model']}, not {name}.")
        given |= {key: x for key, x in others.items() if key.startswith("head.")}
    mine = network.state_dict()
    if "stem.0.weight" in mine and (mine["stem.0.weight"].shape[-1], given["stem.0.weight"].shape[-1]) == (5, 3):
        given["stem.0.weight"] = spread(given["stem.0.weight"])
    fitting = {key: x for key, x in given.items() if key in mine and mine[key].shape == x.shape}
    if not fitting:
        raise ValueError(f"{init} holds {name} of other widths.")
    network.load_state_dict(mine | fitting)
    for prefix, module in network.named_modules():
        if isinstance(module, ReActBlock) and not any(key.startswith(prefix + ".") for key in fitting):
            module.start_as_identity()
    before = {"sha256": note["sha256"], "fresh": sorted(set(mine) - set(fitting))}
    if head_note:
        before["head"] = {"sha256": head_note["sha256"], "weights": head_note.get("weights")}
    return Student(name, network, out, chosen, before | {key: note.get(key) for key in NOTED})


def distill(
    students: Sequence[Student],
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
    """Train the students on the pictures at `data`, write their weights, return the notes that the files carry."""
    began = time.perf_counter()
    torch_device = resolve_device(device, 0)
    torch.backends.cudnn.benchmark = any(student.binary for student in students)  # a search costs depthwise layers more
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(recipe.seed)
    pool = PicturePool(Path(data), side, torch_device, workers=workers)
    try:
        teacher = pretrained(recipe.teacher, None if teacher_weights is None else Path(teacher_weights))
        gpu = torch_device.type == "cuda"
        run = Distillation(
            recipe, teacher, students, pool,
            compiled=gpu if compiled is None else compiled, checkpoint_seconds=checkpoint_seconds, began=began,
        )  # fmt: skip
        run.warm_up()
        say(f"{time.perf_counter() - began:.0f} s: ready, {len(pool.images)} pictures")
        for report in run.walk():
            if report.step % 200 == 0:
                pairs = zip(students, report.losses, strict=True)
                losses = ", ".join(f"{student.name} {kl:.3f} {apart:.3f}" for student, (kl, apart) in pairs)
                say(
                    f"{run.elapsed():.0f} s: {report.views} views, {report.progress:.3f}, rate {report.rate:.2e}, "
                    f"{report.pictures} pictures, {report.views_a_second:.0f} views/s: {losses}"
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
    for student, note in zip(students, notes, strict=True):
        if export is not None:
            export_parts(Path(export), student.out.stem, student.model, note, half=True)
        say(f"{student.out}: {note['views']} views, agrees with the teacher in {note['agreement']['top1']:.1f} %")
    return notes


def main(arguments: list[str] | None = None) -> list[dict[str, Any]]:
    args = vars(parser().parse_args(arguments))
    settings = {f.name: args[f.name] for f in fields(DistillationRecipe) if args.get(f.name) is not None}
    first, rates = dict(args["also_init"]), dict(args["also_rate"])
    out, init, head = Path(args["out"]), args["init"], args["head"]
    students = [make_student(args["model"], out, init, head, size=args["size"], top=args["top"])]
    students[0].keeps_statistics, students[0].blend = args["keep_statistics"], args["blend"]
    for named, file in args["also"]:
        name, _, size = named.partition(":")
        students.append(make_student(name, Path(file), first.get(name), size=int(size) if size else None))
        students[-1].rate = float(rates[name]) if name in rates else None
    notes = distill(
        students,
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
