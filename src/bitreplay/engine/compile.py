"""Graph -> program, for chosen bit widths.

compile_backbone(graph, level, bits, max_samples)            uint8 images -> level code
compile_tail(graph, level, bits, max_samples, classes)       level code -> logits; with the training step
compile_whole(graph, bits, max_samples)                      uint8 images -> logits, to test a network

features.py has the program for sums.
"""

from __future__ import annotations

from dataclasses import replace

from bitreplay.engine import minibatch_parts
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder
from bitreplay.engine.graph import Graph, Node
from bitreplay.engine.layers import LAYERS
from bitreplay.engine.layers.latent_code import LATENT_BITS
from bitreplay.engine.program import Program, ProgramError

MAX_CLASSES = 1 << 24


def _check(graph: Graph, replay_layer: str, latent_bits: int) -> None:
    if replay_layer not in [node.name for node in graph.nodes]:
        raise ProgramError(f"the network has no node {replay_layer!r} to be its replay layer")
    if latent_bits not in LATENT_BITS:
        raise ProgramError(f"latents must have {', '.join(map(str, LATENT_BITS))} bits, got {latent_bits!r}")


def walk(builder: Builder, nodes: list[Node]) -> None:
    """Let each node emit its records, and where something learns, its backward pass."""
    layers = [LAYERS[node.kind](node) for node in nodes]
    for layer in layers:
        name, inputs = layer.node.name, [builder.values[name] for name in layer.node.inputs]
        if builder.training and (layer.trains(builder) or builder.needs_gradient & set(layer.node.inputs)):
            builder.needs_gradient.add(name)
        builder.values[name] = layer.forward(builder, inputs)
    if builder.training:
        for layer in reversed(layers):
            if layer.node.name in builder.needs_gradient:
                layer.backward(builder, [builder.values[name] for name in layer.node.inputs])


def compile_backbone(graph: Graph, replay_layer: str, bits: Bits, max_samples: int, latent_bits: int = 1) -> Program:
    """Images -> the code of a level, as packed words named `latents`."""
    _check(graph, replay_layer, latent_bits)
    builder = Builder(graph, bits, max_samples, "nothing")
    at = graph.position(replay_layer) + 1
    code = Node("latents", "encode_latents", (replay_layer,), {"level": replay_layer, "bits": latent_bits})
    walk(builder, [*graph.nodes[:at], code])
    return builder.finish()


def compile_tail(
    graph: Graph,
    replay_layer: str,
    bits: Bits,
    max_samples: int,
    classes: int,
    latent_bits: int = 1,
    *,
    train: str = "tail",
    keep: bool = False,
    in_parts: bool = False,
) -> Program:
    """The code of a level -> logits over `classes`, and the step that trains "tail", "head" or "nothing".

    With `in_parts`, minibatches may come in parts of `max_samples` (minibatch_parts.py).
    """
    _check(graph, replay_layer, latent_bits)
    if type(classes) is not int or not 1 <= classes <= MAX_CLASSES:
        raise ProgramError(f"the number of classes must be an integer from 1 to {MAX_CLASSES}, got {classes!r}")
    builder = Builder(graph, bits, max_samples, train, keep)
    emit_tail(builder, replay_layer, classes, latent_bits)
    if in_parts:
        builder.hold_sums()
    program = builder.finish()
    if in_parts:
        minibatch_parts.check(program)
    return program


def emit_tail(builder: Builder, replay_layer: str, classes: int, latent_bits: int) -> None:
    """Everything behind a level, with the loss where the compiler trains."""
    nodes = builder.graph.nodes[builder.graph.position(replay_layer) + 1 :]
    nodes = [replace_classes(node, classes) for node in nodes]
    code = Node(replay_layer, "decode_latents", (), {"level": replay_layer, "bits": latent_bits})
    loss = [Node("loss", "cross_entropy", (nodes[-1].name,))] if builder.training else []
    walk(builder, [code, *nodes, *loss])


def compile_whole(graph: Graph, bits: Bits, max_samples: int) -> Program:
    """Images -> logits of the network as it was trained."""
    builder = Builder(graph, bits, max_samples, "nothing")
    walk(builder, graph.nodes)
    return builder.finish()


def replace_classes(node: Node, classes: int) -> Node:
    """A dense head for a number of classes, all weights 0; other nodes unchanged."""
    if node.kind != "dense":
        return node
    arrays = {k: v for k, v in node.arrays.items() if k not in ("weights", "bias")}
    return replace(node, arrays=arrays, attributes=node.attributes | {"classes": classes})
