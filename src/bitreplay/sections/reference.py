"""Which bytes are sections, in Python: docs/state-format.md, and the twin of core/src/learner/state/sections.cc."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

MAGIC, VERSION = b"BITSTATE", 3
BEGIN = MAGIC + VERSION.to_bytes(8, "little")
HEAD = len(BEGIN) + 32
FLAG, FRACTION, TEXT, NAMES = 7, 8, 9, 10
WIDTHS = (1, 2, 4, 8, 1, 4, 8, 1, 16, 1, 1)  # by type
MAX_NAME, MAX_RANK, MAX_LENGTH, MAX_BYTES = 255, 6, (1 << 31) - 1, 1 << 62
MAX_CLASS_NAME, MAX_INTEGER = 200, (1 << 53) - 1
FREE, INTEGER, NAMED = 0, 1, 2

Name: TypeAlias = str | int
Head: TypeAlias = tuple[str, int, tuple[int, ...]]  # name, type and shape of a section


class FormError(ValueError):
    """Bytes that are not in form; one sentence says why."""


@dataclass(frozen=True)
class Section:
    """`offset` and `size` are those of its content, in the file."""

    name: str
    type: int
    shape: tuple[int, ...]
    offset: int = 0
    size: int = 0


def heads(sections: Sequence[Head]) -> list[bytes]:
    """What stands before the content of each of these sections, and last what stands behind all."""
    written, behind, last = [], b"", b""
    for name, kind, shape in sections:
        text = name.encode("utf-8", "surrogatepass")
        written.append(behind + _head(name, kind, shape))
        _need(text > last, f"Its section {name[:40]!r} is not in order.")
        behind, last = bytes(-_size(name, kind, shape) % 8), text
    return [*written, behind]


def _head(name: str, kind: int, shape: tuple[int, ...]) -> bytes:
    text = name.encode("utf-8", "surrogatepass")
    _need(_is_name(text) and 0 <= kind < len(WIDTHS), f"Its section {name[:40]!r} cannot be.")
    _size(name, kind, shape)
    start = struct.pack("<BBH", kind, len(shape), len(text)) + text
    return start + bytes(-len(start) % 8) + struct.pack(f"<{len(shape)}Q", *shape)


def sections(data: memoryview) -> Iterator[Section]:
    """All sections of a file; FormError unless the bytes are the only ones that their content can have."""
    _need(len(data) >= HEAD and bytes(data[:16]) == BEGIN, "It does not begin as a state file.")
    at, last = HEAD, b""
    while at < len(data):
        section, end, text = _section(data, at)
        _need(text > last, f"Its section {section.name[:40]!r} is not in order.")
        yield section
        at, last = end, text


def _section(data: memoryview, at: int) -> tuple[Section, int, bytes]:
    kind, rank, length = struct.unpack("<BBH", _bytes(data, at, 4))
    text = _bytes(data, at + 4, length)
    _need(_is_name(text) and kind < len(WIDTHS) and rank <= MAX_RANK, "A section has no valid name, type or rank.")
    name, end = text.decode(), at + 4 + length
    offset = _padded(data, end, name) + 8 * rank
    shape = struct.unpack(f"<{rank}Q", _bytes(data, offset - 8 * rank, 8 * rank))
    size = _size(name, kind, shape)
    content = _bytes(data, offset, size) if kind >= FLAG else b""
    _need(offset + size <= len(data), f"Its section {name[:40]!r} is cut off.")
    _need(_is_content(kind, content), f"Its section {name[:40]!r} has no content of its type.")
    return Section(name, kind, shape, offset, size), _padded(data, offset + size, name), text


def _is_name(text: bytes) -> bool:
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return False
    return 1 <= len(text) <= MAX_NAME and all(c >= " " and c != "\x7f" for c in decoded)


def _size(name: str, kind: int, shape: tuple[int, ...]) -> int:
    """The bytes of the content."""
    ranks = range(MAX_RANK + 1) if kind < FLAG else (0,) if kind in (FLAG, FRACTION) else (1,)
    fits = len(shape) in ranks and all(0 <= length <= MAX_LENGTH for length in shape)
    bytes_ = WIDTHS[kind] * math.prod(length or 1 for length in shape)
    _need(fits and bytes_ <= MAX_BYTES, f"Its section {name[:40]!r} has no shape of its type.")
    return 0 if 0 in shape else bytes_


def _is_content(kind: int, content: bytes) -> bool:
    try:
        if kind == FLAG:
            return content[0] <= 1
        if kind == FRACTION:
            top, bottom = struct.unpack("<qq", content)
            return bottom >= 1 and math.gcd(top, bottom) == 1
        if kind == TEXT:
            return content.decode() is not None
        return kind != NAMES or names_of_bytes(content) is not None
    except (UnicodeDecodeError, FormError):
        return False


def _bytes(data: memoryview, at: int, size: int) -> bytes:
    _need(at + size <= len(data), "A section is cut off.")
    return bytes(data[at : at + size])


def _padded(data: memoryview, at: int, name: str) -> int:
    """The next multiple of 8, after zeros."""
    zeros = -at % 8
    _need(not any(_bytes(data, at, zeros)), f"Zeros are missing in its section {name[:40]!r}.")
    return at + zeros


def text_to_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise FormError(f"A text is not valid Unicode: {text[:40]!r}.") from None


def mark_of(data: bytes, before: bytes = b"") -> int:
    """The first 8 bytes of the SHA-256 of both: marks of experiences, digests of images."""
    return int.from_bytes(hashlib.sha256(before + data).digest()[:8], "little")


def names_to_bytes(names: tuple[Name | None, ...]) -> bytes:
    """Names of classes: for each a 0, a 1 and an int64, or a 2, its bytes as uint16, and UTF-8."""
    parts = []
    for name in names:
        if isinstance(name, str):
            text = name.encode("utf-8", "surrogatepass")
            parts.append(struct.pack("<BH", NAMED, len(text)) + text)
        else:
            parts.append(bytes([FREE]) if name is None else struct.pack("<Bq", INTEGER, name))
    return b"".join(parts)


def names_of_bytes(data: bytes) -> tuple[Name | None, ...]:
    names: list[Name | None] = []
    view, at = memoryview(data), 0
    while at < len(data):
        tag, at = data[at], at + 1
        if tag == FREE:
            names.append(None)
        elif tag == INTEGER:
            (number,) = struct.unpack("<q", _bytes(view, at, 8))
            _need(abs(number) <= MAX_INTEGER, "A name is out of range.")
            names.append(number)
            at += 8
        else:
            _need(tag == NAMED, "A name has no known type.")
            (length,) = struct.unpack("<H", _bytes(view, at, 2))
            names.append(_text(_bytes(view, at + 2, length)))
            at += 2 + length
    return tuple(names)


def _text(data: bytes) -> str:
    """Single surrogates are allowed, which names of 0.1 may have; a pair is another spelling of one character."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise FormError("A name is not UTF-8.") from None
    pair = any("\ud800" <= a < "\udc00" <= b < "\ue000" for a, b in zip(text, text[1:], strict=False))
    _need(1 <= len(text) <= MAX_CLASS_NAME and not pair, "A name has no valid text.")
    return text


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise FormError(sentence)
