"""ONNX Runtime's int8: static quantisation with ranges from random images, then one thread."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench import held_to_avx2
from bitreplay.engine import native

CALIBRATION_IMAGES = 4


def version() -> str:
    """Beside our AVX2 kernels it is held to AVX2. Raises ImportError where a part is missing."""
    held = f", {held_to_avx2.hold()}" if native.isa() == "avx2" else ""
    import onnx
    import onnxruntime

    return f"{onnxruntime.__version__} (onnx {onnx.__version__}){held}"


def calibration(model: Any) -> list[dict[str, Any]]:
    """Random inputs, always the same."""
    rng, source = np.random.default_rng(1), model.graph.input[0]
    shape = [d.dim_value for d in source.type.tensor_type.shape.dim]
    return [{source.name: rng.normal(0, 1, shape).astype(np.float32)} for _ in range(CALIBRATION_IMAGES)]


def save_int8(model: Any, file: Path, signed: bool = False) -> None:
    """A float ONNX model, quantised: int8 weights per channel, uint8 activations, or int8 ones too."""
    import onnx
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(q.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = iter(calibration(model))

        def get_next(self) -> dict[str, Any] | None:
            return next(self.left, None)

    with tempfile.TemporaryDirectory() as folder:
        plain, ready = (str(Path(folder) / f"{name}.onnx") for name in ("plain", "ready"))
        onnx.save(model, plain)
        quant_pre_process(plain, ready)
        q.quantize_static(ready, str(file), Reader(), q.QuantFormat.QDQ, per_channel=True,
                          activation_type=q.QuantType.QInt8 if signed else q.QuantType.QUInt8,
                          weight_type=q.QuantType.QInt8)  # fmt: skip


def int8_forward(model: Any) -> Callable[[], object]:
    """One forward pass of a float ONNX model, quantised with uint8 activations."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.onnx"
        save_int8(model, small)
        return forward(small.read_bytes(), calibration(model)[0])


def forward(model: bytes, images: dict[str, Any]) -> Callable[[], object]:
    """One forward pass of an ONNX model as it is, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, images)


def float_settings(model: Any) -> list[tuple[str, Callable[[], Callable[[], object]]]]:
    """The float model as it is."""
    return [("one thread", lambda: forward(model.SerializeToString(), calibration(model)[0]))]


def settings(model: Any, note: str = "one thread") -> list[tuple[str, Callable[[], Callable[[], object]]]]:
    """The one setting that is compared with."""
    return [(note, lambda: int8_forward(model))]
