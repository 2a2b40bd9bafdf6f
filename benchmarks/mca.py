"""Cycles of the inner loops of convolutions on three ARM cores, by a model of them: a guess without a board.

    python -m benchmarks.mca                     writes results/mca.csv; needs aarch64-linux-gnu-g++ and llvm-mca

A kernel's file is compiled as the library compiles it. The loop is the block that jumps back to its own start with the
most instructions of a kind; llvm-mca runs it in its model of the core's ports, with every load from the first cache.
LLVM has one model for Cortex-A72 and another for A53; for newer cores older versions of it take A57's.
"""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mca.csv"
KERNELS = ROOT / "core" / "src" / "kernels"
CORES = ("cortex-a53", "cortex-a72", "cortex-a76")
TURNS = 200
# kernel -> (file, compiler flags, instruction, products of one and of the smull before it)
LOOPS = {
    "binary convolution": ("binary_conv/binary_conv_neon.cc", (), "cnt", 256),
    "integer convolution": ("integer_conv/integer_conv_neon.cc", (), r"smlal2\tv\d+\.8h", 16),
    "integer convolution, dot products": (
        "integer_conv/integer_conv_dotprod.cc", ("-march=armv8.2-a+dotprod",), "sdot", 16
    ),
}  # fmt: skip


def assembly(file: str, flags: tuple[str, ...]) -> list[str]:
    words = ["aarch64-linux-gnu-g++", "-std=c++20", "-O3", "-fno-exceptions", "-fno-rtti", *flags]
    words += ["-I", str(ROOT / "core" / "src"), "-I", str(ROOT / "core" / "include"), "-S", "-o", "-"]
    done = subprocess.run([*words, str(KERNELS / file)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def inner_loop(lines: list[str], instruction: str) -> list[str]:
    """The block with the most of these instructions that ends in a jump to its own start."""
    loops: list[list[str]] = [[]]
    label, block = "", list[str]()
    for line in lines:
        if match := re.match(r"(\.L\d+):", line):
            label, block = match[1], []
        elif re.match(r"\t[a-z]", line):
            block.append(line)
            if label and re.match(rf"\t(b\.?\w\w|cbn?z\t\w+,|tbn?z\t\w+, \w+,)\s{re.escape(label)}$", line):
                loops.append(block.copy())
    return max(loops, key=lambda loop: count(loop, instruction))


def count(loop: list[str], instruction: str) -> int:
    return sum(re.match(rf"\t{instruction}\b", line) is not None for line in loop)


def cycles(loop: list[str], core: str, flags: tuple[str, ...]) -> float:
    """Of one turn, in the long run."""
    features = ["-mattr=+dotprod"] if flags else []
    words = ["llvm-mca", "-mtriple=aarch64-linux-gnu", f"-mcpu={core}", f"-iterations={TURNS}", *features]
    done = subprocess.run(words, input="\n".join(loop) + "\n", check=True, capture_output=True, text=True)
    match = re.search(r"^Total Cycles:\s+(\d+)$", done.stdout, re.MULTILINE)
    assert match is not None, done.stdout
    return int(match[1]) / TURNS


def main() -> None:
    rows = [("kernel", "core", "instructions", "products", "cycles")]
    for kernel, (file, flags, instruction, products) in LOOPS.items():
        loop = inner_loop(assembly(file, flags), instruction)
        for core in CORES if not flags else CORES[-1:]:  # those before have no dot products
            of_turn = str(products * count(loop, instruction))
            rows.append((kernel, core, str(len(loop)), of_turn, f"{cycles(loop, core, flags):.1f}"))
            print(*rows[-1])
    with RESULTS.open("w", newline="") as file_:
        csv.writer(file_, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
