"""Graph <-> JSON and arrays. Real numbers are integers with a binary point: {"shift": s} beside an array of integers,
[n, s] for a single n / 2^s. Integers that fit 16 bits are stored in 16, weights of a node with `weight_bits` 8 in 8;
all are read back as 32.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.graph import Fixed, Graph, LatentCode, Node, Ranges
from bitreplay.modelfile.container import Arrays, ContainerError

MAX_SIZES = 64
SHIFTS = range(-31, 63)
LARGEST = (1 << 31) - 1
SIZE = re.compile(r"[1-9][0-9]{0,4}")
NAME = re.compile(r"[A-Za-z0-9_.-]{1,36}")


class ModelFileError(ContainerError):
    """A model file that cannot be used; one sentence says why."""


def need(condition: bool, sentence: str) -> None:
    if not condition:
        raise ModelFileError(sentence)


def fields(value: Any, names: set[str], what: str) -> dict[str, Any]:
    need(
        isinstance(value, dict) and set(value) == names, f"{what} needs exactly the fields {', '.join(sorted(names))}."
    )
    return value


def integer(value: Any, low: int, high: int, what: str) -> int:
    need(type(value) is int and low <= value <= high, f"{what} must be an integer from {low} to {high}.")
    return value


def text(value: Any, what: str) -> str:
    need(isinstance(value, str) and len(value) <= 1000, f"{what} must be text of at most 1000 characters.")
    return value


def listed(value: Any, limit: int, what: str) -> list[Any]:
    need(isinstance(value, list) and len(value) <= limit, f"{what} must be a list of at most {limit}.")
    return value


def table(value: Any, limit: int, what: str) -> dict[str, Any]:
    need(isinstance(value, dict) and len(value) <= limit, f"{what} must be an object of at most {limit} entries.")
    return value


def shape_of(value: Any, what: str) -> tuple[int, int, int]:
    need(isinstance(value, list) and len(value) == 3, f"{what} must be [height, width, channels].")
    height, width, channels = (integer(n, 1, 1 << 14, what) for n in value)
    return height, width, channels


def in_bytes(attributes: Mapping[str, Any], role: str) -> bool:
    """Whether an array of a node is stored in 8 bits."""
    return role == "weights" and attributes.get("weight_bits") == 8


def stored(array: Fixed | NDArray, narrow: bool = False) -> NDArray:
    """An array as the file stores it: real numbers as 16-bit integers where all of them fit, `narrow` ones in 8."""
    if not isinstance(array, Fixed):
        return array
    if narrow:
        need(array.largest_integer < 128, "Weights of 8 bits do not fit 8 bits.")
        return array.values.astype(np.int8, copy=False)
    return array.values.astype(np.int16 if array.largest_integer < 1 << 15 else np.int32)


def write(graph: Graph) -> tuple[dict[str, Any], Arrays]:
    """The JSON object and the arrays that it names."""
    arrays: Arrays = {}

    def put(name: str, array: Fixed | NDArray, narrow: bool = False) -> dict[str, Any]:
        arrays[name] = stored(array, narrow)
        return {"tensor": name} | ({"shift": array.shift} if isinstance(array, Fixed) else {})

    nodes = [
        {
            "name": node.name, "kind": node.kind, "inputs": list(node.inputs), "attributes": dict(node.attributes),
            "arrays": {
                role: put(f"{node.name}/{role}", array, in_bytes(node.attributes, role))
                for role, array in node.arrays.items()
            },
        }
        for node in graph.nodes
    ]  # fmt: skip
    replay_layers = {
        replay_layer: {
            "shape": list(graph.shapes[replay_layer]),
            "codes": {
                str(bits): {
                    "thresholds": put(f"{replay_layer}/code{bits}/thresholds", code.thresholds),
                    "values": put(f"{replay_layer}/code{bits}/values", code.values),
                }
                for bits, code in codes.items()
            },
        }
        for replay_layer, codes in graph.replay_layers.items()
    }
    header = {
        "input_shape": list(graph.input_shape),
        "nodes": nodes,
        "ranges": _pairs(graph.ranges),
        "levels": replay_layers,
        "labels": list(graph.labels),
    }
    if graph.ranges_at:  # a file without them has the digest that it always had
        header["sizes"] = {str(size): _pairs(ranges) for size, ranges in graph.ranges_at.items()}
    return header, arrays


def _pairs(ranges: Ranges) -> dict[str, list[list[int]]]:
    return {name: [_pair(low), _pair(high)] for name, (low, high) in ranges.items()}


def _pair(x: Fraction) -> list[int]:
    shift = x.denominator.bit_length() - 1
    need(x.denominator == 1 << shift, f"A range ends at {x}, which is not an integer over a power of two.")
    return [x.numerator, shift]


def read(header: dict[str, Any], arrays: Arrays) -> Graph:
    """The graph, each field of the right type; checks.py decides whether it makes sense."""
    sizes = {"sizes"} & set(header)  # optional
    fields(header, {"input_shape", "nodes", "ranges", "levels", "labels"} | sizes, "The graph")
    left = dict(arrays)

    def take(entry: Any, what: str, narrow: bool = False) -> Fixed | NDArray:
        need(isinstance(entry, dict) and set(entry) | {"shift"} == {"tensor", "shift"}, f"{what} names no tensor.")
        name = text(entry["tensor"], what)
        need(name in left, f"{what} names tensor {name!r}, which is not in the file or is in use.")
        array = left.pop(name)
        if "shift" not in entry:
            return array
        if narrow:
            need(array.dtype == np.int8, f"{what} has type {array.dtype}; expected int8.")
            need(int(array.min(initial=0)) >= -127, f"{what} holds -128; expected numbers from -127.")
        else:
            need(array.dtype in (np.int16, np.int32), f"{what} has type {array.dtype}; expected int16 or int32.")
            low = int(array.min(initial=0))
            need(array.dtype == np.int16 or low >= -LARGEST, f"{what} holds a number below -2^31 + 1.")
        shift = integer(entry["shift"], SHIFTS[0], SHIFTS[-1], f"The shift of {what}")
        return Fixed(array if narrow else array.astype(np.int32), shift)

    nodes = []
    for number, entry in enumerate(listed(header["nodes"], 4096, "The list of nodes")):
        fields(entry, {"name", "kind", "inputs", "attributes", "arrays"}, f"Node {number}")
        name = text(entry["name"], f"The name of node {number}")
        need(NAME.fullmatch(name) is not None, f"Node {number} has an invalid name {name[:40]!r}.")
        inputs = tuple(text(i, f"An input of {name}") for i in listed(entry["inputs"], 8, f"The inputs of {name}"))
        attributes = table(entry["attributes"], 32, f"The attributes of {name}")
        for key, value in attributes.items():
            need(type(value) in (int, str), f"Attribute {key[:40]!r} of {name} must be an integer or text.")
        used = {
            role: take(array, f"Array {role[:40]!r} of {name}", in_bytes(attributes, role))
            for role, array in table(entry["arrays"], 32, f"The arrays of {name}").items()
        }
        nodes.append(Node(name, text(entry["kind"], f"The kind of {name}"), inputs, attributes, used))
    shapes, replay_layers = {}, {}
    for replay_layer, entry in table(header["levels"], 64, "The table of levels").items():
        fields(entry, {"shape", "codes"}, f"Replay layer {replay_layer[:40]!r}")
        shapes[replay_layer] = shape_of(entry["shape"], f"The shape of level {replay_layer[:40]!r}")
        replay_layers[replay_layer] = _codes(replay_layer, entry["codes"], take)
    ranges_at = {}
    need(not sizes or header["sizes"] != {}, "The table of sizes is empty.")
    for size, entry in table(header["sizes"], MAX_SIZES, "The table of sizes").items() if sizes else ():
        need(SIZE.fullmatch(size) is not None, f"There are ranges for the size {size[:40]!r}, which is not a size.")
        ranges_at[int(size)] = _ranges(entry)
    labels = [text(label, "A label") for label in listed(header["labels"], 1 << 16, "The list of labels")]
    need(not left, f"Tensor {next(iter(left), '')!r} belongs to no node.")
    shape = shape_of(header["input_shape"], "The input shape")
    return Graph(shape, nodes, _ranges(header["ranges"]), shapes, replay_layers, labels, ranges_at)


def _ranges(entry: Any) -> Ranges:
    return {
        name: (_fraction(ends, 0, name), _fraction(ends, 1, name))
        for name, ends in table(entry, 4096, "The table of ranges").items()
    }


def _codes(replay_layer: str, entry: Any, take: Any) -> dict[int, LatentCode]:
    codes = {}
    for key, parts in table(entry, 3, f"The codes of {replay_layer[:40]!r}").items():
        need(
            key in ("1", "2", "4"),
            f"Replay layer {replay_layer[:40]!r} has latents of {key[:40]} bits; expected 1, 2, 4.",
        )
        fields(parts, {"thresholds", "values"}, f"The {key}-bit code of {replay_layer[:40]!r}")
        pair = [
            take(parts[role], f"{role} of the {key}-bit code of {replay_layer[:40]!r}")
            for role in ("thresholds", "values")
        ]
        need(
            all(isinstance(part, Fixed) for part in pair), f"The {key}-bit code of {replay_layer[:40]!r} lacks a shift."
        )
        codes[int(key)] = LatentCode(int(key), *pair)
    return codes


def _fraction(ends: Any, at: int, name: str) -> Fraction:
    what = f"The range of {name[:40]!r}"
    need(isinstance(ends, list) and len(ends) == 2, f"{what} must be [low, high].")
    need(isinstance(ends[at], list) and len(ends[at]) == 2, f"{what} must be [[n, shift], [n, shift]].")
    numerator = integer(ends[at][0], -LARGEST, LARGEST, what)
    return numerator / Fraction(2) ** integer(ends[at][1], 0, 160, f"The shift in {what[:1].lower()}{what[1:]}")
