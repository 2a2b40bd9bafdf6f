"""One array of NumPy's format, its header compared with the bytes that are there. Nothing is unpickled."""

import math
from pathlib import Path
from typing import IO

import numpy as np

from bitreplay.arguments import short_repr
from bitreplay.data.regular import is_regular


def array(stream: IO[bytes], size: int) -> np.ndarray:
    """The array in the `size` bytes of a stream; others are refused in words that can follow a name.

    NumPy makes room for what the header claims before it reads, and fails on some headers in ways of its own.
    """
    shape, fortran, dtype, _ = header(stream, size)
    found = np.empty(math.prod(shape), dtype)
    room = found.view(np.uint8).data if found.size else memoryview(b"")
    at = 0
    while at < len(room) and (piece := stream.read(min(1 << 20, len(room) - at))):
        room[at : at + len(piece)] = piece
        at += len(piece)
    if at < len(room):
        raise ValueError(f"it ends {len(room) - at} bytes too early")
    return found.reshape(shape, order="F" if fortran else "C")


def header(stream: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, whether columns come first, type, and where the numbers begin."""
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(stream)
    except Exception as error:
        why = " ".join(str(error).split())[:100].rstrip(".") or type(error).__name__
        raise ValueError(f"its header is not one of a .npy file ({why})") from None
    start = stream.tell()
    if dtype.hasobject:
        raise ValueError("it holds Python's objects, which are not read")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"its header claims the shape {short_repr(shape)}")
    if start + math.prod(shape) * dtype.itemsize != size:
        claimed = f"{short_repr(dtype)} {short_repr(shape)}"
        raise ValueError(f"its header claims {claimed}, which are not the {size - start} bytes that follow")
    return shape, fortran, dtype, start


def of_file(path: Path, mapped: bool = False) -> np.ndarray:
    """The array of a .npy file, or a view of it that reads what is asked for."""
    try:
        if not is_regular(path):
            raise ValueError("it is no file")
        with open(path, "rb") as stream:
            size = path.stat().st_size
            if not mapped:
                return array(stream, size)
            shape, fortran, dtype, start = header(stream, size)
            if not math.prod(shape):
                raise ValueError("it is empty")
            return np.memmap(path, dtype, "r", start, shape, "F" if fortran else "C")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}.") from None
