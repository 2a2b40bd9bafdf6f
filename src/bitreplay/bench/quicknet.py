"""QuickNet at 224x224, one image, beside MobileNetV2: forward up to the level, and one step of the tail.

MobileNetV2 is the float network that the paper compares with: forward in int8 or float, its last five blocks trained in
float. QuickNet's tail learns with frozen binary weights (bits 8/1/16) or with 8-bit latent ones (8/8/16); the last row
says what the first gains over the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from bitreplay.bench import onnx_models, ours
from bitreplay.bench.peers import Bench, Peer, plain_fp32
from bitreplay.bench.row import Row
from bitreplay.engine.bit_widths import Bits

LEVEL, SIZE = "quant_conv2d_16", 224
FROZEN, TRAINED = Bits(8, 1, 16), Bits(8, 8, 16)


def rows(bench: Bench) -> Iterator[Row]:
    graph = ours.quicknet(SIZE, bench.package("PyTorch"))
    if graph is None:
        note = "no QuickNet ships with this version, and PyTorch, which could make one, is absent"
        yield Row("quicknet", "QuickNet, 224x224", "MobileNetV2", "ms", None, None, note=note)
        return
    work = ours.backbone_forward(graph, LEVEL, FROZEN)
    peers = [
        Peer("MobileNetV2, ONNX Runtime int8", "ONNX Runtime", lambda o: o.settings(onnx_models.mobilenet_v2())),
        Peer("MobileNetV2, PyTorch fp32", "PyTorch", lambda t: plain_fp32(t.mobilenet_v2_forward(False))),
        Peer("MobileNetV2, best PyTorch", "PyTorch", lambda t: t.mobilenet_v2_forward(bench.compiled)),
    ]
    yield from bench.contest("quicknet", "QuickNet forward up to the level, one 224x224 image", work, peers)

    frozen, trained = (ours.tail_step(ours.tail_program(graph, LEVEL, bits, 1), 1) for bits in (FROZEN, TRAINED))
    classes = ours.CLASSES
    peers = [
        Peer("MobileNetV2, PyTorch fp32", "PyTorch", lambda t: plain_fp32(t.mobilenet_v2_step(1, classes, False)), 3),
        Peer("MobileNetV2, best PyTorch", "PyTorch", lambda t: t.mobilenet_v2_step(1, classes, bench.compiled)),
        Peer(f"ours, bits {TRAINED}", "ours", lambda _: [("", lambda: trained)]),
    ]
    yield from bench.contest("quicknet", f"QuickNet tail step of 1, bits {FROZEN}", frozen, peers)
    peers = [Peer("MobileNetV2, PyTorch fp32", "PyTorch", lambda t: plain_fp32(t.mobilenet_v2_step(1, classes, False)))]
    yield from bench.contest("quicknet", f"QuickNet tail step of 1, bits {TRAINED}", trained, peers)
