"""A small model with a layer of every kind, and changes to its file that keep the checksum right."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay import modelfile
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.graph import Fixed, Graph, LatentCode, Node
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.modelfile.kinds import KINDS

SIDE, CHANNELS = 8, 16
NUMBERS = [0, 1, -1, 2, 3, 4, 8, 15, 16, 31, 62, 63, 64, 255, 1 << 14, 1 << 15, 1 << 24, (1 << 31) - 1, -(1 << 31),
           1 << 40, 1 << 63, 10**30]  # fmt: skip
TEXTS = ["", "0", "-999999.999999", "0.000001", "1", "one", "clipped", "nobody", *KINDS]


def graph(seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)

    def real(low: float, high: float, *shape: int) -> Fixed:
        return Fixed.of(rng.uniform(low, high, shape))

    def norm(name: str, *inputs: str) -> Node:
        arrays: dict[str, Fixed | NDArray] = {
            "gamma": Fixed(np.full(CHANNELS, 1 << 28, np.int32), 28), "beta": real(-0.3, 0.3, CHANNELS),
            "mean": real(-0.2, 0.2, CHANNELS), "inverse_sigma": real(0.5, 1, CHANNELS)}  # fmt: skip
        return Node(name, "batchnorm", inputs, {}, arrays)

    def binary(name: str, source: str) -> Node:
        words = pack(rng.integers(0, 2, (CHANNELS, 3, 3, CHANNELS)))
        return Node(name, "binary_conv", (source,), {"stride": 1, "pad": 1, "padding": "zero"},
                    {"weights": words, "scale": real(0.04, 0.06, CHANNELS)})  # fmt: skip

    def conv(name: str, source: str, kernel: int, inputs: int, **attributes: int) -> Node:
        weights = Fixed.of(rng.uniform(-0.5, 0.5, (CHANNELS, kernel, kernel, inputs)), bits=16)
        return Node(name, "integer_conv", (source,), dict(attributes), {"weights": weights})

    shifts: dict[str, Fixed | NDArray] = {name: real(-0.2, 0.2, CHANNELS) for name in ("shift", "slope", "offset")}
    table = (2 * np.arange(256) - 255).astype(np.int16)[:, None].repeat(3, axis=1)
    nodes = [
        Node("image", "image", (), {"scale_denominator": 255}, {"table": table}),
        conv("stem", "image", 3, 3, stride=2, pad=1), norm("add_0", "stem"),
        Node("sign", "sign", ("add_0",), {"derivative": "polynomial"}), binary("binary", "sign"),
        norm("add_1", "binary", "add_0"), Node("rprelu", "rprelu", ("add_1",), {}, shifts),
        Node("rsign", "rsign", ("rprelu",), {}, {"threshold": real(-0.1, 0.1, CHANNELS)}),
        binary("binary_1", "rsign"), Node("relu", "relu", ("binary_1",)), norm("add_2", "relu", "rprelu"),
        Node("clip", "clip", ("add_2",), {"low": "-1.5", "high": "2"}),
        Node("max", "max_pool", ("clip",), {"window": 2, "stride": 1, "pad": 1}),
        Node("blur", "blur_pool", ("max",), {"stride": 2}),
        Node("each", "depthwise_conv", ("blur",), {"pad": 1}, {"weights": real(-0.5, 0.5, CHANNELS, 3, 3)}),
        norm("add_3", "each"), Node("prelu", "prelu", ("add_3",), {}, {"slope": real(0, 0.3, CHANNELS)}),
        Node("sum", "add", ("prelu", "blur")), conv("mix", "sum", 1, CHANNELS, learns=1), norm("add_4", "mix"),
        Node("both", "concat", ("add_4", "sum")),
        Node("clipped", "sign", ("add_4",), {"derivative": "clipped", "clip": "1.2"}), binary("binary_2", "clipped"),
        norm("add_5", "binary_2", "add_4"), Node("three", "concat", ("both", "add_5")),
        Node("pool", "average_pool", ("three",), {"window": 0}),
        Node("head", "dense", ("pool",), {}, {"weights": real(-0.1, 0.1, 2, 3 * CHANNELS), "bias": real(0, 0, 2)}),
    ]  # fmt: skip
    ends = (Fraction(-4), Fraction(4))
    named = "add_0 add_1 rprelu add_2 clip max blur add_3 prelu sum add_4 both add_5 three pool".split()
    codes = {}
    for bits in (1, 2):
        cuts, values = np.linspace(-1, 1, 2**bits + 1)[1:-1], np.linspace(-1, 1, 2**bits)
        codes[bits] = LatentCode(bits, Fixed.of(np.tile(cuts, (CHANNELS, 1))), Fixed.of(np.tile(values, (CHANNELS, 1))))
    shape = (SIDE // 2, SIDE // 2, CHANNELS)
    return Graph((SIDE, SIDE, 3), nodes, dict.fromkeys(named, ends), {"add_0": shape}, {"add_0": codes}, ["a", "b"])


def model(folder: Path) -> Path:
    path = folder / "every_layer.safetensors"
    modelfile.save(graph(), path, {"name": "every_layer"})
    return path


def altered(good: bytes, rng: np.random.Generator, changes: int, plausible: float = 0.4) -> bytes:
    """The file with some of its numbers, words, lists or arrays changed, signed again.

    A share of the changes is `plausible`: single fields that the reader of the file accepts.
    """
    arrays, texts = unpack_container(good, "")
    del texts["sha256"]
    found = json.loads(texts["graph"])
    for _ in range(changes):
        kind = rng.random()
        if kind < plausible:
            _change_plausibly(found, rng)
        elif kind < (1 + plausible) / 2:
            name = sorted(arrays)[rng.integers(len(arrays))]
            arrays[name] = other_array(arrays[name], rng)
        else:
            _change(found, rng)
    texts["graph"] = json.dumps(found)
    return pack_container(arrays, texts)


def other_array(array: NDArray, rng: np.random.Generator) -> NDArray:
    low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    flat = array.reshape(-1).copy()
    flat[rng.integers(len(flat))] = [high, low + (low < 0), 0][rng.integers(3)]
    choices = [
        np.zeros_like(array), np.full_like(array, high), np.full_like(array, low + (low < 0)), array[::-1].copy(),
        rng.integers(low, high, array.shape, array.dtype, endpoint=True), array[:-1], array[None],
        flat.reshape(array.shape),
    ]  # fmt: skip
    return choices[rng.integers(len(choices))]


def _change(found: Any, rng: np.random.Generator) -> None:
    """One entry somewhere in the tree; nodes and their attributes as likely as the many small lists."""
    nodes = [node for node in found.get("nodes") or [] if isinstance(node, dict)] if isinstance(found, dict) else []
    inner = [place for node in nodes for place in places_of(node.get("attributes"))]
    places = places_of(found) if rng.random() < 0.5 or not inner else inner
    if not places:
        return
    holder, key = places[rng.integers(len(places))]
    value = holder[key]
    if rng.random() < 0.1:
        del holder[key]
    elif isinstance(value, bool | int):
        holder[key] = [NUMBERS[rng.integers(len(NUMBERS))], value + 1, value - 1, -value, 2 * value][rng.integers(5)]
    elif isinstance(value, str):
        names = TEXTS + [node.get("name", "") for node in nodes]
        holder[key] = names[rng.integers(len(names))]
    elif isinstance(value, list):
        holder[key] = [value[::-1], value[1:], value + value[-1:], [], value[:1] * 2][rng.integers(5)]
    else:
        holder[key] = [None, {}, [], 1.5, True, "x"][rng.integers(6)]


def _change_plausibly(found: Any, rng: np.random.Generator) -> None:
    """A binary point, an end of a range or an attribute, to something that the file may say."""
    if not isinstance(found, dict) or not isinstance(found.get("nodes"), list):
        return
    nodes = [node for node in found["nodes"] if isinstance(node, dict) and node.get("kind") in KINDS]
    points = [entry for node in nodes for entry in _inside(node, "arrays") if isinstance(entry, dict)]
    ranges = [ends for ends in _inside(found, "ranges") if isinstance(ends, list) and len(ends) == 2]
    match rng.integers(3):
        case 0 if points:
            points[rng.integers(len(points))]["shift"] = int(rng.integers(-31, 63))
        case 1 if ranges:
            ends = ranges[rng.integers(len(ranges))]
            low, high = (int(2 ** rng.integers(0, 25)) * int(rng.random() < 0.8) for _ in range(2))
            ends[:] = [[-low, int(rng.integers(0, 25))], [high, int(rng.integers(0, 25))]]
        case 2 if nodes:
            node = nodes[rng.integers(len(nodes))]
            allowed = KINDS[node["kind"]].attributes
            for name in sorted(allowed)[: 1 + rng.integers(2)]:
                values = allowed[name]
                text = f"{rng.integers(-9, 9)}.{rng.integers(999)}"
                choice = text if isinstance(values, re.Pattern) else values[int(rng.integers(len(values)) ** 0.5)]
                node["attributes"] = {**(node.get("attributes") or {}), name: choice}


def _inside(holder: Any, key: str) -> list[Any]:
    found = holder.get(key)
    return list(found.values()) if isinstance(found, dict) else []


def places_of(part: Any) -> list[tuple[Any, Any]]:
    keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
    return [place for key in keys for place in [(part, key), *places_of(part[key])]]
