"""A fresh process that takes three training steps and prints its peak resident memory above its base, in bytes.

    python -m benchmarks.bench.resident ours PROGRAM_FILE MINIBATCH
    python -m benchmarks.bench.resident torch MINIBATCH

The base is what the process holds once its modules are loaded. Everything that comes after counts: the network's
weights, what the engine or PyTorch derives from them, samples, activations, gradients.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

STEPS = 3
PROCESS = Path("/proc/self")


def restart_peak() -> int:
    """Forget the peak so far where the kernel can; the base in bytes."""
    try:
        (PROCESS / "clear_refs").write_text("5")
    except OSError:
        return peak()
    return _status("VmRSS")


def peak() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _status(key: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"the kernel does not report {key}")


def ours(file: str, minibatch: int) -> int:
    import numpy.random  # noqa: F401  NumPy loads it when it is first used; it makes the samples

    from benchmarks.bench.ours import tail_step
    from bitreplay.engine.native import library
    from bitreplay.engine.program import Program

    library()
    base = restart_peak()
    step = tail_step(Program.from_bytes(Path(file).read_bytes()), minibatch)
    for _ in range(STEPS):
        step()
    return peak() - base


def torch(minibatch: int) -> int:
    from benchmarks.bench.ours import CLASSES
    from benchmarks.bench.pytorch import contestants

    contestants.version()
    base = restart_peak()
    step = contestants.plain_bireal18_step(minibatch, CLASSES)
    for _ in range(STEPS):
        step()
    return peak() - base


if __name__ == "__main__":
    print(ours(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "ours" else torch(int(sys.argv[2])))
