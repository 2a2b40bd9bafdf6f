"""The paper's protocol, class by class on CIFAR-10 or CIFAR-100: one process is one run and makes one row.

    python experiments/protocol.py --model bireal18 --strategy replay --bits 8/1/16 --seed 0 --data DIR
    python experiments/protocol.py --model bireal18 --bits float --device cuda --seed 0 --data DIR

All images of a class, 30 stored, 5 epochs, 32 new and 128 replayed samples a minibatch, new images cropped and flipped
anew in each epoch. Strategies: replay, cwr (BNN+CWR*), naive, joint (all classes in one experience, the bound).
`--bits float` is the float twin: the same integer backbone, views, order and memory, the tail in floating point.
Equal replay bytes: `--code-bits 32 --per-class 1` holds about what 30 one-bit latents take.

The row goes to results/protocol.csv: accuracy on the whole test set after each experience. With `--folder` the state
is kept there after each experience, and a run that was cut off goes on from it. Needs NumPy, and torch for `float`.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import islice
from pathlib import Path

import numpy as np
from rows import RESULTS, append

from bitreplay import metrics, statefile, zoo
from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.engine import native
from bitreplay.follow import follow
from bitreplay.learner import Learner
from bitreplay.pretrained import build
from bitreplay.scenario import new_classes
from bitreplay.settings import FLOAT, Settings
from bitreplay.strategies import STRATEGIES
from bitreplay.zoo import Model

SETS = {"cifar10": (cifar10, (2,) * 5), "cifar100": (cifar100, (10,) * 10)}
HEADER = ["data", "model", "digest", "strategy", "bits", "device", "level", "code_bits", "per_class", "rate", "epochs",
          "augment", "images", "seed", "after", "final", "forgetting", "replay_bytes", "seconds", "cpu_seconds", "path",
          "hash"]  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="bireal18", help="a name of the zoo or a model file")
    parser.add_argument("--data", type=Path, help="the folder of the set; else it is looked for in BITREPLAY_DATA")
    parser.add_argument("--data-name", default="cifar10", choices=sorted(SETS))
    parser.add_argument("--strategy", default="replay", choices=[*STRATEGIES, "joint"])
    parser.add_argument("--bits", default="8/1/16", help="q_f/q_b^bin/q_b^non-bin, or float")
    parser.add_argument("--level", help="by default the model's last one")
    parser.add_argument("--code-bits", type=int, default=1)
    parser.add_argument("--per-class", type=int, default=30)
    parser.add_argument("--rate", help="by default fitted to the model and the experience")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, help="training images a class; by default all")
    parser.add_argument("--cached", action="store_true", help="codes computed once, no augmentation")
    parser.add_argument("--device", default="cpu", help="where the tail of `--bits float` runs")
    parser.add_argument("--folder", type=Path, help="keeps the state after each experience")
    parser.add_argument("--results", type=Path, default=RESULTS / "protocol.csv")
    return parser.parse_args()


def learner_of(model: Model, settings: Settings, device: str) -> Learner:
    """As Learner.from_pretrained; the float tail on a device of one's choice."""
    if settings.bits == FLOAT and device != "cpu":
        import torch

        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return Learner(build(model, settings, device=device), model)


class Progress:
    """One entry an experience: its classes, the accuracy in all and per class, seconds; kept in a folder or not."""

    def __init__(self, folder: Path | None, learner: Learner) -> None:
        self.folder, self.learner = folder, learner
        self.done: list[dict] = []
        if folder is not None and (folder / "state").exists():
            content, _ = statefile.load(folder / "state")
            assert learner.model is not None
            if (content.digest, content.settings) != (learner.model.digest, learner.settings):
                raise SystemExit(f"{folder} holds another run; choose another folder.")
            learner.restore(content.state)
            self.done = json.loads((folder / "done.json").read_text())[: learner.experiences]

    def add(self, entry: dict) -> None:
        """`done.json` is written before the state, so it never has less."""
        self.done.append(entry)
        print(f"{len(self.done)}. {100 * entry['accuracy']:.2f} % ({entry['seconds']:.0f} s, of the CPU "
              f"{entry['cpu_seconds']:.0f} s)", flush=True)  # fmt: skip
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "done.json").write_text(json.dumps(self.done))
            self.learner.save(self.folder / "state", overwrite=True)


def main() -> None:
    args = arguments()
    read, sizes = SETS[args.data_name]
    data = read(args.data) if args.images is None else read(args.data).limit(args.images)
    joint = args.strategy == "joint"
    settings = Settings(
        strategy="naive" if joint else args.strategy, bits=args.bits, level=args.level, code_bits=args.code_bits,
        per_class=args.per_class, rate=args.rate, epochs=args.epochs, augment=not args.cached, seed=args.seed,
    )  # fmt: skip
    model = zoo.find(args.model)
    learner = learner_of(model, settings, args.device)
    progress = Progress(args.folder, learner)
    start, cpu = time.perf_counter(), time.process_time()
    stream = new_classes(data, (sum(sizes),) if joint else sizes, np.random.default_rng(args.seed))
    waiting = islice(stream, learner.experiences, None)
    for step in follow(learner, waiting, data.test_images, data.test_labels):
        now = time.perf_counter(), time.process_time()
        progress.add({"classes": list(step.classes), "accuracy": step.evaluation.accuracy,
                      "per_class": [step.evaluation.per_class[c] for c in range(len(data.class_names))],
                      "seconds": now[0] - start, "cpu_seconds": now[1] - cpu})  # fmt: skip
        start, cpu = now
    write(args, settings, learner, progress.done)


def write(args: argparse.Namespace, settings: Settings, learner: Learner, done: list[dict]) -> None:
    accuracies = [dict(enumerate(entry["per_class"])) for entry in done]
    table = metrics.experience_table([entry["classes"] for entry in done], accuracies)
    after = [f"{100 * entry['accuracy']:.2f}" for entry in done]
    assert learner.model is not None
    row = [
        args.data_name, learner.model.name, learner.model.digest[:12], args.strategy, args.bits,
        args.device if args.bits == FLOAT else "cpu", args.level or learner.model.levels[-1], args.code_bits,
        args.per_class, settings.rate or "fitted", args.epochs, "no" if args.cached else "yes", args.images or "all",
        args.seed, " ".join(after), after[-1], f"{100 * metrics.forgetting(table):.2f}", learner.memory_bytes,
        round(sum(entry["seconds"] for entry in done)), round(sum(entry["cpu_seconds"] for entry in done)),
        native.path(), learner.state_hash()[:12],
    ]  # fmt: skip
    append(args.results, HEADER, row)


if __name__ == "__main__":
    main()
