"""Every network of the package, narrow: images to level, and their tails trained.

At every level, with frozen and with latent weights, the native core ends in the reference's state on every path.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.graph import Graph
from bitreplay.engine.native import NativeMachine, SlowMachine, available_isas, isa, set_isa
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.convert import convert
from bitreplay.torch.models import MODELS, build, input_size

WIDTHS = {
    "bireal18": (8, 8, 16, 24), "react18": (8, 8, 16, 24), "react18_64": (8, 8, 16, 24),
    "react_tiny": (8, 8, 16, 16), "vgg_small": (8, 16, 24), "quicknet": (8, 8, 16, 24),
    "quicknet_large": (8, 8, 16, 24),
    "efficientnet_lite0": (8, 8, 8, 16, 16, 24, 24, 40, 48),
    "efficientnet_tiny": (8, 8, 8, 16, 16, 48),
}  # fmt: skip
# The real-valued convolutions of the tail learn too.
LEARNING: dict[str, dict[str, int | str]] = {"integer_conv": {"learns": 1}}
CLASSES, SAMPLES, STEPS = 4, 3, 3
SETTINGS = [Bits(8, 1, 16), Bits(8, 4, 16), Bits(16, 8, 8)]


def pictures(size: int, count: int = 6) -> np.ndarray:
    """Smooth random pictures."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (count, 4, 4, 3))
    return coarse.repeat(size // 4, axis=1).repeat(size // 4, axis=2).astype(np.uint8)


def settle(model: nn.Module, images: np.ndarray) -> None:
    """Statistics of BatchNorm that are those of the pictures."""
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
    with torch.no_grad():
        model.train()(scale_pixels(torch.from_numpy(images).permute(0, 3, 1, 2)))


@pytest.fixture(scope="module", params=list(MODELS))
def network(request) -> tuple[Graph, np.ndarray]:
    torch.manual_seed(0)
    model = build(request.param, CLASSES, widths=WIDTHS[request.param])
    images = pictures(min(64, input_size(request.param)))
    if request.param.startswith("efficientnet"):  # fresh statistics of so deep a network leave nothing of the picture
        settle(model, images)
    graph, _ = convert(model.eval(), images, class_names=list("abcd"), outside=0.0003, reestimate=True)
    nodes = [replace(n, attributes=n.attributes | LEARNING.get(n.kind, {})) for n in graph.nodes]
    return replace(graph, nodes=nodes), images[:SAMPLES]


def latents(machine: SlowMachine | NativeMachine, images: np.ndarray) -> np.ndarray:
    machine.write("images", images)
    machine.run("forward", Run(len(images)))
    return machine.read("latents", len(images))


def trained(machine: SlowMachine | NativeMachine, codes: np.ndarray) -> str:
    head = machine.read("head.weights")
    machine.write("head.weights", np.random.default_rng(1).integers(-(2**27), 2**27, head.shape).astype(np.int32))
    machine.run("prepare", Run(1))
    for step in range(STEPS):
        machine.write("latents", codes)
        machine.write("labels", (np.arange(len(codes)) % CLASSES).astype(np.int32))
        machine.run_step(Run(len(codes), 5, step, 1 << 30, 36))
    return hashlib.sha256(machine.regions["parameter"].tobytes()).hexdigest()


def moved(program: Program, machine: SlowMachine) -> dict[str, bool]:
    """Which learned tensors are no longer what they were at first."""
    before = SlowMachine(program)
    names = [t.name for t in program.tensors if t.region == "parameter" and not t.name.endswith(".active")]
    return {name: not np.array_equal(before.read(name), machine.read(name)) for name in names}


def test_every_model_is_here():
    assert set(WIDTHS) == set(MODELS)


@pytest.fixture(autouse=True)
def the_path_stays():
    before = isa()
    yield
    set_isa(before)


@pytest.mark.parametrize("bits", SETTINGS, ids=str)
def test_native_and_reference_end_in_the_same_state(network, bits):
    graph, images = network
    for replay_layer in graph.replay_layers:
        backbone = compile_backbone(graph, replay_layer, bits, SAMPLES)
        codes = latents(SlowMachine(backbone), images)
        program = compile_tail(graph, replay_layer, bits, SAMPLES, CLASSES)
        reference = SlowMachine(program)
        expected = trained(reference, codes)
        still = [name for name, has_moved in moved(program, reference).items() if not has_moved]
        assert still == [], (replay_layer, still)
        for name in available_isas():
            set_isa(name)
            assert np.array_equal(latents(NativeMachine(backbone), images), codes), (replay_layer, name)
            assert trained(NativeMachine(program), codes) == expected, (replay_layer, name)
