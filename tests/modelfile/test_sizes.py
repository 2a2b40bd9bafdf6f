"""One network at many input sizes: which it can be used at, and what changes with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bitreplay import zoo
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.features import compile_features, usual_numbers
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.checks import check
from bitreplay.modelfile.sizes import at_size, sizes
from tests import tiny

STRIDES = {"bireal18": 8, "quicknet": 32, "quicknet_large": 32, "react18": 8, "react18_64": 16, "react_tiny": 8}


@pytest.mark.parametrize("name", zoo.names())
def test_a_network_can_be_used_at_multiples_of_its_stride(name):
    model = zoo.find(name)
    if name not in STRIDES:
        assert not sizes(model.graph) and model.sizes == [model.size]
        return
    assert sizes(model.graph) == range(2 * STRIDES[name], 513, STRIDES[name])
    for size in (model.sizes[0], model.sizes[-1]):
        graph = at_size(model.graph, size)
        check(graph)
        maps = {level: graph.shapes[level][0] / size for level in graph.levels}
        assert maps == {level: model.graph.shapes[level][0] / model.size for level in graph.levels}
        bits = Bits(8, 1, 16)
        compile_features(graph, usual_numbers(graph), bits, 1)
        compile_backbone(graph, model.levels[-1], bits, 1)
        compile_tail(graph, model.levels[-1], bits, 1, 16)


def test_all_but_maps_is_shared():
    before = zoo.find("quicknet").graph
    after = at_size(before, 160)
    assert after.input_shape == (160, 160, 3) and after.shapes["quant_conv2d_16"] == (5, 5, 256)
    assert (after.nodes, after.levels, after.ranges) == (before.nodes, before.levels, before.ranges)
    assert at_size(before, 128) is before and at_size(after, 128).shapes == before.shapes


def test_a_size_between_the_strides_is_no_graph_where_maps_are_added():
    with pytest.raises(ModelFileError, match="adds maps of shapes"):
        at_size(zoo.find("react18").graph, 36)


def test_pictures_that_are_no_squares_have_their_own_size():
    assert not sizes(replace(tiny.graph(), input_shape=(8, 12, 3)))
