"""Top-1 of the shipped models on Tiny-ImageNet's validation set, as the integer engine runs them.

    python experiments/zoo_accuracy.py --data DIR [--models bireal18 ...] [--forward-bits 8] [--images 10000]

Images are resized by the integer door to the input of the model. One row a model is appended to
results/zoo_accuracy.csv, with the float top-1 that the file's training note holds.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from bitreplay import modelfile
from bitreplay.data.resize import resize
from bitreplay.data.tiny_imagenet import tiny_imagenet
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.compiler import Bits
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run

ZOO = Path(modelfile.__file__).resolve().parents[1] / "zoo"
RESULTS = Path(__file__).parent / "results" / "zoo_accuracy.csv"
AT_ONCE = 4


def top1(path: Path, forward_bits: int, images: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """(integer top-1 measured, float top-1 noted), in percent."""
    graph, about = modelfile.load(path)
    runner = machine(compile_whole(graph, Bits(forward=forward_bits), AT_ONCE))
    right = 0
    for start in range(0, len(images), AT_ONCE):
        part = np.stack([resize(np.asarray(image), graph.input_shape[0]) for image in images[start : start + AT_ONCE]])
        runner.write("images", part)
        runner.run("forward", Run(len(part)))
        found = runner.read("logits", len(part)).argmax(axis=1)
        right += int(np.count_nonzero(found == labels[start : start + AT_ONCE]))
    return round(100 * right / len(images), 2), about["training"]["top1"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--models", nargs="+", default=sorted(path.stem for path in ZOO.glob("*.safetensors")))
    parser.add_argument("--forward-bits", type=int, default=8)
    parser.add_argument("--images", type=int, default=10000, help="every k-th image, so that this many are used")
    args = parser.parse_args()
    data = tiny_imagenet(args.data)
    step = len(data.test_labels) // args.images
    images, labels = data.test_images[::step], data.test_labels[::step]
    for name in args.models:
        path = ZOO / f"{name}.safetensors"
        integer, noted = top1(path, args.forward_bits, images, labels)
        row = [name, modelfile.digest(path)[:12], args.forward_bits, len(labels), integer, noted]
        print(*row, flush=True)
        new = not RESULTS.exists()
        with RESULTS.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow("model digest forward_bits images integer_top1 float_top1".split())
            writer.writerow(row)


if __name__ == "__main__":
    main()
