"""How long networks take as WebAssembly in Node: forward of one image of two, and a step of 32 of Bi-Real-18's tail.

    make wasm && python -m benchmarks.wasm [scalar|wasm ...]

The least of several runs, milliseconds. V8 compiles a function well once it has run for a while.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bitreplay import modelfile
from bitreplay.core import BESIDE_THE_PACKAGE
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail, compile_whole
from bitreplay.modelfile.input_sizes import at_size

REPOSITORY = Path(__file__).resolve().parents[1]
ZOO = BESIDE_THE_PACKAGE.parents[1] / "zoo"
FORWARD, STEP = 1, 4  # br_list


def main() -> None:
    graph, _ = modelfile.load(ZOO / "bireal18.safetensors")
    bits = Bits(8, 1, 16)
    tail = compile_tail(graph, max(graph.replay_layers, key=graph.position), bits, 32, 10)
    quicknet = at_size(modelfile.load(ZOO / "quicknet@2.safetensors")[0], 192)
    work = {
        "forward of one image": (compile_whole(graph, bits, 1), 1, FORWARD, 200),
        "QuickNet, forward of one of 192": (compile_whole(quicknet, bits, 1), 1, FORWARD, 100),
        "step of 32 of the frozen tail": (tail, 32, STEP, 20),
    }
    for path in sys.argv[1:] or ["scalar", "wasm"]:
        for what, (program, samples, list_, turns) in work.items():
            with tempfile.NamedTemporaryFile() as file:
                file.write(program.to_bytes())
                file.flush()
                module = REPOSITORY / "build/wasm" / ("bitreplay.wasm" if path == "wasm" else "bitreplay-plain.wasm")
                words = [module, path, "times", file.name, samples, list_, turns]
                command = ["node", REPOSITORY / "tests/wasm/node.mjs", *words]
                found = subprocess.check_output([str(word) for word in command], text=True)
            print(f"{path:8} {what:32} {float(found):8.1f} ms")


if __name__ == "__main__":
    main()
