"""Every registered layer has a row and passes all checks: bit widths, one-pixel maps, 1 and 65 channels, one sample."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.checks import check_layer
from bitreplay.engine.layers import LAYERS
from tests.engine.layers.rows import ROWS, Row, Setting

# Layers of a backbone have no gradient: test_backbone_layers.py.
FORWARD_ONLY = {"image", "encode_latents"}
CASES = [pytest.param(row, id=f"{kind} {name}".strip()) for kind, rows in ROWS.items() for name, row in rows.items()]
WIDTHS = [Bits(8, 1, 8), Bits(16, 4, 16), Bits(32, 32, 32)]
EXTREMES = [((1, 1, 1), 1), ((1, 1, 65), 2), ((3, 5, 65), 1)]


def check(row: Row, shape: tuple[int, int, int], bits: Bits, samples: int, must_flow: bool = False) -> None:
    setting = Setting(shape, bits, np.random.default_rng(7), [])
    graph, name, oracle = row(setting)
    check_layer(graph, name, oracle, bits=bits, samples=samples)
    assert setting.seen or oracle is None or not must_flow, "no gradient of the oracle is other than 0"


def test_every_layer_has_a_row():
    assert set(ROWS) | FORWARD_ONLY == set(LAYERS)


@pytest.mark.parametrize("bits", WIDTHS, ids=str)
@pytest.mark.parametrize("row", CASES)
def test_a_layer_holds_what_it_must(row, bits):
    check(row, (4, 4, 5), bits, 3, must_flow=True)


@pytest.mark.parametrize("shape, samples", EXTREMES, ids=str)
@pytest.mark.parametrize("row", CASES)
def test_a_layer_at_the_edges(row, shape, samples):
    check(row, shape, Bits(8, 8, 16), samples)
