"""The random operands of the law's tests, as wide as tiles and vectors, for all of kernels/loops/loops.h."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.engine.law import case as law
from tests.engine.law.random.draw import Draw
from tests.engine.paths.one_record import Case, Operand

WIDTHS = (1, 7, 8, 17, 33, 63, 64, 65, 127, 255, 256, 257, 300)
OPERATIONS_WITH_LOOPS = (
    "add", "average_pool", "average_pool_input_grad", "batchnorm_fold", "batchnorm_update", "clip", "clip_input_grad",
    "concat", "concat_input_grad", "dense_operand", "dense", "dense_input_grad", "dense_param_grad", "dense_update",
    "depthwise_conv", "learned_depthwise", "depthwise_conv_input_grad", "learned_depthwise_update", "filter_pool",
    "filter_pool_input_grad", "gradient_sum", "learned_operand", "learned_update", "max_pool", "max_pool_input_grad",
    "rprelu", "rprelu_input_grad", "rprelu_param_grad", "pack_signs_above", "rsign_input_grad", "rsign_param_grad",
)  # fmt: skip


class WideDraw(Draw):
    """A draw whose channels stay as many as they were asked for."""

    width_of_rows: int

    def __init__(self, seed: int, width: int) -> None:
        object.__setattr__(self, "width_of_rows", width)
        super().__init__(seed)

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, self.width_of_rows if name == "channels" else value)


def law_case(operation: str, seed: int, width: int) -> Case:
    """What the law's tests draw from a seed, with `width` channels."""
    drawn = law.makers()[operation](WideDraw(seed, width))
    roles = {role: held for role, held in drawn.tensors.items() if held is not None}
    operands = {role: Operand(np.array(held.values, held.dtype), held.per_sample) for role, held in roles.items()}
    return Case(operation, operands, drawn.attributes, drawn.run["samples"], f"seed {seed} width {width}")


def cases_of(operation: str) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        for seed in range(26):
            yield law_case(operation, seed, WIDTHS[seed % len(WIDTHS)])

    return cases


LOOPS = {operation: cases_of(operation) for operation in OPERATIONS_WITH_LOOPS}
