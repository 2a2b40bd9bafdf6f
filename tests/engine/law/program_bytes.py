"""The serialised form of a program, written byte by byte from docs/law.md section 12, and the engine's own.

A tensor is [name, region, dtype, per sample, shape, offset], a record [operation, list, tensors, attributes].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.engine import layers as layers
from bitreplay.engine.operations import BY_CODE
from bitreplay.engine.program import DTYPES, LISTS, REGIONS, Program, Record, Tensor


def crc32(data: bytes) -> int:
    """The checksum of zlib and Ethernet: polynomial 0xEDB88320, reflected, started and ended with ones."""
    crc = 2**32 - 1
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc // 2 ^ (0xEDB88320 if crc % 2 else 0)
    return crc ^ 2**32 - 1


def little(value: int, size: int) -> bytes:
    return (value % 2 ** (8 * size)).to_bytes(size, "little")


def expected_bytes(max_samples: int, arena_bytes: int, scratch_offset: int, tensors: Any, records: Any,
                   parameters: list[int], constants: list[int]) -> list[int]:  # fmt: skip
    body = b"".join(little(n, 4) for n in (max_samples, len(tensors), len(records), 0))
    body += b"".join(little(n, 8) for n in (arena_bytes, len(parameters), len(constants), scratch_offset))
    for name, region, dtype, per_sample, shape, offset in tensors:
        body += bytes((region, dtype, per_sample, len(shape)))
        body += b"".join(little(n, 4) for n in [*shape, 1, 1, 1, 1][:4])
        body += little(offset, 8) + name.encode() + b"\0" * (44 - len(name))
    for code, list_number, ids, attributes in records:
        body += b"".join(little(n, 4) for n in (code, list_number, len(ids), len(attributes), *ids))
        body += b"\0" * (4 * (len(ids) % 2))
        body += b"".join(little(n, 8) for n in attributes)
    body += bytes(parameters) + bytes(constants)
    return list(b"BITREPLY" + little(1, 4) + little(crc32(body), 4) + body)


def program_of(max_samples: int, arena_bytes: int, scratch_offset: int, tensors: Any, records: Any,
               parameters: list[int], constants: list[int]) -> Program:  # fmt: skip
    return Program(
        max_samples,
        [Tensor(name, REGIONS[r], DTYPES[d], tuple(shape), bool(p), at) for name, r, d, p, shape, at in tensors],
        [Record(BY_CODE[code].name, LISTS[number], tuple(ids), tuple(values)) for code, number, ids, values in records],
        arena_bytes,
        scratch_offset,
        np.array(parameters, np.uint8),
        np.array(constants, np.uint8),
    )


def program_bytes(**inputs: Any) -> list[int]:
    """What the engine writes; and what it reads from that must be written the same again."""
    written = program_of(**inputs).to_bytes()
    assert Program.from_bytes(written).to_bytes() == written
    return list(written)
