"""Damaged and malicious containers: one sentence, no crash, no huge allocation."""

import hashlib
import json
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from bitreplay import modelfile
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.container import pack_container, unpack_container


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.safetensors"
    arrays: dict[str, NDArray] = {
        "words": np.arange(500, dtype=np.uint64),
        "numbers": np.arange(-9, 9, dtype=np.int16).reshape(2, 9),
    }
    found.write_bytes(pack_container(arrays, {"note": "x"}))
    return found


def test_arrays_and_texts_come_back(path):
    arrays, texts = unpack_container(path.read_bytes(), "")
    assert texts.pop("sha256") and texts == {"note": "x"}
    assert np.array_equal(arrays["words"], np.arange(500)) and arrays["words"].dtype == np.uint64
    assert np.array_equal(arrays["numbers"], np.arange(-9, 9).reshape(2, 9)) and arrays["numbers"].dtype == np.int16


def refused(path, pattern):
    with pytest.raises(ModelFileError, match=pattern) as caught:
        modelfile.load(path)
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".") and str(path) in message and len(message) < 400


# Damage: any change of a byte is seen by the checksum.


@pytest.mark.parametrize("length", [0, 1, 7, 8, 20, 100, 1000, -1000, -1])
def test_a_truncated_file_is_refused(path, length):
    data = path.read_bytes()
    path.write_bytes(data[: length if length >= 0 else len(data) + length])
    refused(path, "is not a bitreplay file|truncated or damaged")


def test_a_flipped_bit_is_refused_wherever_it_lies(path):
    data = path.read_bytes()
    rng = np.random.default_rng(7)
    places = [*range(0, 8 * 120, 7), *rng.integers(0, 8 * len(data), 150)]
    for place in places:
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        refused(path, "is not a bitreplay file|truncated or damaged")


def test_a_longer_file_is_refused(path):
    path.write_bytes(path.read_bytes() + b"\0")
    refused(path, "damaged")


def test_what_is_no_file_is_refused(tmp_path):
    refused(tmp_path, "is not a file")
    refused(tmp_path / "absent", "cannot be read: No such file")
    with open(tmp_path / "vast", "wb") as file:
        file.truncate(1 << 40)
    refused(tmp_path / "vast", "has 1099511627776 bytes; at most")


# Malice: the checksum is right, the content is not.


def signed(header: bytes, body: bytes = b"", length: int | None = None) -> bytes:
    """A file with any header and a right checksum; the header begins as ours do."""
    data = bytearray((len(header) if length is None else length).to_bytes(8, "little") + header + body)
    at = header.index(b"0" * 64) + 8
    data[at : at + 64] = hashlib.sha256(data).hexdigest().encode()
    return bytes(data)


def header_of(tensors: dict | str, texts: str = "") -> bytes:
    inner = tensors if isinstance(tensors, str) else json.dumps(tensors)[1:-1]
    return (
        '{"__metadata__":{"sha256":"' + "0" * 64 + '"' + texts + "}" + ("," if inner else "") + inner + "}"
    ).encode()


U8 = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
CONTAINERS = {
    "huge header": (signed(header_of({}), length=1 << 62), "a header of 4611686018427387904 bytes"),
    "no json": (signed(header_of({})[:-1]), "cannot be read"),
    "key twice": (signed(header_of('"a":1,"a":2')), "a key occurs twice"),
    "nan": (signed(header_of('"a":NaN')), "NaN is not a number"),
    "deep": (signed(header_of('"a":' + "[" * 100000 + "]" * 100000)), "cannot be read"),
    "long number": (signed(header_of('"a":' + "9" * 10000)), "cannot be read"),
    "metadata not text": (signed(header_of({}, ',"a":1')), "metadata that is not text"),
    "entry no object": (signed(header_of({"a": 3})), "describes tensor 'a' wrongly"),
    "unknown dtype": (signed(header_of({"a": U8 | {"dtype": "F64"}}), b"1234"), "describes tensor 'a' wrongly"),
    "float shape": (signed(header_of({"a": U8 | {"shape": [4.0]}}), b"1234"), "describes tensor 'a' wrongly"),
    "bool shape": (signed(header_of({"a": U8 | {"shape": [True]}}), b"1234"), "describes tensor 'a' wrongly"),
    "negative shape": (signed(header_of({"a": U8 | {"shape": [-4]}}), b"1234"), "describes tensor 'a' wrongly"),
    "vast shape": (signed(header_of({"a": U8 | {"shape": [1 << 40, 1 << 40]}}), b"1234"), "wrongly"),
    "vast product": (signed(header_of({"a": U8 | {"shape": [4, 4, 4, 4]}}), b"1234"), "does not fit its offsets"),
    "outside": (signed(header_of({"a": U8}), b"12"), "describes tensor|does not fit its offsets"),
    "overlap": (signed(header_of({"a": U8, "b": U8}), b"12345678"), "'b' does not fit its offsets"),
    "hole": (signed(header_of({"a": U8 | {"data_offsets": [2, 6]}}), b"123456"), "'a' does not fit its offsets"),
    "left over": (signed(header_of({"a": U8}), b"123456"), "2 bytes belong to no tensor"),
    "other format": (signed(header_of({})), "is not a model file"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_malicious_container_is_refused_without_much_memory(name, tmp_path):
    data, pattern = CONTAINERS[name]
    path = tmp_path / "bad"
    path.write_bytes(data)
    tracemalloc.start()
    refused(path, pattern)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * len(data) + (1 << 20)


def test_arrays_without_elements_are_read_as_they_were_written():
    """Alone in a file too, whose body has no bytes then."""
    given: dict[str, NDArray] = {"rows": np.zeros((0, 64), np.int64), "columns": np.zeros((3, 0), np.uint8)}
    arrays, _ = unpack_container(pack_container(given, {"format": "x"}), "It")
    assert {name: (array.dtype, array.shape) for name, array in arrays.items()} == {
        name: (array.dtype, array.shape) for name, array in given.items()
    }
