"""Arrays of a model file that are stored deflated (RFC 1951): large ones of integers that get smaller by it, not bits.

Bytes of wider elements are apart, the lowest of all elements first, since the highest are nearly always alike.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.modelfile.container import DTYPES, MAX_DIMENSIONS, NAMES, Arrays, ContainerError

KINDS = ("I8", "I16", "I32")
LEAST_BYTES, LEAST_GAIN = 4096, 16  # an array of at least so many bytes, if one in so many goes
RAW = -15  # a stream without head or checksum: the file has its own

Index = dict[str, list[Any]]


def deflate(arrays: Arrays) -> tuple[Arrays, Index]:
    """The arrays as they are stored, and type and shape of those that are deflated."""
    stored, index = Arrays(), Index()
    for name, array in arrays.items():
        stored[name] = array
        kind = NAMES[array.dtype.newbyteorder("<")]
        if array.nbytes < LEAST_BYTES or kind not in KINDS:
            continue
        packed = _packed(array)
        if len(packed) <= array.nbytes - array.nbytes // LEAST_GAIN:
            stored[name] = np.frombuffer(packed, np.uint8)
            index[name] = [kind, list(array.shape)]
    return stored, index


def _packed(array: NDArray) -> bytes:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    apart = little.reshape(-1).view(np.uint8).reshape(-1, array.itemsize).T.tobytes()
    found = []
    for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY):
        stream = zlib.compressobj(9, zlib.DEFLATED, RAW, 9, strategy)
        found.append(stream.compress(apart) + stream.flush())
    return min(found, key=len)


def inflate(stored: Arrays, index: dict[str, Any], most_bytes: int) -> Arrays:
    """The arrays of a file. Together they have at most `most_bytes`, and no more is allocated on the file's word."""
    if not index:
        raise ContainerError("No tensor is deflated; expected version 1.")
    arrays = dict(stored)
    for name, entry in index.items():
        match entry:
            case [str(kind), list(shape)] if (
                kind in KINDS and len(shape) <= MAX_DIMENSIONS and all(type(n) is int and n > 0 for n in shape)
                and name in stored and stored[name].dtype == np.uint8 and stored[name].ndim == 1
            ):  # fmt: skip
                dtype, size = DTYPES[kind], math.prod(shape) * DTYPES[kind].itemsize
            case _:
                raise ContainerError(f"Deflated tensor {name[:40]!r} is described wrongly.")
        most_bytes -= size
        if most_bytes < 0:
            raise ContainerError(f"Deflated tensor {name[:40]!r} would have {size} bytes, more than are allowed.")
        stream = zlib.decompressobj(RAW)
        try:
            apart = stream.decompress(stored[name].data, size + 1)
        except zlib.error as error:
            raise ContainerError(f"Deflated tensor {name[:40]!r} cannot be read: {error}.") from None
        if len(apart) != size or not stream.eof or stream.unused_data:
            raise ContainerError(f"Deflated tensor {name[:40]!r} does not have the {size} bytes of its shape.")
        planes = np.frombuffer(apart, np.uint8).reshape(dtype.itemsize, -1)
        array = np.ascontiguousarray(planes.T).view(dtype).reshape(shape)
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
    return arrays
