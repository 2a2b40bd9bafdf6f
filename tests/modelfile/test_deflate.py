"""Deflated arrays of a model file: the same network in fewer bytes, and nothing allocated on a file's word."""

import json
import zlib

import numpy as np
import pytest

from bitreplay import modelfile, zoo
from bitreplay.engine.graph import Graph
from bitreplay.modelfile import ModelFileError, schema
from bitreplay.modelfile.container import ContainerError, pack_container, unpack_container
from bitreplay.modelfile.deflate import deflate, inflate

MOST = 1 << 20
RAW = -15


def arrays():
    rng = np.random.default_rng(0)
    bell = np.clip(rng.normal(0, 20, (40, 8, 5, 5)), -127, 127)
    return {
        "bytes": bell.astype(np.int8),
        "words": (bell * 9).astype(np.int16),
        "wide": (bell * 999).astype(np.int32).reshape(-1),
        "even": rng.integers(0, 1 << 63, 4096, dtype=np.uint64),
        "small": np.zeros(10, np.int32),
    }


def test_large_arrays_are_stored_smaller_and_come_back():
    given = arrays()
    stored, index = deflate(given)
    assert set(index) == {"bytes", "words", "wide"}
    assert all(stored[name].nbytes <= given[name].nbytes * 15 / 16 for name in index)
    assert all(stored[name] is given[name] for name in ("even", "small"))
    found = inflate(stored, json.loads(json.dumps(index)), MOST)
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


BYTES = arrays()["bytes"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("I8", "is described wrongly"),
        ([], "is described wrongly"),
        (["F32", [10]], "is described wrongly"),
        (["I8", 10], "is described wrongly"),
        (["I8", [1] * 7], "is described wrongly"),
        (["I8", [-10, -10]], "is described wrongly"),
        (["I8", [0]], "is described wrongly"),
        (["I8", [True]], "is described wrongly"),
        (["I8", [8.0]], "is described wrongly"),
        (["I8", [BYTES.size - 1]], "does not have the 7999 bytes"),
        (["I8", [BYTES.size + 1]], "does not have the 8001 bytes"),
        (["U64", [1000]], "is described wrongly"),
        (["I32", [MOST // 4 + 1]], "more than are allowed"),
        (["I8", [10**30]], "more than are allowed"),
    ],
)
def test_a_wrong_description_is_refused(entry, message):
    stored, _ = deflate({"bytes": BYTES})
    with pytest.raises(ContainerError, match=message):
        inflate(stored, {"bytes": entry}, MOST)


def test_a_file_of_version_2_has_a_deflated_array():
    with pytest.raises(ContainerError, match="expected version 1"):
        inflate({"bytes": BYTES}, {}, MOST)


def test_arrays_that_cannot_be_deflated_ones_are_refused():
    stored, index = deflate({"bytes": BYTES})
    for wrong in (BYTES, stored["bytes"].reshape(1, -1), stored["bytes"].astype(np.int32)):
        with pytest.raises(ContainerError, match="is described wrongly"):
            inflate({"bytes": wrong}, index, MOST)
    with pytest.raises(ContainerError, match="is described wrongly"):
        inflate({}, index, MOST)


@pytest.mark.parametrize("change", ["cut", "longer", "two", "noise"])
def test_a_stream_that_is_not_all_of_the_array_is_refused(change):
    stored, index = deflate({"bytes": BYTES})
    good = stored["bytes"].tobytes()
    data = {"cut": good[:-9], "longer": good + b"0", "two": good + good, "noise": b"\xff" * 99}[change]
    with pytest.raises(ContainerError, match=r"cannot be read|does not have the 8000 bytes"):
        inflate({"bytes": np.frombuffer(data, np.uint8)}, index, MOST)


def test_a_bomb_is_not_unpacked():
    """A megabyte that would become a gigabyte: no more than its shape says is made of it, and the sum is bounded."""
    stream = zlib.compressobj(9, zlib.DEFLATED, RAW)
    bomb = np.frombuffer(stream.compress(bytes(1 << 28)) + stream.flush(), np.uint8)
    with pytest.raises(ContainerError, match="does not have the 100 bytes"):
        inflate({"x": bomb}, {"x": ["I8", [100]]}, MOST)
    stored, index = deflate(dict.fromkeys("abc", BYTES))
    with pytest.raises(ContainerError, match="'c' would have 8000 bytes, more than are allowed"):
        inflate(stored, index, 2 * BYTES.nbytes)


def test_the_default_network_is_stored_deflated_and_is_the_network_of_version_1(tmp_path):
    shipped = zoo.find("efficientnet_lite0@1")
    (path,) = zoo.FOLDER.glob("efficientnet_lite0.safetensors")
    stored, texts = unpack_container(path.read_bytes(), "")
    deflated = json.loads(texts.pop("deflated"))
    assert texts["version"] == "2" and path.stat().st_size <= 3.5e6
    del texts["sha256"]
    plain = tmp_path / "plain.safetensors"
    plain.write_bytes(pack_container(inflate(stored, deflated, 1 << 28), texts | {"version": "1"}))
    graph, about = modelfile.load(plain)
    assert isinstance(graph, Graph) and modelfile.digest(graph) == shipped.digest and about == shipped.about
    assert plain.stat().st_size > 1.08 * path.stat().st_size
    again = tmp_path / "again.safetensors"
    modelfile.save(graph, again, about)
    assert modelfile.digest(again) == shipped.digest and again.stat().st_size <= 3.5e6


def test_a_file_says_in_one_sentence_what_is_wrong_with_a_deflated_array(tmp_path, tiny_model):
    graph, about = modelfile.load(tiny_model)
    header, given = schema.write(graph)
    name = max(given, key=lambda key: given[key].nbytes)
    path = tmp_path / "wrong.safetensors"
    texts = {"format": "bitreplay-model", "version": "2", "deflated": json.dumps({name: ["I32", [2]]})}
    path.write_bytes(pack_container(given | {name: np.zeros(9, np.uint8)}, texts | _texts(tiny_model)))
    with pytest.raises(ModelFileError, match=r"Deflated tensor .* cannot be read|does not have the 8 bytes") as caught:
        modelfile.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def _texts(path):
    _, texts = unpack_container(path.read_bytes(), "")
    return {key: texts[key] for key in ("conventions", "graph", "about")}
