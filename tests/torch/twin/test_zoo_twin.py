"""The shipped networks on shipped photographs: the engine beside a floating-point twin that rounds alike, and each sign
beside the layer in real numbers, from the same input."""

import numpy as np
import pytest
import torch

from bitreplay import zoo
from bitreplay.data.groceries import groceries
from bitreplay.data.pictures.resize import resize
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run
from bitreplay.torch.twin import float_tail
from bitreplay.torch.twin.twin import Twin

COUNT = {32: 60, 64: 20, 128: 6, 160: 4, 192: 3}  # pictures, for each side that a network reads


@pytest.fixture(scope="module", params=zoo.names())
def shipped(request):
    graph = zoo.find(request.param).graph
    side = graph.input_shape[0]
    pictures = groceries().test_images[:: 661 // COUNT[side]][: COUNT[side]]
    return graph, np.stack([resize(picture, side) for picture in pictures])


def engine_logits(graph, images):
    runner = machine(compile_whole(graph, Bits(), len(images)))
    runner.write("images", images)
    runner.run("forward", Run(len(images)))
    return runner.read("logits", len(images))


def test_a_twin_that_rounds_alike_gives_the_same_answers(shipped):
    """Not one first guess in a thousand may differ; logits differ by the last bit of their binary point."""
    graph, images = shipped
    got, twin = engine_logits(graph, images), Twin(graph)(images).numpy()
    assert (got.argmax(axis=1) == twin.argmax(axis=1)).mean() >= 0.999
    assert np.abs(got * 2.0**-16 - twin).max() <= 2.0**-15


def test_signs_differ_from_real_numbers_within_one_step_of_the_threshold(shipped):
    """Every layer in front of a sign in float64 with the converted numbers, fed with what the engine feeds it."""
    graph, images = shipped
    if not {"sign", "rsign"} & {node.kind for node in graph.nodes}:
        pytest.skip("it has no signs")
    twin = Twin(graph)
    reals: dict[str, torch.Tensor] = {}
    flipped = signs = 0
    for node, inputs, y in twin.values(images[:10]):
        if node.kind in ("sign", "rsign"):
            (source,) = node.inputs
            spec = twin.compiled[source].activation
            assert spec is not None
            threshold = float_tail.real(node, "threshold").view(-1, 1, 1) if node.kind == "rsign" else 0.0
            differs = (reals[source] >= threshold) != (y > 0)
            distance = (reals[source] - threshold).abs()[differs] / float(spec.scale)
            assert (distance <= 1).all(), (node.name, distance.max())
            flipped, signs = flipped + int(differs.sum()), signs + differs.numel()
        elif node.kind != "dense":
            layer = float_tail.LAYERS[node.kind](node, inputs[0].shape[1])
            reals[node.name] = layer.double()(*inputs).detach()
    assert 0 < flipped < 0.05 * signs


def test_a_twin_with_other_numbers_gives_other_answers():
    """The comparison is sharp: half a step more on one layer shows."""
    graph = zoo.find("bireal18").graph
    images = np.stack([resize(picture, 32) for picture in groceries().test_images[:8]])
    twin = Twin(graph)
    numbers = twin.numbers["add_5"].constants["b"]
    numbers += 0.5 * 2.0 ** twin.numbers["add_5"].attributes["shift"]
    assert np.abs(engine_logits(graph, images) * 2.0**-16 - twin(images).numpy()).max() > 0.01
