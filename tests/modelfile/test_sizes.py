"""One network at many input sizes: which it can be used at, and what changes with them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from bitreplay import modelfile, zoo
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.feature_program import compile_features, default_feature_layers
from bitreplay.engine.graph import Graph
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.checks import check
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.modelfile.input_sizes import at_size, sizes
from tests import tiny

STRIDES = {
    "bireal18": 8,
    "efficientnet_lite0": 32,
    "efficientnet_tiny": 16,
    "quicknet": 32,
    "quicknet_large": 32,
    "react18": 8,
    "react18_64": 16,
    "react_tiny": 8,
}


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
        maps = {replay_layer: graph.shapes[replay_layer][0] / size for replay_layer in graph.replay_layers}
        assert maps == {
            replay_layer: model.graph.shapes[replay_layer][0] / model.size for replay_layer in graph.replay_layers
        }
        bits = Bits(8, 1, 16)
        compile_features(graph, default_feature_layers(graph), bits, 1)
        compile_backbone(graph, model.replay_layers[-1], bits, 1)
        compile_tail(graph, model.replay_layers[-1], bits, 1, 16)


def test_all_but_maps_is_shared():
    before = zoo.find("quicknet@1").graph  # it has ranges of one size
    after = at_size(before, 160)
    assert after.input_shape == (160, 160, 3) and after.shapes["quant_conv2d_16"] == (5, 5, 256)
    assert (after.nodes, after.replay_layers, after.ranges) == (before.nodes, before.replay_layers, before.ranges)
    assert at_size(before, 128) is before and at_size(after, 128).shapes == before.shapes


def test_a_size_between_the_strides_is_no_graph_where_maps_are_added():
    with pytest.raises(ModelFileError, match="adds maps of shapes"):
        at_size(zoo.find("react18").graph, 36)


def test_pictures_that_are_no_squares_have_their_own_size():
    assert not sizes(replace(tiny.graph(), input_shape=(8, 12, 3)))


# ranges of further sizes


def with_sizes(*found: int) -> Graph:
    """The tiny network, with ranges that tell which size they are of."""
    graph = tiny.graph()
    for size in found:
        graph.ranges_at[size] = dict.fromkeys(graph.ranges, (Fraction(0), Fraction(size)))
    return graph


def test_ranges_are_those_of_the_size_or_of_the_nearest_one():
    graph = with_sizes(16, 24)
    taken = {size: at_size(graph, size).ranges["pool"] for size in (8, 12, 16, 20, 24, 512)}
    own = graph.ranges["pool"]
    at_16, at_24 = (Fraction(0), Fraction(16)), (Fraction(0), Fraction(24))
    assert taken == {8: own, 12: own, 16: at_16, 20: at_16, 24: at_24, 512: at_24}


def test_files_keep_them_and_the_digest_covers_them(tmp_path):
    plain = modelfile.save(tiny.graph(), tmp_path / "plain", {})
    digest = modelfile.save(with_sizes(24, 16), tmp_path / "sizes", {})
    graph, _ = modelfile.load(tmp_path / "sizes")
    assert graph.ranges_at == with_sizes(16, 24).ranges_at and modelfile.digest(graph) == digest
    assert len({plain, digest, modelfile.digest(with_sizes(16))}) == 3
    assert b"sizes" not in (tmp_path / "plain").read_bytes()
    assert (
        plain == "8d990544909e7412040b7c4b063994027fb61b14b2f46c1407392a3e7d02d40c"
    )  # of the file before there were sizes


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda sizes: sizes.clear(), "table of sizes is empty"),
        (lambda sizes: sizes.update({"016": sizes["16"]}), "the size '016', which is not a size"),
        (lambda sizes: sizes.update({"20000000000": sizes["16"]}), "which is not a size"),
        (lambda sizes: sizes.update({"18": sizes["16"]}), "the size 18, which the graph cannot have"),
        (lambda sizes: sizes.update({"8": sizes["16"]}), "the size 8, which the graph cannot have"),
        (lambda sizes: sizes.update({"516": sizes["16"]}), "the size 516, which the graph cannot have"),
        (lambda sizes: sizes["16"].pop("pool"), "Node pool yields activations but has no range"),
        (lambda sizes: sizes["16"].update(other=[[0, 0], [1, 0]]), "a range for 'other', which yields no"),
        (lambda sizes: sizes["16"].update(pool=[[1, 0], [2, 0]]), "does not contain 0 or is empty"),
        (lambda sizes: sizes["16"].update(pool=[1, 2]), "The range of 'pool' must be"),
        (lambda sizes: sizes.update({"16": []}), "The table of ranges must be an object"),
    ],
)
def test_ranges_that_do_not_fit_are_refused(change, sentence, tmp_path):
    modelfile.save(with_sizes(16), tmp_path / "model", {})
    arrays, texts = unpack_container((tmp_path / "model").read_bytes(), "it")
    graph = json.loads(texts["graph"])
    change(graph["sizes"])
    texts["graph"] = json.dumps(graph)
    del texts["sha256"]
    (tmp_path / "model").write_bytes(pack_container(arrays, texts))
    with pytest.raises(ModelFileError, match=sentence):
        modelfile.load(tmp_path / "model")
