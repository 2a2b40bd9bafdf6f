"""Every model of the package: each node of its graph computes what the module's layer computes, in float and in whole
numbers, from the same input."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay import modelfile
from bitreplay.engine.arithmetic.packing import signs
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.graph import Fixed
from bitreplay.engine.operations import Run
from bitreplay.engine.reference import ReferenceMachine
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.lowering import Lowering, windows
from bitreplay.torch.convert.ranges import Watcher, minibatches, shapes_of
from bitreplay.torch.models import MODELS, build, input_size
from bitreplay.torch.models.binarize import RPReLU, RSign
from bitreplay.torch.models.layers import trace
from bitreplay.torch.twin import float_tail
from tests.torch.convert.pieces import after_forward, patches

WIDTHS = {
    "bireal18": (8, 16, 40, 72), "react18": (8, 16, 40, 72), "react18_64": (8, 16, 40, 72),
    "react_tiny": (8, 16, 40, 40), "vgg_small": (8, 40, 72), "quicknet": (16, 24, 40, 72),
    "quicknet_large": (16, 24, 40, 72),
    "efficientnet_lite0": (8, 8, 8, 16, 16, 24, 24, 40, 48),
    "efficientnet_tiny": (8, 8, 8, 16, 16, 48),
}  # fmt: skip
NAMES = list("abcde")


TOP = "quicknet with a top"


@pytest.fixture(scope="module", params=[*MODELS, TOP])
def converted(request):
    """A small model with settled statistics and uneven parameters, images, and its graph."""
    torch.manual_seed(0)
    name, options = ("quicknet", {"top": 96}) if request.param == TOP else (request.param, {})
    model = build(name, 5, widths=WIDTHS[name], **options)
    images = patches(12, min(64, input_size(name)))
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
            layer.eps = 0.1
        if isinstance(layer, (RSign, RPReLU)):
            for parameter in layer.parameters():
                nn.init.normal_(parameter, 0.1, 0.2)
    with torch.no_grad():
        model.train()(next(minibatches(images)))
    model.eval()
    # A dozen pictures: ranges that leave out more would cut away much of what so few values show.
    graph, _ = convert(model, images, class_names=NAMES, reestimate=False, outside=0.0003)
    return model, images, graph


def test_every_model_is_covered():
    assert set(WIDTHS) == set(MODELS)


def test_levels_have_their_names_and_shapes(converted, tmp_path):
    model, images, graph = converted
    assert list(graph.replay_layers) == list(model.replay_layers)
    modelfile.save(graph, tmp_path / "m", {})
    assert modelfile.digest(tmp_path / "m") == modelfile.digest(graph)


def test_each_node_is_the_layer_it_came_from(converted):
    """In float, fed with the module's own values. What remains is the rounding of real weights to 16 bits."""
    model, images, graph = converted
    traced = trace(copy.deepcopy(model).eval())
    lowered = Lowering(traced, shapes_of(traced, images), dict(model.replay_layers)).run()
    seen: dict = {}
    with torch.no_grad():
        Watcher(traced, list(traced.graph.nodes), seen.__setitem__).run(next(minibatches(images)))
        for node in graph.nodes[1:]:
            inputs = [seen[lowered.values[name]] for name in node.inputs]
            if node.kind == "dense":
                got = as_rows(inputs[0]) @ float_tail.real(node, "weights").T + float_tail.real(node, "bias")
            else:
                got = float_tail.LAYERS[node.kind](node, inputs[0].shape[1])(*inputs)
            wanted = seen[lowered.values[node.name]]
            if wanted.shape != got.shape:
                wanted = wanted.reshape(got.shape)
            assert (got - wanted).abs().max() <= 2e-3 * wanted.abs().max() + 1e-5, node.name


def as_rows(x):
    """What the head reads: channels last, flattened."""
    return x if x.dim() == 2 else x.permute(0, 2, 3, 1).flatten(1)


@pytest.mark.parametrize("bits", [8, 16])
def test_whole_numbers_differ_by_a_rounding(converted, bits):
    """Activations by half a step, what the shortcut's factor (a step at most at 16 bits) and BatchNorm's mean lose;
    signs only where the value lies at the threshold."""
    _, images, graph = converted
    got, steps, units = run_kept(graph, Bits(bits, 1, 16), images[:2])
    for node in graph.nodes[1:-1]:
        inputs = [torch.from_numpy(got[name]).permute(0, 3, 1, 2) for name in node.inputs]
        with torch.no_grad():
            layer = float_tail.LAYERS[node.kind](node, inputs[0].shape[1]).double()
            wanted = layer(*inputs).permute(0, 2, 3, 1).numpy()
        if node.name in steps:
            step, (low, high) = steps[node.name], (float(end) for end in graph.ranges[node.name])
            inside = (wanted > low + step) & (wanted < high - step)
            shortcut = 0.004 * 2 ** (bits - 8) if len(node.inputs) > 1 else 0.0
            room = (0.51 + shortcut) * step + mean_rounding(node, units) + 1e-7 * np.abs(wanted)
            assert (np.abs(wanted - got[node.name]) <= room)[inside].all(), node.name
            if node.kind == "batchnorm" and node.name not in windows(graph.nodes):
                assert inside.mean() > 0.9, node.name
        elif node.kind in ("sign", "rsign"):
            distance = np.abs(got[node.inputs[0]] - threshold(node))
            assert (distance[wanted != got[node.name]] <= 0.01 * steps[node.inputs[0]]).all(), node.name
        elif node.kind in ("binary_conv", "relu", "max_pool"):
            assert np.abs(wanted - got[node.name]).max() <= 1e-5 * np.abs(wanted).max(), node.name


def mean_rounding(node, units) -> np.ndarray | float:
    """BatchNorm keeps its mean to 2^-12 of a unit of what it reads."""
    if node.kind != "batchnorm":
        return 0.0
    slope = float_tail.real(node, "gamma") * float_tail.real(node, "inverse_sigma")
    return np.abs(slope.numpy()) * units[node.inputs[0]] * 2.0**-13


def threshold(node) -> np.ndarray | float:
    return float_tail.real(node, "threshold").double().numpy() if node.kind == "rsign" else 0.0


def run_kept(graph, bits, images):
    """Every value of the network as real numbers (+-1 for signs), the steps of activations, the units of all."""
    builder, machine = after_forward(graph, bits, images)
    reals: dict[str, np.ndarray] = {}
    units: dict[str, np.ndarray] = {}
    for name, value in builder.values.items():
        stored = machine.read(machine.program.tensors[value.tensor].name, len(images))
        if value.activation is None and value.scales is None:
            packed = stored.dtype == np.uint64
            reals[name] = signs(stored, value.shape[2]).astype(np.float64) if packed else stored / 2.0**16
            continue
        units[name] = np.array([float(scale) for scale in value.channel_scales])
        reals[name] = (stored.astype(np.int64) - (value.activation.zero if value.activation else 0)) * units[name]
    return reals, {name: float(units[name][0]) for name in graph.ranges}, units


def test_the_float_tail_takes_the_engines_steps(converted):
    model, images, graph = converted
    labels = np.arange(len(images), dtype=np.int32) % 5
    bits, count = Bits(32, 1, 32), len(images)
    for replay_layer in graph.replay_layers:
        backbone = ReferenceMachine(compile_backbone(graph, replay_layer, bits, count))
        backbone.write("images", images)
        backbone.run("forward", Run(count))
        words = backbone.read("latents", count)
        machine = ReferenceMachine(compile_tail(graph, replay_layer, bits, count, 5))
        tail = float_tail.FloatTail(graph, replay_layer, 5)
        optimiser = torch.optim.SGD(tail.parameters(), lr=2.0**-6)
        for step in range(3):
            machine.write("latents", words)
            machine.write("labels", labels)
            for part in ("forward", "backward", "update", "prepare"):
                machine.run(part, Run(count, 0, step, 1 << 30, 36))
            optimiser.zero_grad()
            tail.loss(words, labels).backward()
            optimiser.step()
        machine.run("forward", Run(count))
        with torch.no_grad():
            wanted = tail(words).numpy()
        agreement = np.corrcoef(machine.read("logits", count).reshape(-1), wanted.reshape(-1))[0, 1]
        # A binary tail is chaotic; one without signs takes all but the same steps, and smaller ones from a fresh head.
        least, moved = (0.8, 0.1) if "binary_conv" in {node.kind for node in graph.nodes} else (0.999, 0.005)
        assert agreement > least and np.abs(wanted).max() > moved, (replay_layer, agreement)


def test_rounding_to_sixteen_bits_is_what_the_file_keeps(converted):
    _, _, graph = converted
    for node in graph.nodes:
        if node.kind in ("integer_conv", "depthwise_conv", "dense"):
            weights = node.arrays["weights"]
            assert isinstance(weights, Fixed) and 2**13 < np.abs(weights.values).max() < 2**15, node.name
