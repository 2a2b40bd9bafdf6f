"""README.md's figures."""

from __future__ import annotations

from decimal import Decimal

from figures import committed, instead, shared
from figures.committed import MODELS, bench, finals, format_number, mean, table, title_of
from figures.shared import demo, step_memory

PAGE = "README.md"
__all__ = ["demo", "step_memory"]
SETS = {"CIFAR-10, 2 classes at a time": ("cifar10", ("ReAct-18", "Bi-Real-18")),
        "CIFAR-100 (re-split), 10 at a time": ("cifar100", ("ReAct-18", "Bi-Real-18")),
        "groceries, 2 at a time": ("groceries", ("QuickNet", "ReAct-18", "react_tiny"))}  # fmt: skip


def results() -> str:
    lines = []
    for title, (data, names) in SETS.items():
        for at, name in enumerate(names):
            line = ["" if at else title, title_of(name), shared.exact(data, MODELS[name])]
            for strategy in ("replay", "cwr", "joint"):
                matches = finals(data, MODELS[name], strategy)
                line.append(format_number(mean(matches)) if matches else "")
            lines.append(line)
    return table(["set", "model", "exact", "1-bit replay", "BNN+CWR*", "joint training"], lines)


def behind(each: str) -> str:
    """Points that the usual choice is ahead, as docs/instead.md says."""
    return instead.behind(each)


def forward() -> str:
    work = "Bi-Real-18 forward, one 32x32 image"
    float32, int8 = (bench("bench_steps_avx512.json", work, peer) for peer in ("PyTorch fp32", "ONNX Runtime int8"))
    ours, theirs, others = (
        format_number(int8["ours"], 2),
        format_number(float32["theirs"]),
        format_number(int8["theirs"]),
    )
    return f"{ours} ms, PyTorch fp32 {theirs}, ONNX Runtime int8 {others}"


def whole_cifar10() -> str:
    """Network, sums and discriminants, of the first order of the classes."""
    row = committed.exact("cifar10", "react18")
    parts = [Decimal(row[name]) for name in ("seconds_network", "seconds_sums", "seconds_discriminants")]
    return format_number(sum(parts, Decimal()), 0) + " s"
