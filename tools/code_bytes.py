"""How many bytes of flash the learner in C takes on a Cortex-M, for src/bitreplay/planning/code.py: prints its table.

    .venv/bin/python tools/code_bytes.py          needs gcc-arm-none-eabi; some minutes

Images of tests/mcu are linked with the fewest operations and with one more at a time. What counts is all in flash
but the model and the program's own main.c with its pictures.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bitreplay import Learner
from bitreplay.export.c_source import symbol
from tests.mcu import images

BASE_OPERATIONS = ["image_table"]
OTHERS = [
    "add", "affine", "affine_fine", "average_pool", "binary_conv", "clip", "concat", "depthwise_conv", "filter_pool",
    "integer_conv", "max_pool", "pack_signs", "pack_signs_above", "pack_signs_clipped", "rprelu", "unpack_signs",
]  # fmt: skip


def code_bytes(demo: Path, operations: list[str]) -> int:
    words = " ".join(f"EACH({symbol(operation)})" for operation in operations)
    images.write_changed(demo / "operations.h", f"#define BR_OPERATIONS(EACH) {words}\n")
    return images.code_bytes(images.build_image(demo, "cortex-m7"))


def main() -> None:
    demo = images.write_demo(Learner.from_pretrained("react_tiny", strategy="exact", feature_layers="head"), "code")
    base = code_bytes(demo, BASE_OPERATIONS)
    print(f"BASE = {base}")
    for operation in OTHERS:
        print(f'    "{operation}": {code_bytes(demo, [*BASE_OPERATIONS, operation]) - base},', flush=True)


if __name__ == "__main__":
    main()
