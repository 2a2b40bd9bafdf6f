"""How long networks take as WebAssembly in Node: forward of one image, and a step of 32 of Bi-Real-18's tail.

    make wasm && python -m benchmarks.wasm            writes results/wasm.csv, the native core's AVX2 beside it

The least of several runs, milliseconds of CPU time. V8 compiles a function well once it has run for a while.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
import time
from pathlib import Path

from bitreplay import modelfile
from bitreplay.core import BESIDE_THE_PACKAGE
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail, compile_whole
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.modelfile.input_sizes import at_size

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "benchmarks" / "results" / "wasm.csv"
ZOO = BESIDE_THE_PACKAGE.parents[1] / "zoo"
FORWARD, STEP = 1, 4  # br_list
BITS = Bits(8, 1, 16)
NATIVE = "avx2"


def whole(model: str, size: int = 0) -> Program:
    graph, _ = modelfile.load(ZOO / f"{model}.safetensors")
    return compile_whole(at_size(graph, size) if size else graph, BITS, 1)


def works() -> dict[str, tuple[Program, int, int, int]]:
    """Program, samples, list, turns."""
    graph, _ = modelfile.load(ZOO / "bireal18.safetensors")
    tail = compile_tail(graph, max(graph.replay_layers, key=graph.position), BITS, 32, 10)
    return {
        "Bi-Real-18, forward of one 32x32 image": (whole("bireal18"), 1, FORWARD, 200),
        "QuickNet, forward of one 160x160 image": (whole("quicknet@2", 160), 1, FORWARD, 200),
        "QuickNet, forward of one 192x192 image": (whole("quicknet@2", 192), 1, FORWARD, 200),
        "efficientnet_lite0, forward of one 160x160 image": (whole("efficientnet_lite0", 160), 1, FORWARD, 200),
        "Bi-Real-18, a step of 32 of the frozen tail": (tail, 32, STEP, 20),
    }


def in_node(path: str, program: Program, samples: int, list_: int, turns: int) -> float:
    with tempfile.NamedTemporaryFile() as file:
        file.write(program.to_bytes())
        file.flush()
        module = REPOSITORY / "build/wasm" / ("bitreplay.wasm" if path == "wasm" else "bitreplay-plain.wasm")
        words = [module, path, "times", file.name, samples, list_, turns]
        command = ["node", REPOSITORY / "tests/wasm/node.mjs", *words]
        return float(subprocess.check_output([str(word) for word in command], text=True))


def in_the_core(program: Program, samples: int, list_: int, turns: int) -> float:
    native.set_isa(NATIVE)
    machine, run, least = native.NativeMachine(program), Run(samples, 0, 0, 1 << 30, 37), float("inf")
    for _ in range(turns):
        begin = time.process_time()
        if list_ == STEP:
            machine.run_step(run)
        else:
            machine.run("forward", run)
        least = min(least, time.process_time() - begin)
    return 1000 * least


def main() -> None:
    with RESULTS.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("work", "set", "milliseconds"))
        for what, work in works().items():
            for path in ("scalar", "wasm", NATIVE):
                fewer = (*work[:3], work[3] // 10) if path == "scalar" else work
                taken = in_the_core(*fewer) if path == NATIVE else in_node(path, *fewer)
                print(f"{path:8} {what:48} {taken:8.2f} ms", flush=True)
                table.writerow((what, path, f"{taken:.2f}"))


if __name__ == "__main__":
    main()
