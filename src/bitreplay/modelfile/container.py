"""Named integer arrays and text in one checked file.

The container is safetensors: 8 bytes of header length, a JSON header, the arrays. The header begins with a SHA-256 over
the whole file (its own 64 digits counted as 0), so that any changed byte is seen before anything is parsed. Writing is
atomic: a file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BEGIN = b'{"__metadata__":{"sha256":"'
DIGITS = 64
MAX_HEADER = 8 << 20
MAX_DIMENSIONS = 6
MAX_NOTHING = 1 << 20  # along the other dimensions of an array that has no elements
DTYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("u1"), "I8": np.dtype("i1"), "I16": np.dtype("<i2"), "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"), "U64": np.dtype("<u8"),
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}

Arrays = dict[str, NDArray]
Piece = bytearray | memoryview
LARGE = 1 << 16


class ContainerError(ValueError):
    """A file that cannot be used; one sentence says why."""


class DamagedFile(ContainerError):
    """A file that is missing, cut off or changed."""


def pack_container(arrays: Arrays, texts: dict[str, str]) -> bytes:
    """The bytes of a file."""
    return b"".join(pieces(arrays, texts))


def pieces(arrays: Arrays, texts: dict[str, str]) -> list[Piece]:
    """The bytes of a file, piece by piece: large arrays are not copied, the rest is joined to the piece before.

    Wide elements come first, so that every array lies aligned.
    """
    little = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    order = sorted(little, key=lambda name: (-little[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * DIGITS} | dict(sorted(texts.items()))}
    end = 0
    for name in order:
        start, end = end, end + little[name].nbytes
        header[name] = {
            "dtype": NAMES[little[name].dtype],
            "shape": list(little[name].shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    if len(text) + 8 > MAX_HEADER:
        raise ContainerError(f"Its header would have {len(text)} bytes; at most {MAX_HEADER} are allowed.")
    text += b" " * (-len(text) % 8)
    first = bytearray(len(text).to_bytes(8, "little") + text)
    parts: list[Piece] = [first]
    for name in order:
        content = raw(little[name])
        last = parts[-1]
        if isinstance(last, bytearray) and len(content) < LARGE:
            last += content
        else:
            parts.append(content if len(content) >= LARGE else bytearray(content))
    digest = hashlib.sha256()
    for piece in parts:
        digest.update(piece)
    at = 8 + len(BEGIN)
    first[at : at + DIGITS] = digest.hexdigest().encode()
    return parts


def raw(array: NDArray) -> memoryview:
    """The bytes of an array, without a copy if it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def write_whole(path: Path, data: bytes) -> None:
    """Write a temporary file, sync it, rename it, sync the directory."""
    with written_beside(path, data) as temporary:
        os.replace(temporary, path)
    sync_directory(path.parent)


@contextmanager
def written_beside(path: Path, data: bytes) -> Iterator[Path]:
    """A synced file beside `path`, to be renamed; it is removed if that does not happen."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def read_whole(path: Path, most_bytes: int, check: Callable[[bytes, int, str], object] | None = None) -> bytearray:
    """All bytes of a file, in one copy. `check` looks at its first bytes before the others are read."""
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise ContainerError(f"{path} is not a file.")
        if about.st_size > most_bytes:
            raise ContainerError(f"{path} has {about.st_size} bytes; at most {most_bytes} are expected.")
        with open(path, "rb") as file:
            (check or check_start)(file.read(8 + len(BEGIN) + DIGITS), about.st_size, str(path))
            content = bytearray(about.st_size)
            file.seek(0)
            return content if file.readinto(content) == len(content) else content[: file.tell()]
    except OSError as error:
        kind = DamagedFile if isinstance(error, FileNotFoundError) else ContainerError
        raise kind(f"{path} cannot be read: {error.strerror}.") from None
    except MemoryError:
        raise ContainerError(f"{path} has {about.st_size} bytes, more than there is memory for.") from None


def check_start(data: bytes | bytearray | memoryview, size: int, title: str) -> int:
    """The length of the header, if the first bytes of a file can be those of a container of `size` bytes."""
    if len(data) < 8 + len(BEGIN) + DIGITS or data[8 : 8 + len(BEGIN)] != BEGIN:
        raise DamagedFile(f"{title} is not a bitreplay file: its header does not begin with a checksum.")
    length = int.from_bytes(data[:8], "little")
    if length > min(MAX_HEADER, size - 8):
        raise DamagedFile(f"{title} is truncated or damaged: a header of {length} bytes in {size} bytes.")
    return length


def unpack_container(
    data: bytes | bytearray | memoryview, title: str, copy: bool = True
) -> tuple[Arrays, dict[str, str]]:
    """Arrays and texts of a file's bytes; `title` names it in errors. Without `copy` arrays lie in `data` where they
    can, and keep it."""
    length = check_start(data, len(data), title)
    at = 8 + len(BEGIN)
    digest = hashlib.sha256(bytes(data[:at]) + b"0" * DIGITS)
    digest.update(memoryview(data)[at + DIGITS :])
    if data[at : at + DIGITS] != digest.hexdigest().encode():
        raise DamagedFile(f"{title} is truncated or damaged: its checksum does not match its content.")
    header = parse(bytes(data[8 : 8 + length]), f"the header of {title}")
    texts = header.pop("__metadata__")
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ContainerError(f"{title} has metadata that is not text.")
    return _arrays(header, memoryview(data)[8 + length :], title, copy), texts


def _arrays(header: dict[str, Any], body: memoryview, title: str, copy: bool) -> Arrays:
    """Every array fits its dtype and shape, and together they fill the file without holes."""
    arrays, end = {}, 0
    for name, entry in header.items():
        match entry:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(stop)]} if (
                len(entry) == 3 and dtype in DTYPES and len(shape) <= MAX_DIMENSIONS
                and all(type(n) is int and 0 <= n <= (MAX_NOTHING if 0 in shape else len(body)) for n in shape)
            ):  # fmt: skip
                pass
            case _:
                raise ContainerError(f"{title} describes tensor {name[:40]!r} wrongly.")
        size = math.prod(shape) * DTYPES[dtype].itemsize
        if start != end or stop != start + size or stop > len(body):
            raise ContainerError(f"{title} is malformed: tensor {name[:40]!r} does not fit its offsets.")
        end = stop
        array = np.frombuffer(body[start:stop], DTYPES[dtype]).reshape(shape)
        arrays[name] = array.astype(DTYPES[dtype].newbyteorder("="), copy=copy)
    if end != len(body):
        raise ContainerError(f"{title} is malformed: {len(body) - end} bytes belong to no tensor.")
    return arrays


def parse(text: str | bytes | bytearray, what: str) -> dict[str, Any]:
    """A JSON object without repeated keys and without NaN; anything else is refused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("a key occurs twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number")

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ContainerError(f"The JSON of {what} cannot be read: {str(error).splitlines()[0]}.") from None
    if not isinstance(value, dict):
        raise ContainerError(f"The JSON of {what} is not an object.")
    return value
