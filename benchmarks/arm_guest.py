"""What arm_peer.py runs under qemu-user: works of ONNX Runtime or PyTorch between the marks that are counted.

    python arm_guest.py onnx FILE...               a forward pass of each ONNX file
    python arm_guest.py torch mobilenet_v2.py      MobileNetV2's forward pass and tail step, in two memory layouts

The Python is an aarch64 one that has the peer's wheel and not this package, so nothing of it is imported. Prints a line
for each work: the peer's version and the setting.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

MARK = 0xB17  # as in core/tools/count.c
CLASSES = 10


def counted(work: Callable[[], object]) -> None:
    """Once to warm up, then two counts: of one call and of three."""
    system_call = ctypes.CDLL(None).syscall
    work()
    for calls in (1, 3):
        system_call(MARK, 1)
        for _ in range(calls):
            work()
        system_call(MARK, 0)


def onnx(files: list[str]) -> None:
    import numpy as np
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    image = np.random.default_rng(1).normal(0, 1, (1, 3, 224, 224)).astype(np.float32)
    for file in files:
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        counted(lambda session=session: session.run(None, {"image": image}))  # type: ignore[misc]
        print(f"forward,ONNX Runtime {onnxruntime.__version__},{Path(file).stem}", flush=True)


def pytorch(file: str) -> None:
    """Plain SGD as in benchmarks.bench.pytorch.execution; BatchNorm keeps its statistics."""
    import torch
    from torch.nn import functional as F

    spec = importlib.util.spec_from_file_location("mobilenet_v2", file)
    assert spec is not None and spec.loader is not None
    network = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(network)
    torch.set_num_threads(1)
    name, labels = f"PyTorch {torch.__version__.partition('+')[0]}", torch.zeros(1, dtype=torch.long)
    for layout, setting in ((torch.contiguous_format, "fp32"), (torch.channels_last, "fp32 channels last")):
        start = network.start().to(memory_format=layout)
        image = torch.randn(1, 3, 224, 224).contiguous(memory_format=layout)

        def forward(start=start, image=image) -> None:
            with torch.no_grad():
                start(image)

        counted(forward)
        print(f"forward,{name},{setting}", flush=True)

        tail = network.tail(CLASSES).to(memory_format=layout)
        x = torch.randn(1, *network.LEVEL_SHAPE).contiguous(memory_format=layout)
        optimiser = torch.optim.SGD(tail.parameters(), lr=1e-3)

        def step(tail=tail, x=x, optimiser=optimiser) -> None:
            optimiser.zero_grad()
            F.cross_entropy(tail(x), labels).backward()
            optimiser.step()

        counted(step)
        print(f"step,{name},{setting}", flush=True)


if __name__ == "__main__":
    onnx(sys.argv[2:]) if sys.argv[1] == "onnx" else pytorch(sys.argv[2])
