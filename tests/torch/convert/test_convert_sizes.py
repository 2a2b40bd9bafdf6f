"""Conversion for several input sizes: ranges are calibrated at each, and all else is that of the first."""

import numpy as np
import pytest
import torch

from bitreplay.modelfile.input_sizes import at_size
from bitreplay.modelfile.schema import write
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.layer_table import ConversionError
from bitreplay.torch.models.bireal18 import BiReal18
from tests.torch.convert.pieces import patches
from tests.torch.convert.test_convert import NAMES, settled

SIZES = (32, 16, 48)


@pytest.fixture(scope="module")
def images():
    return {size: patches(12, size) for size in SIZES}


@pytest.fixture(scope="module")
def model(images):
    torch.manual_seed(0)
    return settled(BiReal18(5, widths=(4, 8, 12, 16)), images[32])


def test_ranges_are_those_of_a_conversion_at_that_size(model, images):
    graph, how = convert(model, images[32], class_names=NAMES, also=[images[16], images[48]])
    plain, provenance = convert(model, images[32], class_names=NAMES)
    assert how["range_sizes"] == [16, 32, 48] and "range_sizes" not in provenance
    for size in (16, 48):
        alone, _ = convert(model, images[size], class_names=NAMES)
        same = [name for name in alone.ranges if graph.ranges_at[size][name] == alone.ranges[name]]
        # Behind the first level, codes are seen too, and those are of the first size.
        before = {node.name for node in graph.nodes[: graph.position("add_8")]} & set(alone.ranges)
        assert len(before) > 5 and before <= set(same)
        assert graph.ranges_at[size] != graph.ranges and at_size(graph, size).ranges == graph.ranges_at[size]
    graph.ranges_at.clear()
    (made, arrays), (wanted, others) = write(graph), write(plain)
    assert made == wanted and all(np.array_equal(arrays[name], others[name]) for name in others)


def test_sizes_that_the_network_cannot_have_are_refused(model, images):
    for size in (18, 32):
        with pytest.raises(ConversionError, match=f"ranges for the size {size}, which the graph cannot have"):
            convert(model, images[32], class_names=NAMES, also=[patches(2, size)])
    with pytest.raises(ConversionError, match="expected uint8"):
        convert(model, images[32], class_names=NAMES, also=[images[16].astype(np.float32)])
