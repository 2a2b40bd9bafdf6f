"""docs/kernels.md says of QuickNet beside MobileNetV2 on ARM what the rows of benchmarks/arm_peer.py say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = " ".join((ROOT / "docs" / "kernels.md").read_text().split())


def millions(work: str, by: str, number: str, cpu: str) -> str:
    """The fewest instructions of the settings whose name begins so."""
    with open(ROOT / "benchmarks" / "results" / "arm_peer.csv", newline="") as file:
        found = [int(row["instructions"]) for row in csv.DictReader(file) if row["work"].startswith(work)
                 and row["by"].startswith(by) and row["setting"].startswith(number) and row["cpu"] == cpu]  # fmt: skip
    return f"{min(found) / 1e6:.1f} M"


@pytest.mark.parametrize("cpu, path", [("cortex-a72", "neon"), ("cortex-a76", "dotprod")])
def test_the_forward_pass(cpu, path):
    ours = millions("QuickNet up to", "bitreplay", path, cpu)
    fp32, int8 = (millions("MobileNetV2 up to", "ONNX Runtime", number, cpu) for number in ("fp32", "int8"))
    assert f"{ours} on a {cpu.title()}, MobileNetV2 up to block 12 {fp32} in fp32 and {int8} in int8" in TEXT


def test_the_step():
    frozen, trained = (millions(f"QuickNet tail step of 1, bits {bits}", "", "neon", "cortex-a72")
                       for bits in ("8/1/16", "8/8/16"))  # fmt: skip
    theirs = millions("MobileNetV2 tail", "PyTorch", "fp32", "cortex-a72")
    assert (
        f"{frozen} (8/1/16) or {trained} (8/8/16) on the Cortex-A72, one of MobileNetV2's by PyTorch {theirs}" in TEXT
    )
