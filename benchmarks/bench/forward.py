"""How long does Bi-Real-18 take for one 32x32 image?"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import onnx_models, ours
from benchmarks.bench.peers import Bench, Peer, plain_fp32, target_on
from benchmarks.bench.row import Row
from bitreplay.engine.bit_widths import Bits

RELU = "ReLU in place of sign"


def rows(bench: Bench) -> Iterator[Row]:
    peers = [
        Peer("PyTorch fp32", "PyTorch", lambda t: plain_fp32(t.bireal18_forward(False)), target_on(15, 10)),
        Peer("best PyTorch", "PyTorch", lambda t: t.bireal18_forward(bench.compiled), target_on(6, 4)),
        Peer("ONNX Runtime int8", "ONNX Runtime", lambda o: o.settings(onnx_models.resnet18_shape(), RELU), 3),
    ]
    work = ours.whole_forward(ours.bireal18(), Bits(8))
    yield from bench.contest("forward", "Bi-Real-18 forward, one 32x32 image", work, peers)
