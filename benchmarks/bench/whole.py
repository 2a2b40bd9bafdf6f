"""How long does a picture take at the sizes that see? The networks for photographs beside what would be taken instead,
by ONNX Runtime.

`efficientnet_lite0` whole at 160x160 and 192x192 and the second generation of QuickNet at 192x192 and 224x224, against
EfficientNet-Lite0 at 224x224, in int8 or float (docs/instead.md); and QuickNet up to the replay layer at 224x224
against MobileNetV2 up to the matching block.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import onnx_models, ours
from benchmarks.bench.peers import Bench, Peer, target_on
from benchmarks.bench.quicknet import FROZEN, REPLAY_LAYER, SIZE
from benchmarks.bench.row import Row
from bitreplay import zoo
from bitreplay.modelfile.input_sizes import at_size

TITLES = {"efficientnet_lite0": "`efficientnet_lite0`", "quicknet@2": "QuickNet"}


def rows(bench: Bench) -> Iterator[Row]:
    targets = {("efficientnet_lite0", 160): target_on(3, 3), ("quicknet@2", 192): target_on(5, 4)}
    sizes = {"efficientnet_lite0": (160, 192), "quicknet@2": (192, 224)}
    for name, size in ((name, size) for name, several in sizes.items() for size in several):
        work = ours.whole_forward(at_size(zoo.find(name).graph, size), FROZEN)
        target = targets.get((name, size))
        peers = [
            Peer("EfficientNet-Lite0 at 224, ONNX Runtime int8", "ONNX Runtime",
                 lambda o: o.settings(onnx_models.efficientnet_lite0()), target),
            Peer("EfficientNet-Lite0 at 224, ONNX Runtime fp32", "ONNX Runtime",
                 lambda o: o.float_settings(onnx_models.efficientnet_lite0())),
        ]  # fmt: skip
        yield from bench.contest("whole", f"{TITLES[name]} forward, one {size}x{size} image", work, peers)
    work = ours.backbone_forward(ours.quicknet(SIZE), REPLAY_LAYER, FROZEN)
    start = Peer("MobileNetV2 up to block 12, ONNX Runtime int8", "ONNX Runtime",
                 lambda o: o.settings(onnx_models.mobilenet_v2_start()), target_on(1.2, 1))  # fmt: skip
    yield from bench.contest("whole", "QuickNet forward up to the replay layer, one 224x224 image", work, [start])
