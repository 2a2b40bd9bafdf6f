"""Top-1 of the shipped models on Tiny-ImageNet's validation set, as the integer engine runs them.

    python experiments/zoo_accuracy.py --data DIR [--models bireal18 ...] [--forward-bits 8] [--images 10000] [--float]
    python experiments/zoo_accuracy.py --data DIR --float --note

Images are resized by the integer door to the input of the model. One row a model is appended to
results/zoo_accuracy.csv: integer top-1, with `--float` the top-1 of the same file in floating point without any
rounding (`bitreplay.torch.twin.twin`, minutes a model), and the float top-1 that the training run noted. `--note`
writes the figures into what the model file says about itself; its digest, which is that of the network, stays.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rows import RESULTS, append

from bitreplay import modelfile
from bitreplay.data.pictures.resize import resize
from bitreplay.data.tiny_imagenet import tiny_imagenet
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.graph import Graph
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run

ZOO = Path(modelfile.__file__).resolve().parents[1] / "zoo"
HEADER = "model digest forward_bits images integer_top1 float_top1 noted_top1".split()
AT_ONCE = 20


Answer = Callable[[np.ndarray], np.ndarray]


def top1(answer: Answer, size: int, images: np.ndarray, labels: np.ndarray) -> float:
    """In percent; `answer` takes AT_ONCE images at most, at the model's size."""
    right = 0
    for start in range(0, len(images), AT_ONCE):
        part = np.stack([resize(np.asarray(image), size) for image in images[start : start + AT_ONCE]])
        right += int(np.count_nonzero(answer(part) == labels[start : start + AT_ONCE]))
    return round(100 * right / len(images), 2)


def engine(graph: Graph, forward_bits: int) -> Answer:
    runner = machine(compile_whole(graph, Bits(forward=forward_bits), AT_ONCE))

    def answer(part: np.ndarray) -> np.ndarray:
        runner.write("images", part)
        runner.run("forward", Run(len(part)))
        return runner.read("logits", len(part)).argmax(axis=1)

    return answer


def unrounded(graph: Graph) -> Answer:
    from bitreplay.torch.twin.twin import Twin

    twin = Twin(graph, rounds=False).float()
    return lambda part: twin(part).argmax(dim=1).numpy()


def networks() -> list[str]:
    """Those that ship; a name with a dot is a companion's."""
    return sorted(path.stem for path in ZOO.glob("*.safetensors") if "." not in path.stem)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--models", nargs="+", default=networks())
    parser.add_argument("--forward-bits", type=int, default=8)
    parser.add_argument("--images", type=int, default=10000, help="every k-th image, so that this many are used")
    parser.add_argument("--float", action="store_true", help="measure the file in floating point too; needs torch")
    parser.add_argument("--note", action="store_true", help="write the figures into the model files")
    args = parser.parse_args()
    data = tiny_imagenet(args.data)
    step = len(data.test_labels) // args.images
    images, labels = data.test_images[::step], data.test_labels[::step]
    for name in args.models:
        path = ZOO / f"{name}.safetensors"
        graph, about = modelfile.load(path)
        size = graph.input_shape[0]
        integer = top1(engine(graph, args.forward_bits), size, images, labels)
        real = top1(unrounded(graph), size, images, labels) if args.float else ""
        noted = about["training"]["top1"]
        row = [name, modelfile.digest(path)[:12], args.forward_bits, len(labels), integer, real, noted]
        append(RESULTS / "zoo_accuracy.csv", HEADER, row)
        if args.note:
            note = {"data": "Tiny-ImageNet, validation set", "images": len(labels), "forward_bits": args.forward_bits}
            modelfile.save(graph, path, about | {"accuracy": note | {"top1_integer": integer, "top1_float": real}})


if __name__ == "__main__":
    main()
