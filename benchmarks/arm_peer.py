"""Table 2 in instructions on 64-bit ARM: QuickNet beside MobileNetV2 by the peers' own aarch64 wheels, under qemu-user.

    make test-arm                                     builds the core and core/tools for ARM
    core/tools/arm_python.sh build/peer               Debian's aarch64 Python in build/peer/root
    pip install --target build/peer/site --only-binary=:all: --no-deps --implementation cp --python-version 3.11 \\
      --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 \\
      onnxruntime==1.31.1 torch==2.8.0 numpy packaging protobuf flatbuffers typing-extensions sympy mpmath networkx \\
      jinja2 markupsafe filelock fsspec
    python -m benchmarks.arm_peer build/peer          writes results/arm_peer.csv; needs the extra "bench"
    python -m benchmarks.arm_peer ours                our rows alone anew, the peers' as they are

The parts are those of `python -m benchmarks.bench --only quicknet`: one 224x224 image up to the replay layer against
MobileNetV2 up to block 12, and a step of one sample of the tail of each. A count is half the difference of three calls
and one. Cortex-A72 is ARMv8.0 (Raspberry Pi 4), Cortex-A76 adds dot products (Raspberry Pi 5); `max` adds scalable
vectors and products of int8 matrices, which our kernels do not use. PyTorch 2.8.0 has a wheel without CUDA. Our counts
repeat exactly, ONNX Runtime's within half a percent. They say nothing of caches and of how many instructions a core
starts at once.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import bitreplay
from benchmarks.arm_instructions import BUILD, ROOT, by_operation, trained
from benchmarks.bench import onnx_models, onnx_peer, ours
from benchmarks.bench.quicknet import FROZEN, REPLAY_LAYER, SIZE, TRAINED
from bitreplay.engine.compile import compile_backbone

RESULTS = ROOT / "benchmarks" / "results" / "arm_peer.csv"
COLUMNS = ("work", "by", "setting", "cpu", "instructions")
CPUS = {"cortex-a72": 0x410FD083, "cortex-a76": 0x414FD0B1, "max": 0x414FD0B1}  # and how each calls itself
MOBILENET_V2 = {"forward": "MobileNetV2 up to block 12", "step": "MobileNetV2 tail step of 1"}
GUEST = ROOT / "benchmarks" / "arm_guest.py"
NETWORK = ROOT / "benchmarks" / "bench" / "pytorch" / "mobilenet_v2.py"
Row = tuple[str, str, str, str, int]


def quicknet() -> list[Row]:
    """Our counts depend on the path alone: NEON on every CPU, dot products where they are."""
    graph = ours.quicknet(SIZE)
    works = {"QuickNet up to the replay layer": compile_backbone(graph, REPLAY_LAYER, FROZEN, 1)}
    for bits, rate in ((FROZEN, ""), (TRAINED, ", rate 1/128")):
        program = ours.tail_program(graph, REPLAY_LAYER, bits, 1)
        works[f"QuickNet tail step of 1, bits {bits}{rate}"] = trained(program, 1)
    rows = []
    for work, program in works.items():
        counts = {path: by_operation(program, path).total() for path in ("neon", "dotprod")}
        for cpu in CPUS:
            path = "neon" if cpu == "cortex-a72" else "dotprod"
            rows.append((work, f"bitreplay {bitreplay.__version__}", path, cpu, counts[path]))
    return rows


def describe(root: Path, identity: int) -> None:
    """What Linux tells of the CPU; qemu-user would show the files of the machine that it runs on, no ARM."""
    cpus = root / "sys" / "devices" / "system" / "cpu"
    register = cpus / "cpu0" / "regs" / "identification" / "midr_el1"
    register.parent.mkdir(parents=True, exist_ok=True)
    register.write_text(f"0x{identity:016x}\n")
    for name in ("possible", "present", "online"):
        (cpus / name).write_text("0\n")
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc" / "cpuinfo").write_text(
        f"processor\t: 0\nCPU implementer\t: 0x{identity >> 24:02x}\nCPU architecture: 8\n"
        f"CPU variant\t: 0x{identity >> 20 & 15:x}\nCPU part\t: 0x{identity >> 4 & 0xFFF:03x}\n"
        f"CPU revision\t: {identity & 15}\n\n"
    )


def emulated(folder: Path, cpu: str, *words: object) -> list[Row]:
    describe(folder / "root", CPUS[cpu])
    command = ["qemu-aarch64", "-cpu", cpu, "-L", folder / "root", "-plugin", BUILD / "qemu_count.so",
               folder / "root" / "usr" / "bin" / "python3.11", GUEST, *words]  # fmt: skip
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = os.environ | one | {"PYTHONPATH": str(folder / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(w) for w in command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    instructions = [int(number) for number in re.findall(r"^instructions (\d+)$", done.stderr, re.MULTILINE)]
    works = [line.split(",") for line in done.stdout.splitlines()]
    assert len(instructions) == 2 * len(works), (done.stdout, done.stderr)
    return [
        (MOBILENET_V2[part], by, setting, cpu, (three - one) // 2)
        for (part, by, setting), one, three in zip(works, instructions[::2], instructions[1::2], strict=True)
    ]


def onnx_files(folder: Path) -> list[Path]:
    """MobileNetV2 up to block 12 in fp32, in int8 as on x86-64, and in int8 with signed activations."""
    import onnx

    model = onnx_models.mobilenet_v2_start()
    files = [folder / f"{name}.onnx" for name in ("fp32", "int8", "int8 signed")]
    onnx.save(model, files[0])
    onnx_peer.save_int8(model, files[1])
    onnx_peer.save_int8(model, files[2], signed=True)
    return files


def ours_alone() -> None:
    with RESULTS.open(newline="") as file:
        _, *rows = csv.reader(file)
    peers = [row for row in rows if not row[1].startswith("bitreplay")]
    with RESULTS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *quicknet(), *peers])


def main() -> None:
    if sys.argv[1] == "ours":
        return ours_alone()
    folder = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as models, RESULTS.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(quicknet())
        files = onnx_files(Path(models))
        for words in (("onnx", *files), ("torch", NETWORK)):
            for cpu in CPUS:
                table.writerows(emulated(folder, cpu, *words))
                file.flush()  # a run takes minutes: keep what is measured


if __name__ == "__main__":
    main()
