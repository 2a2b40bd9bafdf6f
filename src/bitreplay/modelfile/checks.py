"""Does a graph make sense? Order, kinds, shapes, ranges, replay layers: all that the compiler takes for granted."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

from bitreplay.engine.graph import Fixed, Graph, Node, Ranges
from bitreplay.engine.kind import ACTIVATION, LOGITS, REAL, Allowed, InvalidNodeError, Yield
from bitreplay.modelfile.kinds import KINDS, MAX_ELEMENTS, POSITIVE
from bitreplay.modelfile.schema import need

# Every real number of a model lies in here, or is 0; calibration gives nothing near these ends.
LARGEST_REAL = Fraction(1 << 24)
SMALLEST_STEP = Fraction(1, 1 << 24)


def check(graph: Graph) -> dict[str, Yield]:
    """What each node yields; ModelFileError, in one sentence, for the first thing that does not fit."""
    yields = yields_of(graph)
    _check_ends(graph, yields)
    for ranges in (graph.ranges, *graph.ranges_at.values()):
        _check_ranges(graph, ranges, yields)
    for replay_layer in graph.replay_layers:
        _check_level(graph, replay_layer, yields)
    return yields


def yields_of(graph: Graph) -> dict[str, Yield]:
    """What each node yields; ModelFileError if one does not fit those before it."""
    need(bool(graph.nodes) and graph.nodes[0].kind == "image", "The first node must be of kind image.")
    yields: dict[str, Yield] = {}
    for node in graph.nodes:
        need(node.name not in yields, f"Two nodes are named {node.name}.")
        need(node.kind in KINDS, f"Node {node.name} is of kind {node.kind[:40]!r}, which this version does not know.")
        try:
            yields[node.name] = _check_node(graph, node, yields)
        except InvalidNodeError as error:
            need(False, f"Node {node.name} ({node.kind}) {error}.")
    return yields


def _check_node(graph: Graph, node: Node, yields: dict[str, Yield]) -> Yield:
    kind = KINDS[node.kind]
    if not len(kind.reads) - kind.optional <= len(node.inputs) <= len(kind.reads):
        raise InvalidNodeError(f"has {len(node.inputs)} inputs; expected {len(kind.reads)}")
    for source, forms in zip(node.inputs, kind.reads, strict=False):
        if source not in yields:
            raise InvalidNodeError(f"reads {source[:40]!r}, which does not come before it")
        if yields[source].form not in forms:
            raise InvalidNodeError(f"reads {yields[source].form} from {source}; expected {' or '.join(forms)}")
    for key, value in node.attributes.items():
        allowed = kind.attributes.get(key)
        if allowed is None:
            raise InvalidNodeError(f"has an unknown attribute {key[:40]!r}")
        if not _fits(value, allowed):
            raise InvalidNodeError(f"has {key} {str(value)[:40]}; expected {_shown(allowed)}")
    spec, result = kind.expected(node, [yields[source] for source in node.inputs])
    if set(spec) != set(node.arrays):
        raise InvalidNodeError(f"has the arrays {sorted(node.arrays)}; expected {sorted(spec)}")
    for role, (form, shape) in spec.items():
        _check_array(node, role, form, shape)
    if node.kind == "image":
        result = Yield(ACTIVATION, graph.input_shape)
        if graph.input_shape[2] != len(node.arrays["table"][0]):  # type: ignore[index]
            raise InvalidNodeError(f"has a table for other colours than the input shape {graph.input_shape}")
    if math.prod(result.shape) > MAX_ELEMENTS:
        raise InvalidNodeError(f"yields a map of shape {result.shape}, which is too large")
    return result


def _fits(value: int | str, allowed: Allowed) -> bool:
    if isinstance(allowed, re.Pattern):
        return isinstance(value, str) and allowed.fullmatch(value) is not None
    return isinstance(value, str) == isinstance(allowed, tuple) and value in allowed


def _shown(allowed: Allowed) -> str:
    if isinstance(allowed, re.Pattern):
        return "a decimal number as text"
    return f"{allowed.start} to {allowed.stop - 1}" if isinstance(allowed, range) else " or ".join(allowed)


def _check_array(node: Node, role: str, form: object, shape: tuple[int, ...]) -> None:
    array = node.arrays[role]
    real = isinstance(array, Fixed)
    if real != (form == REAL) or (isinstance(array, np.ndarray) and array.dtype != form):
        got = "real numbers" if isinstance(array, Fixed) else array.dtype
        raise InvalidNodeError(f"has {role} of {got}; expected {'real numbers' if form == REAL else form}")
    values = array.values if isinstance(array, Fixed) else array
    if values.shape != shape:
        raise InvalidNodeError(f"has {role} of shape {values.shape}; expected {shape}")
    if isinstance(array, Fixed):
        unit = Fraction(2) ** -array.shift
        if array.largest_integer * unit > LARGEST_REAL:
            raise InvalidNodeError(f"has {role} beyond 2^24")
        if role in POSITIVE and int(values.min()) * unit < SMALLEST_STEP:
            raise InvalidNodeError(f"has {role} below 2^-24; it must be positive")


def _check_ends(graph: Graph, yields: dict[str, Yield]) -> None:
    need(yields[graph.nodes[-1].name].form == LOGITS, "The last node must be of kind dense.")
    need([n.kind for n in graph.nodes].count("image") == 1, "There must be one node of kind image.")
    read = {source for node in graph.nodes for source in node.inputs}
    for node in graph.nodes[:-1]:
        need(node.name in read, f"Node {node.name} is read by no other.")
    classes = yields[graph.nodes[-1].name].channels
    need(len(graph.labels) == classes, f"There are {len(graph.labels)} labels for {classes} classes.")
    need(len(set(graph.labels)) == classes, "Two classes have the same label.")


def _check_ranges(graph: Graph, ranges: Ranges, yields: dict[str, Yield]) -> None:
    named = {name for name, value in yields.items() if value.form == ACTIVATION} - {graph.nodes[0].name}
    for name in sorted(named ^ set(ranges)):
        need(name in ranges, f"Node {name} yields activations but has no range.")
        need(False, f"There is a range for {name[:40]!r}, which yields no activations.")
    for name, (low, high) in ranges.items():
        sound = -LARGEST_REAL <= low <= 0 <= high <= LARGEST_REAL and high - low >= SMALLEST_STEP
        need(
            sound,
            f"Node {name} has a range from {float(low):g} to {float(high):g}, which does not contain 0 or is empty.",
        )


def _check_level(graph: Graph, replay_layer: str, yields: dict[str, Yield]) -> None:
    need(replay_layer in graph.ranges, f"Replay layer {replay_layer[:40]!r} is not a node that yields activations.")
    shape = yields[replay_layer].shape
    need(
        graph.shapes.get(replay_layer) == shape,
        f"Replay layer {replay_layer} has shape {graph.shapes.get(replay_layer)}; the graph yields {shape}.",
    )
    before = {node.name for node in graph.nodes[: graph.position(replay_layer)]}
    for node in graph.nodes[graph.position(replay_layer) + 1 :]:
        need(
            not before & set(node.inputs),
            f"Replay layer {replay_layer} is not a cut: {node.name} behind it reads a node before it.",
        )
    for bits, code in graph.replay_layers[replay_layer].items():
        for role, part, count in (("thresholds", code.thresholds, 2**bits - 1), ("values", code.values, 2**bits)):
            expected = (shape[2], count)
            got = part.values.shape
            need(
                got == expected,
                f"The {bits}-bit code of {replay_layer} has {role} of shape {got}; expected {expected}.",
            )
        cuts = code.thresholds.values
        need(
            bool((cuts[:, 1:] >= cuts[:, :-1]).all()),
            f"The {bits}-bit code of {replay_layer} has thresholds out of order.",
        )
