"""Files of named, typed sections in one canonical form: what state files are made of (docs/state-format.md).

    pieces(sections)             the bytes of a file, piece by piece
    unpack(data, title)          the sections of a file's bytes; anything but the canonical form is refused
    packed(sections)             the bytes of some sections alone
    learned_hash(sections)       the SHA-256 of those that were learned

A section is a value by a name: an integer array (scalars are arrays of rank 0), a bool, a Fraction, a text, or a tuple
of names of classes. The core lays sections out and says which files are in form (native.py); `reference.py` says the
same in Python, and tests compare them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bitreplay.sections import native, reference
from bitreplay.sections.reference import FLAG, FRACTION, NAMES, TEXT, FormError, Name, Section

__all__ = [
    "MAGIC",
    "DamagedSections",
    "FormError",
    "Value",
    "checksum_in",
    "learned_hash",
    "packed",
    "pieces",
    "unpack",
]

Value: TypeAlias = NDArray | np.integer | bool | Fraction | str | tuple[Name | None, ...]
Piece: TypeAlias = bytearray | memoryview
MAGIC = reference.MAGIC
DTYPES = tuple(np.dtype(name) for name in ("<i1", "<i2", "<i4", "<i8", "<u1", "<u4", "<u8"))
LEARNED = "learned/"
LARGE = 1 << 16


class DamagedSections(FormError):
    """A file that is cut off or changed."""


def pieces(sections: Mapping[str, Value]) -> list[Piece]:
    """The bytes of a file, piece by piece: large arrays are not copied, the rest is joined to the piece before."""
    body = _joined(sections)
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
    begin = reference.BEGIN + digest.digest()
    if body and isinstance(body[0], bytearray):
        return [bytearray(begin + body[0]), *body[1:]]
    return [bytearray(begin), *body]


def packed(sections: Mapping[str, Value]) -> bytes:
    return b"".join(_joined(sections))


def learned_hash(sections: Mapping[str, Value]) -> str:
    """64 hexadecimal digits: equal ones are equal states, on every machine."""
    digest = hashlib.sha256()
    for piece in _joined({name: value for name, value in sections.items() if name.startswith(LEARNED)}):
        digest.update(piece)
    return digest.hexdigest()


def unpack(data: bytes | bytearray | memoryview, title: str, copy: bool = True) -> dict[str, Value]:
    """The sections of a file, by name. Without `copy` arrays lie in `data`, and keep it."""
    view = memoryview(data)
    if bytes(view[:8]) != MAGIC:
        raise FormError(f"{title} is not a state file.")
    if len(view) < reference.HEAD or hashlib.sha256(view[reference.HEAD :]).digest() != view[16 : reference.HEAD]:
        raise DamagedSections(f"{title} is truncated or damaged: its checksum does not match its content.")
    version = int.from_bytes(view[8:16], "little")
    if version != reference.VERSION:
        raise FormError(f"{title} has version {version}; this program reads versions 1 to {reference.VERSION}.")
    try:
        return {section.name: _value(view, section, copy) for section in native.sections(view)}
    except FormError as error:
        raise FormError(f"{title} is malformed: {error}") from None


def checksum_in(data: bytes | bytearray | memoryview) -> str:
    """The checksum in a file's bytes, or in its first piece; empty if it is no such file."""
    return bytes(data[16 : reference.HEAD]).hex() if bytes(data[:8]) == MAGIC else ""


def _joined(sections: Mapping[str, Value]) -> list[Piece]:
    joined: list[Piece] = []
    for part in _parts(sections):
        if len(part) >= LARGE:
            joined.append(memoryview(part))
        elif joined and isinstance(joined[-1], bytearray):
            joined[-1] += part
        else:
            joined.append(bytearray(part))
    return joined


def _parts(sections: Mapping[str, Value]) -> Iterable[bytes | memoryview]:
    names = sorted(sections, key=lambda name: name.encode("utf-8", "surrogatepass"))
    stored = [_stored(sections[name]) for name in names]
    *heads, end = native.heads([(name, *each[:2]) for name, each in zip(names, stored, strict=True)])
    for head, (_, _, content) in zip(heads, stored, strict=True):
        yield head
        yield content
    yield end


def _stored(value: Value) -> tuple[int, tuple[int, ...], bytes | memoryview]:
    """Type, shape and bytes of a value."""
    if isinstance(value, bool):
        return FLAG, (), bytes([value])
    if isinstance(value, Fraction):
        return FRACTION, (), np.array([value.numerator, value.denominator], "<i8").tobytes()
    if isinstance(value, str):
        text = reference.text_to_bytes(value)
        return TEXT, (len(text),), text
    if isinstance(value, tuple):
        names = reference.names_to_bytes(value)
        return NAMES, (len(names),), names
    array = np.asarray(value)
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    if array.dtype not in DTYPES:
        raise FormError(f"An array has the type {array.dtype}, which states cannot hold.")
    return DTYPES.index(array.dtype), array.shape, array.reshape(-1).view(np.uint8).data


def _value(data: memoryview, section: Section, copy: bool) -> Value:
    content = data[section.offset : section.offset + section.size]
    if section.type == FLAG:
        return content[0] == 1
    if section.type == FRACTION:
        top, bottom = np.frombuffer(content, "<i8").tolist()
        return Fraction(top, bottom)
    if section.type == TEXT:
        return bytes(content).decode()
    if section.type == NAMES:
        return reference.names_of_bytes(bytes(content))
    dtype = DTYPES[section.type]
    return np.frombuffer(content, dtype).reshape(section.shape).astype(dtype.newbyteorder("="), copy=copy)
