"""The command line of pre-training. It imports no torch, so that its help is there without it."""

from __future__ import annotations

import argparse

NETWORKS = (
    "bireal18", "react18", "react18_64", "react_tiny", "vgg_small", "quicknet", "quicknet_large",
    "efficientnet_lite0", "efficientnet_tiny", "teacher18", "teacher_wide",
)  # fmt: skip


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="bitreplay pretrain",
        description="Pre-train a binary model or a real-valued teacher. The rest is the model's recipe.",
    )
    p.add_argument("model", choices=NETWORKS)
    p.add_argument("--data", required=True, help="Tiny-ImageNet (folder, .zip or arrays), or a folder of class folders")
    p.add_argument("--out", required=True, help="file for the weights; FILE.checkpoint is beside it during the run")
    p.add_argument("--teacher", help="weights of a real-valued teacher to learn from")
    p.add_argument("--init", help="weights to start from (a file or any of its parts; react18's serve react18_64 too)")
    p.add_argument("--export", help="folder for the weights in parts of at most 15 MiB")
    p.add_argument("--widths", type=int, nargs="+", help="channels of each group of layers, for another size of model")
    p.add_argument("--epochs", type=int, help="epochs, or their maximum under a time limit")
    p.add_argument("--time-limit", type=float, help="seconds for the whole run; the schedule adapts to them")
    p.add_argument("--minibatch", type=int, help="images per step, over all processes")
    p.add_argument("--optimizer", choices=["adam", "sgd"])
    p.add_argument("--learning-rate", dest="rate", type=float, help="highest learning rate")
    p.add_argument("--rate-shape", choices=["linear", "cosine"])
    p.add_argument("--weight-decay", type=float)
    p.add_argument("--first-stage", type=float, help="share of the run with real weights; 0 leaves the stage out")
    p.add_argument("--label-smoothing", type=float)
    p.add_argument("--distill", type=float, help="weight of the teacher's outputs in the loss, 0 to 1")
    p.add_argument("--temperature", type=float)
    p.add_argument("--least-area", type=float, help="smallest random crop, as a share of the image")
    p.add_argument("--jitter", type=float, help="colour jitter")
    p.add_argument("--mix", type=float, help="share of views that are blended with others")
    p.add_argument("--cut", type=float, help="share of views into which a box of others is pasted")
    p.add_argument("--plain-end", type=float, help="share of the run, at its end, without blending and pasting")
    p.add_argument("--small-start", type=float, help="share of the run, at its beginning, at 3/4 of the model's size")
    p.add_argument("--average", type=float, help="horizon, in epochs, of a running average of the weights")
    p.add_argument("--held-out", type=int, help="training images set aside, which choose between last and averaged")
    p.add_argument("--sets", type=int, help="fixed sets of views that the teacher judges once, for every run with it")
    p.add_argument("--plain-sets", type=int, help="the same without blending and pasting, for the end (--plain-end)")
    p.add_argument("--match", type=float, help="weight of a loss between the model's features and the teacher's")
    p.add_argument(
        "--rounding", type=float, help="share of the run, at its end, with the engine's rounding in the loop"
    )
    p.add_argument("--seed", type=int)
    p.add_argument("--compile", choices=["auto", "on", "off"])
    p.add_argument("--device", help="cuda, cpu, ...; a GPU when there is one")
    p.add_argument("--checkpoint-seconds", type=float, default=60.0, help="minimum time between checkpoints (60)")
    p.add_argument("--fresh", action="store_true", help="ignore a checkpoint and start again")
    p.add_argument("--json", action="store_true", help="print nothing but the file's note, as JSON, at the end")
    return p
