"""Real-valued weights in 8 bits: the same network at q_f = 8, in half the bytes."""

import copy

import numpy as np
import pytest
import torch

from bitreplay import modelfile
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.graph import Fixed
from bitreplay.engine.layers.integer_conv import quantise_weights
from bitreplay.engine.native import NativeMachine
from bitreplay.engine.operations import Run
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.torch.convert import ConversionError, convert
from bitreplay.torch.convert.ranges import minibatches
from bitreplay.torch.models import build
from tests.torch.convert.pieces import patches

WIDTHS = (8, 8, 8, 16, 16, 24, 24, 40, 48)


@pytest.fixture(scope="module")
def settled():
    """A narrow network whose statistics are those of its pictures."""
    torch.manual_seed(0)
    model, images = build("efficientnet_lite0", 5, widths=WIDTHS), patches(12, 64)
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
            torch.nn.init.uniform_(layer.weight, 0.5, 1.5)
            torch.nn.init.normal_(layer.bias)
    with torch.no_grad():
        model.train()(next(minibatches(images)))
    return model.eval(), images


def real(node, role):
    return node.arrays[role].values / 2.0 ** node.arrays[role].shift


def converted(settled, bits):
    model, images = settled
    return convert(model, images, class_names=list("abcde"), outside=0.0, weight_bits=bits)[0]


def logits(graph, images):
    machine = NativeMachine(compile_whole(graph, Bits(), len(images)))
    machine.write("images", images)
    machine.run("forward", Run(len(images)))
    return machine.read("logits", len(images)).astype(np.float64)


def test_the_engine_computes_with_the_same_weights(settled):
    """At q_f = 8 both are rounded to the same integers, but for a few that lie half-way between two."""
    wide, narrow = ({node.name: node for node in converted(settled, bits).nodes} for bits in (16, 8))
    for name, node in narrow.items():
        if node.attributes.get("weight_bits") == 8:
            (a, at), (b, bt) = ((n.arrays["weights"].values, n.arrays["weights"].shift) for n in (wide[name], node))
            (a, a_scales), (b, b_scales) = quantise_weights(a, at, 8), quantise_weights(b, bt, 8)
            assert np.abs(a.astype(int) - b).max() <= 1 and (a != b).mean() < 0.01
            norm = next(n for n in narrow.values() if name in n.inputs)
            mine, other = [
                [float(s) for s in scales] * real(graph[norm.name], "inverse_sigma")
                for scales, graph in ((a_scales, wide), (b_scales, narrow))
            ]
            np.testing.assert_allclose(mine, other, rtol=0.01)


def test_it_answers_as_sixteen_bits_do(settled):
    wide, narrow = (logits(converted(settled, bits), settled[1]) for bits in (16, 8))
    assert np.corrcoef(wide.reshape(-1), narrow.reshape(-1))[0, 1] > 0.98


def test_a_channel_that_died_in_training_stays_what_it_was(settled):
    """Weight decay leaves next to nothing of some channels: in 16 bits beside the others their 1 / sigma would be 0."""
    model, images = copy.deepcopy(settled[0]), settled[1]
    convolution, norm = model.get_submodule("blocks.1.expand.0"), model.get_submodule("blocks.1.expand.1")
    with torch.no_grad():
        convolution.weight[0] *= 1e-12
        norm.running_mean[0] *= 1e-12
        norm.running_var[0] *= 1e-24
    wide, narrow = (logits(converted((model, images), bits), images) for bits in (16, 8))
    assert np.corrcoef(wide.reshape(-1), narrow.reshape(-1))[0, 1] > 0.98


def test_the_file_has_bytes_and_the_digest_of_what_is_read(settled, tmp_path):
    paths = {}
    for bits in (16, 8):
        paths[bits] = tmp_path / f"{bits}.safetensors"
        digest = modelfile.save(converted(settled, bits), paths[bits], {})
        graph, _ = modelfile.load(paths[bits])
        assert modelfile.digest(graph) == digest
    arrays, _ = unpack_container(paths[8].read_bytes(), "it")
    assert {a.dtype for name, a in arrays.items() if name.endswith("/weights") and "head" not in name} == {
        np.dtype("i1")
    }
    stem = next(node for node in graph.nodes if node.kind == "integer_conv").arrays["weights"]
    assert isinstance(stem, Fixed) and np.abs(stem.values).max(axis=(1, 2, 3)).tolist() == [127] * len(stem.values)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [(np.int8(-128), "holds -128"), (np.int16(3), "has type int16; expected int8")],
)
def test_other_weights_are_refused(settled, tmp_path, weights, sentence):
    path = tmp_path / "m.safetensors"
    modelfile.save(converted(settled, 8), path, {})
    arrays, texts = unpack_container(path.read_bytes(), "it")
    arrays["stem.0/weights"] = np.full(arrays["stem.0/weights"].shape, weights)
    del texts["sha256"]
    path.write_bytes(pack_container(arrays, texts))
    with pytest.raises(modelfile.ModelFileError, match=sentence):
        modelfile.load(path)


def test_other_widths_are_refused(settled):
    with pytest.raises(ConversionError, match="weight_bits is 4; expected 8 or 16"):
        converted(settled, 4)


def test_values_that_a_clip_alone_reads_are_stored_in_its_interval(settled):
    graph = converted(settled, 8)
    clips = [node for node in graph.nodes if node.kind == "clip"]
    assert len(clips) == 33
    for clip in clips:
        low, high = graph.ranges[clip.inputs[0]]
        assert 0 == low < high <= 6
        assert graph.ranges[clip.name] == (low, high)
