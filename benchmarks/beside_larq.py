"""QuickNet whole, one 224x224 image, beside Larq Compute Engine in each of its settings, in one run on one thread.

    pip install larq-compute-engine larq-zoo tensorflow-cpu==2.15.1      # an environment of its own
    PYTHONPATH=src python -m benchmarks.beside_larq > benchmarks/results/beside_larq.csv

CPU time, best of alternating turns. Larq's weights are random: its time does not depend on them. Both sides include
the copies of the image in and of the logits out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import product

import numpy as np

from benchmarks.bench import ours, timing
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.graph import Graph

SIZE, ROUNDS = 224, 12


def converted() -> bytes:
    model = import_module("larq_zoo").sota.QuickNet(weights=None, input_shape=(SIZE, SIZE, 3))
    return import_module("larq_compute_engine").convert_keras_model(model)


def theirs(model: bytes) -> dict[str, Callable[[], object]]:
    interpreter = import_module("larq_compute_engine.tflite.python.interpreter").Interpreter
    image = np.random.default_rng(0).standard_normal((1, SIZE, SIZE, 3)).astype(np.float32)
    works: dict[str, Callable[[], object]] = {}
    for indirect, delegate in product((False, True), (False, True)):
        engine = interpreter(model, num_threads=1, use_indirect_bgemm=indirect, use_xnnpack=delegate)
        name = f"Larq Compute Engine, {'indirect' if indirect else 'plain'} bgemm{', XNNPACK' if delegate else ''}"
        works[name] = partial(engine.predict, image)
    return works


def with_path(path: str, graph: Graph) -> Callable[[], object]:
    native.set_isa(path)
    return ours.whole_forward(graph, Bits(8))


def main() -> None:
    core = timing.pin()
    graph = ours.quicknet(SIZE)
    works = {f"bitreplay, {path}": with_path(path, graph) for path in native.available_isas() if path != "scalar"}
    times = timing.race(works | theirs(converted()), ROUNDS)
    print("what,milliseconds")
    for name, seconds in times.items():
        print(f'"{name}",{1000 * seconds:.2f}')
    print(core, file=sys.stderr)


if __name__ == "__main__":
    main()
