"""How long do QuickNet's two halves take at 224x224, beside MobileNetV2's?

QuickNet up to the replay layer (7, 7, 256) against MobileNetV2 up to its last five blocks, in int8 or float; a training
step of the rest of each. QuickNet's tail learns with frozen binary weights (bits 8/1/16) or with 8-bit latent weights
(8/8/16), whose time depends on the learning rate: the larger it is, the more weights can change. Two are measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from benchmarks.bench import onnx_models, ours
from benchmarks.bench.peers import Bench, Peer, Settings, plain_fp32, target_on
from benchmarks.bench.row import Row
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.bit_widths import Bits

REPLAY_LAYER, SIZE = "quant_conv2d_16", 224
FROZEN, TRAINED = Bits(8, 1, 16), Bits(8, 8, 16)
RATES = ("1/100", "1/1000")
TRAINED_STEPS = 8  # that a call takes where weights learn


def rows(bench: Bench) -> Iterator[Row]:
    graph = ours.quicknet(SIZE)
    work = ours.backbone_forward(graph, REPLAY_LAYER, FROZEN)
    part = "MobileNetV2 up to block 12"
    peers = [
        Peer(f"{part}, ONNX Runtime int8", "ONNX Runtime", lambda o: o.settings(onnx_models.mobilenet_v2_start()), 1),
        Peer(f"{part}, PyTorch fp32", "PyTorch", lambda t: plain_fp32(t.mobilenet_v2_start(False)), 2.5),
        Peer(f"{part}, best PyTorch", "PyTorch", lambda t: t.mobilenet_v2_start(bench.compiled)),
    ]
    yield from bench.contest("quicknet", "QuickNet forward up to the replay layer, one 224x224 image", work, peers)

    frozen, classes = ours.tail_step(ours.tail_program(graph, REPLAY_LAYER, FROZEN, 1), 1), ours.CLASSES

    def fp32(pytorch: Any) -> Settings:
        return plain_fp32(pytorch.mobilenet_v2_step(1, classes, False))

    peers = [
        Peer("MobileNetV2, PyTorch fp32", "PyTorch", fp32, 3),
        Peer("MobileNetV2, best PyTorch", "PyTorch", lambda t: t.mobilenet_v2_step(1, classes, bench.compiled)),
    ]
    yield from bench.contest("quicknet", f"QuickNet tail step of 1, bits {FROZEN}", frozen, peers)
    program = ours.tail_program(graph, REPLAY_LAYER, TRAINED, 1)
    for rate in RATES:
        trained = ours.tail_step(program, 1, rate=Multiplier.of(Fraction(rate)), steps=TRAINED_STEPS)
        peers = [Peer("MobileNetV2, PyTorch fp32", "PyTorch", fp32, target_on(2, 1.5))]
        name = f"QuickNet tail step of 1, bits {TRAINED}, rate {rate}"
        yield from bench.contest("quicknet", name, trained, peers, TRAINED_STEPS)
