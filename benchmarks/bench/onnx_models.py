"""Float networks as ONNX graphs with random weights: speed depends on shapes alone. BatchNorm is folded already."""

from __future__ import annotations

from typing import Any

import numpy as np


class Builder:
    """Adds one node after another; a value is its name."""

    def __init__(self, size: int) -> None:
        from onnx import helper

        self.helper, self.rng = helper, np.random.default_rng(0)
        self.size, self.nodes, self.weights = size, [], []  # type: ignore[var-annotated]

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def weight(self, *shape: int) -> str:
        from onnx import numpy_helper

        name, fan_in = f"w{len(self.weights)}", max(1, int(np.prod(shape[1:])))
        values = self.rng.normal(0, (2 / fan_in) ** 0.5, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1, group: int = 1) -> str:
        weights = self.weight(outputs, inputs // group, kernel, kernel), self.weight(outputs)
        return self.node("Conv", x, *weights, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4,
                         group=group)  # fmt: skip

    def finish(self, x: str, inputs: int, classes: int) -> Any:
        """Global average and linear head; the model."""
        flat = self.node("Flatten", self.node("GlobalAveragePool", x))
        logits = self.node("Gemm", flat, self.weight(classes, inputs), self.weight(classes), transB=1)
        return self.model(logits, [1, classes])

    def model(self, output: str, shape: list[int]) -> Any:
        h, float_type = self.helper, 1
        graph = h.make_graph(
            self.nodes, "peer", [h.make_tensor_value_info("image", float_type, [1, 3, self.size, self.size])],
            [h.make_tensor_value_info(output, float_type, shape)], self.weights,
        )  # fmt: skip
        return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9)


def resnet18_shape(classes: int = 200) -> Any:
    """Bi-Real-18's shape at 32x32: sixteen 3x3 convolutions, a shortcut around each."""
    b = Builder(32)
    x, channels = b.node("Relu", b.conv("image", 3, 64, 3)), 64
    for group, width in enumerate((64, 128, 256, 512)):
        for index in range(4):
            stride = 2 if group and index == 0 else 1
            short = x
            if stride == 2:
                short = b.conv(b.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), channels, width, 1)
            x = b.node("Relu", b.node("Add", b.conv(x, channels, width, 3, stride), short))
            channels = width
    return b.finish(x, channels, classes)


# expansion, channels, repetitions, stride of the first (Sandler et al., 2018, Table 2)
MOBILENET_V2 = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


LAST_BLOCKS = 5  # that a float learner would train


def mobilenet_v2_start() -> Any:
    """MobileNetV2 up to its last five blocks: images -> (96, 14, 14)."""
    b = Builder(224)

    def relu(x: str) -> str:
        return b.node("Relu", x)

    x, channels, done, blocks = relu(b.conv("image", 3, 32, 3, 2)), 32, 0, sum(row[2] for row in MOBILENET_V2)
    for expansion, width, count, first in MOBILENET_V2:
        for index in range(count):
            stride, wide = (first if index == 0 else 1), channels * expansion
            y = relu(b.conv(x, channels, wide, 1)) if expansion > 1 else x
            y = b.conv(relu(b.conv(y, wide, wide, 3, stride, wide)), wide, width, 1)
            x = b.node("Add", x, y) if stride == 1 and channels == width else y
            channels, done = width, done + 1
            if done == blocks - LAST_BLOCKS:
                return b.model(x, [1, channels, 14, 14])
    raise AssertionError("there are more blocks than that")


# blocks, kernel, stride of the first, expansion, channels (EfficientNet-Lite0; its top has 1,280 channels)
EFFICIENTNET_LITE0 = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


def efficientnet_lite0(classes: int = 1000) -> Any:
    """EfficientNet-Lite0 whole: images of 224 -> logits."""
    b = Builder(224)

    def relu(x: str) -> str:
        return b.node("Relu", x)

    x, channels = relu(b.conv("image", 3, 32, 3, 2)), 32
    for count, kernel, first, expansion, width in EFFICIENTNET_LITE0:
        for index in range(count):
            stride, wide = (first if index == 0 else 1), channels * expansion
            y = relu(b.conv(x, channels, wide, 1)) if expansion > 1 else x
            y = b.conv(relu(b.conv(y, wide, wide, kernel, stride, wide)), wide, width, 1)
            x = b.node("Add", x, y) if stride == 1 and channels == width else y
            channels = width
    return b.finish(relu(b.conv(x, channels, 1280, 1)), 1280, classes)
