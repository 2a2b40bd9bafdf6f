"""The float tail takes the same steps as the engine's, up to the engine's rounding."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.graph import Fixed
from bitreplay.engine.operations import Run
from bitreplay.engine.reference import ReferenceMachine
from bitreplay.torch.convert import convert
from bitreplay.torch.models.bireal18 import BiReal18
from bitreplay.torch.twin.float_learner import FloatStepper
from bitreplay.torch.twin.float_tail import FloatTail, KeptNorm

RATE = Fraction(1, 20)
SAMPLES = 24


@pytest.fixture(scope="module")
def converted():
    """A small Bi-Real net, images, labels."""
    rng = np.random.default_rng(2)
    torch.manual_seed(2)
    images = rng.integers(0, 256, (SAMPLES, 4, 4, 3), dtype=np.uint8).repeat(8, axis=1).repeat(8, axis=2)
    model = BiReal18(4, widths=(8, 8, 16, 24))
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
    with torch.no_grad():
        model.train()(torch.from_numpy(images).permute(0, 3, 1, 2) / 127.5 - 1)
    graph, _ = convert(model, images, class_names=list("abcd"), reestimate=True)
    return graph, images, rng.integers(0, 4, SAMPLES).astype(np.int32)


def words_of(graph, images, bits, latent_bits):
    machine = ReferenceMachine(compile_backbone(graph, "add_12", bits, SAMPLES, latent_bits))
    machine.write("images", images)
    machine.run("forward", Run(SAMPLES))
    return machine.read("latents", SAMPLES)


@pytest.mark.parametrize("latent_bits", [1, 2, 4, 8, 16])
def test_the_level_is_decoded_as_the_engine_decodes_it(converted, latent_bits):
    graph, images, _ = converted
    bits = Bits(16, 1, 16)
    words = words_of(graph, images, bits, latent_bits)
    program = compile_tail(graph, "add_12", bits, SAMPLES, 4, latent_bits, train="nothing", keep=True)
    machine = ReferenceMachine(program)
    machine.write("latents", words)
    machine.run("forward", Run(SAMPLES))
    tail = FloatTail(graph, "add_12", 4, latent_bits, forward_bits=16)
    wanted = (machine.read("add_12", SAMPLES) - tail.spec.zero) * float(tail.spec.scale)
    assert np.abs(tail.decode(words).numpy() - wanted).max() <= 0.51 * float(tail.spec.scale)


def test_it_takes_the_steps_of_the_engine(converted):
    graph, images, labels = converted
    bits = Bits(32, 1, 32)
    words = words_of(graph, images, bits, 1)
    machine = ReferenceMachine(compile_tail(graph, "add_12", bits, SAMPLES, 4))
    tail = FloatStepper(graph, "add_12", 4)
    rate = Multiplier.of(RATE)
    for step in range(8):
        machine.write("latents", words)
        machine.write("labels", labels)
        run = Run(SAMPLES, 1, step, rate.mantissa, rate.shift)
        for part in ("forward", "backward", "update", "prepare"):
            machine.run(part, run)
        probabilities = tail.step(words, labels, RATE)
        assert np.abs(probabilities - machine.read("p_label", SAMPLES)).max() < 0.01 * 2**30
    moved = tail.head_weights
    assert np.abs(moved - machine.read("head.weights").astype(np.int64)).max() < 0.02 * np.abs(moved).max()
    for node, layer in zip(tail.net.nodes, tail.net.layers, strict=True):
        if isinstance(layer, KeptNorm):
            gamma = node.arrays["gamma"]
            assert isinstance(gamma, Fixed)
            first = gamma.values
            engine = machine.read(f"{node.name}.gamma").astype(np.int64) - first
            twin = layer.gamma.detach().numpy().reshape(-1) * 2.0**28 - first
            cosine = (engine * twin).sum() / np.sqrt((engine**2).sum() * (twin**2).sum())
            assert cosine > 0.99 and np.abs(engine).max() > 2**16, node.name
    assert tail.answering()(words) == pytest.approx(machine_logits(machine, words) / 2**16, abs=0.05)


def machine_logits(machine, words):
    machine.write("latents", words)
    machine.run("forward", Run(SAMPLES))
    return machine.read("logits", SAMPLES)


def test_classes_that_are_not_active_take_no_part(converted):
    graph, images, labels = converted
    words = words_of(graph, images, Bits(8, 1, 16), 1)
    tail = FloatStepper(graph, "add_12", 4)
    weights = np.arange(4 * 25, dtype=np.int32).reshape(4, 25) << 16
    tail.load_head(weights, np.array([1, 1, 0, 1], np.uint8))
    assert np.array_equal(tail.head_weights, weights)
    tail.step(words, np.where(labels == 2, 0, labels), RATE)
    assert np.array_equal(tail.head_weights[2], weights[2]) and (tail.head_weights[0] != weights[0]).any()
    assert (tail.answering()(words)[:, 2] == -np.inf).all()


def test_only_the_head_learns_when_asked(converted):
    graph, images, labels = converted
    words = words_of(graph, images, Bits(8, 1, 16), 1)
    tail = FloatStepper(graph, "add_12", 4, train="head")
    before = {name: value.clone() for name, value in tail.net.state_dict().items()}
    tail.step(words, labels, RATE)
    tail.step(words, labels, RATE)
    changed = {name for name, value in tail.net.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {"head.weight", "head.bias"}
