"""The command line of pre-training: python -m bitreplay.torch.pretrain MODEL --data DIR --out FILE"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

from .arrays import load_split
from .models import MODELS, TEACHERS, build
from .pretraining import Pretraining
from .recipe import default_recipe
from .weights import export_parts, load_weights
from .world import World


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="pretrain", description="Pre-train a binary model or a real-valued teacher.")
    p.add_argument("model", choices=[*MODELS, *TEACHERS])
    p.add_argument("--data", type=Path, required=True, help="folder with train_images.npy, train_labels.npy, val_*.npy")
    p.add_argument("--out", type=Path, required=True, help="file of weights; FILE.checkpoint is kept beside it")
    p.add_argument("--teacher", type=Path, help="weights of a real-valued teacher to learn from")
    p.add_argument("--init", type=Path, help="weights to start from (one file, or any of its exported parts)")
    p.add_argument("--export", type=Path, help="folder for half-precision parts of at most 15 MiB")
    p.add_argument("--epochs", type=int, help="epochs, or the most of them under a time limit")
    p.add_argument("--time-limit", type=float, help="seconds for the whole run; the schedule fits itself to them")
    p.add_argument("--minibatch", type=int)
    p.add_argument("--optimizer", choices=["adam", "sgd"])
    p.add_argument("--rate", type=float, help="highest learning rate")
    p.add_argument("--rate-shape", choices=["linear", "cosine"])
    p.add_argument("--weight-decay", type=float)
    p.add_argument("--first-stage", type=float, help="share of the run with real weights; 0 leaves the stage out")
    p.add_argument("--label-smoothing", type=float)
    p.add_argument("--distill", type=float, help="weight of the teacher's word, 0 to 1")
    p.add_argument("--temperature", type=float)
    p.add_argument("--least-area", type=float, help="smallest random crop, as a share of the image")
    p.add_argument("--jitter", type=float, help="colour jitter")
    p.add_argument("--mix", type=float, help="share of minibatches with blended images (with a teacher)")
    p.add_argument("--seed", type=int)
    p.add_argument("--compile", choices=["auto", "on", "off"])
    p.add_argument("--device", help="cuda, cpu, ...; a GPU when there is one")
    return p


def main(arguments: list[str] | None = None) -> dict:
    began = time.perf_counter()
    args = parser().parse_args(arguments)
    places = ("data", "out", "teacher", "init", "export", "device")
    recipe = default_recipe(**{key: value for key, value in vars(args).items() if key not in places})
    world = World.join(args.device)
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(recipe.seed)
    train, val = load_split(args.data, "train", world.device), load_split(args.data, "val", world.device)
    classes = int(train.labels.max()) + 1
    model = build(recipe.model, classes)
    if args.init is not None:
        model, _ = load_weights(args.init)
    teacher, taught = load_weights(args.teacher) if args.teacher is not None else (None, {})
    run = Pretraining(recipe, model, train, val, args.out, world, teacher, began)
    for report in run.epochs():
        run.say(report.line())
    note = run.finish(
        {"classes": classes, "teacher_top1": taught.get("top1"), "torch": torch.__version__, "images": len(train)}
    )
    if args.export is not None and world.rank == 0:
        note["parts"] = [path.name for path in export_parts(args.export, recipe.model, run.model, note)]
    run.say(json.dumps(note))
    world.leave()
    return note


if __name__ == "__main__":
    main()
