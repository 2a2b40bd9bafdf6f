"""Model files: what goes in comes out, and what does not fit is refused in one sentence."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from bitreplay import modelfile
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.graph import Fixed, Graph, LatentCode, Node
from bitreplay.engine.layers import LAYERS
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.modelfile.kinds import KINDS

Change = Callable[[dict, dict, dict, dict], object]
ABOUT = {"data": "none", "top1_float": 41.8, "names": ["é", "b"]}


def norm(name: str, channels: int, *inputs: str) -> Node:
    rng = np.random.default_rng(channels)
    arrays: dict[str, Fixed | NDArray] = {
        "gamma": Fixed((rng.uniform(0.5, 1.5, channels) * 2**28).astype(np.int32), 28),
        "beta": Fixed((rng.normal(0, 0.1, channels) * 2**28).astype(np.int32), 28),
        "mean": Fixed.of(rng.normal(0, 1, channels)),
        "inverse_sigma": Fixed.of(rng.uniform(0.1, 1, channels)),
    }
    return Node(name, "batchnorm", inputs, {}, arrays)


def small_graph() -> Graph:
    """image -> convolution -> norm -> sign -> binary convolution -> norm + shortcut -> pool -> head, 70 channels."""
    rng = np.random.default_rng(0)
    table = (2 * np.arange(256) - 255).astype(np.int16)[:, None].repeat(3, axis=1)
    words = pack(rng.integers(0, 2, (70, 3, 3, 70)))
    code = LatentCode(
        1, Fixed.of(np.zeros((70, 1))), Fixed.of(np.array([-1.0, 1.0]) * rng.uniform(0.5, 1, (70, 1)), bits=16)
    )
    weights = Fixed.of(rng.normal(0, 0.1, (70, 3, 3, 3)), bits=16)
    head: dict[str, Fixed | NDArray] = {
        "weights": Fixed.of(rng.normal(0, 0.1, (4, 70)), bits=16),
        "bias": Fixed.of(np.zeros(4)),
    }
    nodes = [
        Node("image", "image", (), {"scale_denominator": 255}, {"table": table}),
        Node("conv", "integer_conv", ("image",), {"stride": 1, "pad": 1}, {"weights": weights}),
        norm("add", 70, "conv"),
        Node("sign", "sign", ("add",), {"derivative": "polynomial"}),
        Node("binary", "binary_conv", ("sign",), {"stride": 1, "pad": 1, "padding": "zero"},
             {"weights": words, "scale": Fixed.of(rng.uniform(0.01, 0.02, 70))}),
        norm("add_1", 70, "binary", "add"),
        Node("pool", "average_pool", ("add_1",), {"window": 0}),
        Node("head", "dense", ("pool",), {}, head),
    ]  # fmt: skip
    ends = (Fraction(-9, 2), Fraction(5))
    ranges = {"add": ends, "add_1": ends, "pool": ends}
    return Graph((8, 8, 3), nodes, ranges, {"add": (8, 8, 70)}, {"add": {1: code}}, ["a", "b", "c", "d"])


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.safetensors"
    modelfile.save(small_graph(), found, ABOUT)
    return found


def test_what_is_saved_is_loaded(path, tmp_path):
    graph, about = modelfile.load(path)
    assert about == ABOUT
    again = tmp_path / "again.safetensors"
    modelfile.save(graph, again, about)
    assert again.read_bytes() == path.read_bytes()
    before, after = (compile_whole(g, Bits(8, 1, 16), 2) for g in (small_graph(), graph))
    assert np.array_equal(before.constants, after.constants) and np.array_equal(before.parameters, after.parameters)


def test_safetensors_itself_reads_the_file(path):
    arrays = load_file(path)
    binary = small_graph().node("binary").arrays["weights"]
    assert isinstance(binary, np.ndarray)
    assert np.array_equal(arrays["binary/weights"], binary)
    assert arrays["head/weights"].dtype == np.int16 and arrays["add/gamma"].dtype == np.int32


def test_the_digest_names_the_network_and_not_what_is_said_of_it(path, tmp_path):
    other = tmp_path / "other.safetensors"
    assert modelfile.save(small_graph(), other, {"data": "more"}) == modelfile.digest(path)
    assert modelfile.digest(small_graph()) == modelfile.digest(path)
    changed = small_graph()
    words = changed.node("binary").arrays["weights"]
    assert isinstance(words, np.ndarray)
    words[0, 0, 0, 0] ^= np.uint64(1)
    assert modelfile.digest(changed) != modelfile.digest(path)


def test_writing_leaves_nothing_beside_and_keeps_the_old_file_on_failure(path):
    before = path.read_bytes()
    broken = small_graph()
    broken.nodes[3] = replace(broken.nodes[3], inputs=("nobody",))
    with pytest.raises(ModelFileError):
        modelfile.save(broken, path, ABOUT)
    with pytest.raises(ValueError):
        modelfile.save(small_graph(), path, {"top1": float("nan")})
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_the_table_of_kinds_has_every_layer_of_a_graph_and_so_has_its_documentation():
    made_by_the_compiler = {"cross_entropy", "encode_latents", "decode_latents"}
    assert set(KINDS) == set(LAYERS) - made_by_the_compiler
    page = (Path(__file__).resolve().parents[2] / "docs" / "file-format.md").read_text()
    rows = re.findall(r"^\| `([a-z_]+)` \| (.*) \| .* \| (.*) \| .* \|$", page, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(KINDS)
    for name, _, attributes in rows:
        assert all(attribute in attributes or "as integer_conv" in attributes for attribute in KINDS[name].attributes)


# A right checksum over a graph that does not fit.


def refused(path, pattern):
    with pytest.raises(ModelFileError, match=pattern) as caught:
        modelfile.load(path)
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".") and str(path) in message and len(message) < 400


def forge(path, change) -> None:
    """Change graph, texts or arrays of a good file and sign it again."""
    arrays, texts = unpack_container(path.read_bytes(), "")
    del texts["sha256"]
    graph = json.loads(texts["graph"])
    nodes = {node["name"]: node for node in graph["nodes"]}
    texts["graph"] = json.dumps(change(graph, nodes, arrays, texts) or graph)
    path.write_bytes(pack_container(arrays, texts))


def put(where: str, value):
    """A change that sets one entry: put("binary.attributes.stride", 0), or of the graph: put("graph.labels", [])."""

    def change(graph, nodes, arrays, texts):
        first, *steps, last = where.split("/")
        target = graph if first == "graph" else nodes[first]
        for step in steps:
            target = target[int(step)] if isinstance(target, list) else target[step]
        target[int(last) if isinstance(target, list) else last] = value

    return change


def array(name: str, make):
    def change(graph, nodes, arrays, texts):
        arrays[name] = make(arrays[name])

    return change


def said(name: str, value: str):
    def change(graph, nodes, arrays, texts):
        texts[name] = value

    return change


GRAPHS: dict[str, tuple[Change, str]] = {
    "version": (said("version", "3"), "version '3'; this program reads versions 1 and 2"),
    "deflated in version 1": (said("deflated", "{}"), "Metadata is incomplete"),
    "version without deflated": (said("version", "2"), "Metadata is incomplete"),
    "conventions": (said("conventions", '{"layout":"NCHW"}'), "another order"),
    "about": (said("about", "[]"), "is not an object"),
    "extra text": (said("more", ""), "Metadata is incomplete"),
    "unknown kind": (put("sign/kind", "shell"), "kind 'shell', which this version does not know"),
    "training kind": (put("sign/kind", "cross_entropy"), "which this version does not know"),
    "cycle": (put("sign/inputs", ["add_1"]), "reads 'add_1', which does not come before it"),
    "itself": (put("sign/inputs", ["sign"]), "reads 'sign', which does not come before it"),
    "no inputs": (put("sign/inputs", []), "has 0 inputs; expected 1"),
    "too many inputs": (put("sign/inputs", ["add", "add"]), "has 2 inputs; expected 1"),
    "wrong form": (put("binary/inputs", ["add"]), "reads activations from add; expected signs"),
    "same name": (put("add_1/name", "add"), "Two nodes are named add"),
    "invalid name": (put("add_1/name", "../../x"), "invalid name"),
    "long name": (put("add_1/name", "x" * 100), "invalid name"),
    "no nodes": (put("graph/nodes", []), "first node must be of kind image|belongs to no node"),
    "nodes no list": (put("graph/nodes", {}), "must be a list"),
    "field too many": (put("graph/code", "x"), "needs exactly the fields"),
    "unread": (put("add_1/inputs", ["conv", "add"]), "is read by no other"),
    "stride 0": (put("conv/attributes/stride", 0), "has stride 0; expected 1 to 16"),
    "stride text": (put("conv/attributes/stride", "1"), "has stride 1; expected 1 to 16"),
    "stride bool": (put("conv/attributes/stride", True), "must be an integer or text"),
    "pad": (put("conv/attributes/pad", 3), "kernel of 3 and a pad of 3"),
    "padding": (put("binary/attributes/padding", "two"), "has padding two; expected zero or one"),
    "attribute": (put("sign/attributes/command", "rm"), "unknown attribute 'command'"),
    "clip": (put("sign/attributes/clip", "1e9"), "has clip 1e9; expected a decimal number as text"),
    "window": (put("pool/attributes/window", 9), "kernel of 9 and a pad of 0 for a map of 8x8"),
    "input shape": (put("graph/input_shape", [8, 8]), "must be \\[height, width, channels\\]"),
    "input colours": (put("graph/input_shape", [8, 8, 4]), "table for other colours"),
    "vast input": (put("graph/input_shape", [1 << 40, 8, 3]), "integer from 1 to 16384"),
    "vast map": (put("graph/input_shape", [1 << 14, 1 << 14, 3]), "too large"),
    "shift": (put("add/arrays/gamma/shift", 1000), "integer from -31 to 62"),
    "no shift": (put("add/arrays/gamma", {"tensor": "add/gamma"}), "has gamma of int32; expected real numbers"),
    "no tensor": (put("add/arrays/gamma", {"tensor": "absent", "shift": 28}), "which is not in the file"),
    "shared tensor": (put("add/arrays/gamma", {"tensor": "add/beta", "shift": 28}), "is in use"),
    "missing array": (lambda g, n, a, t: (n["add"]["arrays"].pop("beta"), a.pop("add/beta")) and None,
                      "has the arrays \\['gamma', 'inverse_sigma', 'mean'\\]; expected"),
    "array dtype": (array("add/gamma", lambda a: a.astype(np.int64)), "has type int64; expected int16 or int32"),
    "words dtype": (array("binary/weights", lambda a: a.astype(np.int64)), "weights of int64; expected uint64"),
    "array shape": (array("add/gamma", lambda a: a[:-1]), "has gamma of shape \\(69,\\); expected \\(70,\\)"),
    "no weights": (array("conv/weights", lambda a: a[:0]), "expected 4 dimensions"),
    "words shape": (array("binary/weights", lambda a: a[..., :1]), "has weights of shape"),
    "padding bits": (array("binary/weights", lambda a: a | np.uint64(1 << 63)), "padding bits are not 0"),
    "lowest": (array("add/gamma", lambda a: np.full_like(a, -(2**31))), "number below"),
    "sigma": (array("add/inverse_sigma", lambda a: a * 0), "it must be positive"),
    "scale": (array("binary/scale", lambda a: -a), "it must be positive"),
    "left tensor": (lambda g, n, a, t: a.update(x=np.zeros(3, np.int8)), "Tensor 'x' belongs to no node"),
    "labels": (put("graph/labels", ["a"]), "1 labels for 4 classes"),
    "labels twice": (put("graph/labels", ["a", "b", "c", "a"]), "same label"),
    "label no text": (put("graph/labels", [1, 2, 3, 4]), "A label must be text"),
    "no range": (put("graph/ranges", {}), "has no range"),
    "odd range": (put("graph/ranges/sign", [[-1, 0], [1, 0]]), "range for 'sign', which yields no activations"),
    "empty range": (put("graph/ranges/add", [[0, 0], [0, 0]]), "does not contain 0 or is empty"),
    "turned range": (put("graph/ranges/add", [[1, 0], [-1, 0]]), "does not contain 0 or is empty"),
    "range float": (put("graph/ranges/add", [[-1.5, 0], [1, 0]]), "must be an integer"),
    "range shift": (put("graph/ranges/add", [[-1, 1 << 40], [1, 0]]), "must be an integer"),
    "level name": (put("graph/levels", {"sign": {"shape": [8, 8, 70], "codes": {}}}), "belongs to no node"),
    "level shape": (put("graph/levels/add/shape", [8, 8, 71]), "the graph yields \\(8, 8, 70\\)"),
    "code width": (put("graph/levels/add/codes", {"3": {}}), "latents of 3 bits"),
    "code shape": (array("add/code1/values", lambda a: a[:, :1]), "has values of shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_that_does_not_fit_is_refused(name, path):
    change, pattern = GRAPHS[name]
    forge(path, change)
    refused(path, pattern)


def test_a_level_that_is_no_cut_and_thresholds_out_of_order_are_refused(tmp_path):
    graph = small_graph()
    graph.shapes["add_1"], graph.replay_layers["add_1"] = (8, 8, 70), {}
    graph.nodes[6:6] = [Node("sign_1", "sign", ("add",)), replace(graph.node("binary"), name="b", inputs=("sign_1",)),
                        norm("add_2", 70, "b", "add_1")]  # fmt: skip
    graph.nodes[-2] = replace(graph.nodes[-2], inputs=("add_2",))
    graph.ranges["add_2"] = graph.ranges["add"]
    with pytest.raises(ModelFileError, match="Replay layer add_1 is not a cut: sign_1 behind it"):
        modelfile.save(graph, tmp_path / "x", {})
    graph = small_graph()
    cuts = Fixed(np.array([[3, 2, 4]] * 70, np.int32), 0)
    graph.replay_layers["add"][2] = LatentCode(2, cuts, Fixed(np.zeros((70, 4), np.int32), 0))
    with pytest.raises(ModelFileError, match="2-bit code of add has thresholds out of order"):
        modelfile.save(graph, tmp_path / "x", {})


def test_a_forged_file_with_no_change_is_accepted(path):
    forge(path, lambda *_: None)
    assert modelfile.load(path)[1] == ABOUT
