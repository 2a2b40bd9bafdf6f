"""ONNX Runtime's int8: static quantisation with ranges from random images, then one thread."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CALIBRATION_IMAGES = 4


def version() -> str:
    """Raises ImportError where a part is missing."""
    import onnx
    import onnxruntime

    return f"{onnxruntime.__version__} (onnx {onnx.__version__})"


def int8_forward(model: Any) -> Callable[[], object]:
    """One forward pass of a float ONNX model, quantised: int8 weights per channel, uint8 activations."""
    import onnx
    import onnxruntime
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    onnxruntime.set_default_logger_severity(3)
    rng = np.random.default_rng(1)
    source = model.graph.input[0]
    shape = [d.dim_value for d in source.type.tensor_type.shape.dim]
    images = [{source.name: rng.normal(0, 1, shape).astype(np.float32)} for _ in range(CALIBRATION_IMAGES)]

    class Reader(q.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = iter(images)

        def get_next(self) -> dict[str, Any] | None:
            return next(self.left, None)

    with tempfile.TemporaryDirectory() as folder:
        plain, ready, small = (str(Path(folder) / f"{name}.onnx") for name in ("plain", "ready", "small"))
        onnx.save(model, plain)
        quant_pre_process(plain, ready)
        q.quantize_static(ready, small, Reader(), q.QuantFormat.QDQ, per_channel=True,
                          activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)  # fmt: skip
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(small, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, images[0])


def settings(model: Any, note: str = "one thread") -> list[tuple[str, Callable[[], Callable[[], object]]]]:
    """The one setting that is compared with."""
    return [(note, lambda: int8_forward(model))]
