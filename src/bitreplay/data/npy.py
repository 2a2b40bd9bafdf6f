"""One array in NumPy's format. Its header must agree with the bytes that follow, and nothing is unpickled."""

import math
from pathlib import Path
from typing import IO

import numpy as np

from bitreplay.arguments import short_repr
from bitreplay.data.regular import is_regular


def read_array(stream: IO[bytes], size: int) -> np.ndarray:
    """The array in the `size` bytes of a stream. The message of a ValueError follows a name in a sentence.

    NumPy itself would allocate whatever the header claims before it reads.
    """
    shape, fortran, dtype, _ = read_header(stream, size)
    array = np.empty(math.prod(shape), dtype)
    buffer = array.view(np.uint8).data if array.size else memoryview(b"")
    at = 0
    while at < len(buffer) and (piece := stream.read(min(1 << 20, len(buffer) - at))):
        buffer[at : at + len(piece)] = piece
        at += len(piece)
    if at < len(buffer):
        raise ValueError(f"it ends {len(buffer) - at} bytes too early")
    return array.reshape(shape, order="F" if fortran else "C")


def read_header(stream: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, whether the order is Fortran's, dtype, and the offset of the data."""
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(stream)
    except Exception as error:
        why = " ".join(str(error).split())[:100].rstrip(".") or type(error).__name__
        raise ValueError(f"its header is not one of a .npy file ({why})") from None
    start = stream.tell()
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"its header claims the shape {short_repr(shape)}")
    if start + math.prod(shape) * dtype.itemsize != size:
        claimed = f"{short_repr(dtype)} {short_repr(shape)}"
        raise ValueError(f"its header claims {claimed}, but {size - start} bytes follow")
    return shape, fortran, dtype, start


def load_array(path: Path, mapped: bool = False) -> np.ndarray:
    """The array of a .npy file, in memory or `mapped` from the disk."""
    try:
        if not is_regular(path):
            raise ValueError("it is not a regular file")
        with open(path, "rb") as stream:
            size = path.stat().st_size
            if not mapped:
                return read_array(stream, size)
            shape, fortran, dtype, start = read_header(stream, size)
            if not math.prod(shape):
                raise ValueError("it is empty")
            return np.memmap(path, dtype, "r", start, shape, "F" if fortran else "C")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}.") from None
