"""Flash that the learner in C takes on a core without vectors: as gcc 12 links it for a Cortex-M7, -O2
(tools/code_bytes.py), times the share of other cores (export/targets.py).

BASE is everything but operations, with what it needs of the C library and the table of colours, which all have; an
operation adds its own. tests/mcu compares plans with what was linked.
"""

from __future__ import annotations

from bitreplay.engine.program import Program
from bitreplay.export.targets import Core

BASE = 93126
OPERATIONS = {
    "image_table": 0,
    "add": 1856,
    "affine": 896,
    "affine_fine": 2176,
    "average_pool": 7616,
    "binary_conv": 1472,
    "clip": 2560,
    "concat": 1856,
    "depthwise_conv": 5376,
    "filter_pool": 7488,
    "integer_conv": 1728,
    "max_pool": 7552,
    "pack_signs": 576,
    "pack_signs_above": 3072,
    "pack_signs_clipped": 1536,
    "rprelu": 1984,
    "unpack_signs": 1024,
}
STACK = 16 << 10  # of RAM, as core/embedded/mcu/image.ld has it


def code_bytes(program: Program, core: Core) -> int:
    """Operations that are not in the table, which no shipped model uses, count as the largest."""
    used = {record.operation for record in program.records}
    return round(core.code * (BASE + sum(OPERATIONS.get(each, max(OPERATIONS.values())) for each in used)))
