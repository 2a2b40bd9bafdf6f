"""Strategies for hypothesis: every operation in random shapes, near the widths of words and vectors more often.

Hypothesis chooses the sizes, the types and a seed; a generator fills the tensors. Each operation takes what the law's
tests draw, at a width of its own; kernels whose speed depends on outputs and geometry have strategies besides.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bitreplay.engine import layers as layers
from bitreplay.engine.operations import OPERATIONS
from tests.engine.paths.cases import dense_case, level_cases, pack_signs_case
from tests.engine.paths.conv_cases import (
    Geometry,
    binary_conv_case,
    input_grad_case,
    integer_conv_case,
    integer_input_grad_case,
)
from tests.engine.paths.latent_cases import update_case
from tests.engine.paths.loop_cases import law_case
from tests.engine.paths.one_record import Case
from tests.engine.paths.operands import STORED

NEAR = sorted({width + step for width in (8, 16, 32, 64, 96, 128, 192, 256) for step in (-1, 0, 1)})
SIZES = st.one_of(st.integers(1, 20), st.sampled_from(NEAR), st.integers(1, 300))
SMALL = st.one_of(st.integers(1, 20), st.sampled_from([n for n in NEAR if n < 100]))
SEEDS = st.integers(0, 2**32 - 1)
GENERATORS = st.builds(np.random.default_rng, SEEDS)
SAMPLES, STORED_TYPES = st.integers(1, 5), st.sampled_from(STORED)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    kernel, stride = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    pad = draw(st.integers(0, kernel // 2))
    least = max(1, kernel - 2 * pad)
    return draw(st.integers(least, least + 5)), draw(st.integers(least, least + 5)), kernel, stride, pad


def maps(channels: SearchStrategy[int] = SIZES) -> SearchStrategy[tuple[int, ...]]:
    return st.tuples(SAMPLES, st.integers(1, 4), st.integers(1, 4), channels)


def level_case(rng: np.random.Generator, dtype: type, bits: int, shape: tuple[int, ...], decodes: bool) -> Case:
    return list(level_cases(rng, dtype, bits, shape))[decodes]


def latent_step_case(
    rng: np.random.Generator, geometry: Geometry, channels: int, widths: tuple[int, int], outputs: int, shift: int,
    samples: int,
) -> Case:  # fmt: skip
    """A step of any size: most are near the weights' units, some by far."""
    case = update_case(rng, geometry, int(rng.integers(2)), channels, outputs, *widths, samples)
    case.attributes["shift"] += shift
    return case


WIDTHS = st.tuples(STORED_TYPES, STORED_TYPES, st.integers(-3, 30))
OWN: dict[str, SearchStrategy[Case]] = {
    "pack_signs": st.builds(pack_signs_case, GENERATORS, STORED_TYPES, maps()),
    "binary_conv": st.builds(binary_conv_case, GENERATORS, geometries(), SIZES, SMALL, st.integers(0, 1), SAMPLES),
    "binary_conv_input_grad": st.builds(
        input_grad_case, GENERATORS, geometries(), SIZES, SMALL, STORED_TYPES, st.sampled_from((np.int32, np.int64)),
        SAMPLES,
    ),
    "integer_conv": st.builds(
        integer_conv_case, GENERATORS, geometries(), SMALL, SMALL, WIDTHS, st.integers(-(1 << 15), 1 << 15), SAMPLES
    ),
    "integer_conv_input_grad": st.builds(
        integer_input_grad_case, GENERATORS, geometries(), SMALL, SMALL,
        st.tuples(STORED_TYPES, STORED_TYPES, STORED_TYPES), st.one_of(st.none(), st.integers(1, 127)), SAMPLES,
    ),
    "latent_update": st.builds(
        latent_step_case, GENERATORS, geometries(), SIZES,
        st.tuples(st.sampled_from((4, 8, 16, 32)), st.sampled_from((8, 16, 32))), st.integers(1, 9),
        st.one_of(st.just(0), st.integers(-40, 70)), st.integers(1, 20),
    ),
    "latent_code": st.builds(
        level_case, GENERATORS, STORED_TYPES, st.sampled_from((1, 2, 3, 4, 5, 8, 16)), maps(), st.booleans()
    ),
    "dense": st.builds(dense_case, GENERATORS, STORED_TYPES, SIZES, SIZES, SAMPLES),
}  # fmt: skip


def as_in_the_law(operation: str) -> SearchStrategy[Case]:
    return st.builds(law_case, st.just(operation), SEEDS, SIZES)


SHAPES = OWN | {f"{operation} as in the law": as_in_the_law(operation) for operation in OPERATIONS}
