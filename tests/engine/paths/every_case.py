"""The cases of every operation, by name: kernels, further layers and the operations of kernels/loops/loops.h."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.engine.paths.affine_cases import AFFINE
from tests.engine.paths.cases import KERNELS
from tests.engine.paths.layer_cases import LAYERS
from tests.engine.paths.loop_cases import LOOPS
from tests.engine.paths.one_record import Case
from tests.engine.paths.rprelu_cases import RPRELU
from tests.engine.paths.rsign_cases import RSIGN
from tests.engine.paths.window_cases import WINDOWS

EVERY: dict[str, Callable[[], Iterator[Case]]] = (
    KERNELS | LAYERS | WINDOWS | AFFINE | RPRELU | RSIGN | {f"{name} loops": LOOPS[name] for name in LOOPS}
)
