"""A program: a flat list of operation records over one arena, and its serialised form.

Regions: `constant` (part of the program), `parameter` (learned, saved with the state), `arena` (everything else, laid
out by lifetime), `passing` (nowhere: results that go straight from one record into the next). Four lists: `prepare`
derives operands from parameters, `forward`, `backward`, `update`; the first two write the arena alone.
A training step runs forward, backward, update, prepare.

Bytes (little endian; docs/law.md section 12; core/src/machine/program.cc reads the same):

    header   "BITREPLY", u32 version, u32 crc32 of all that follows the field,
             u32 max_samples, u32 tensors, u32 operations, u32 zero,
             u64 arena bytes, u64 parameter bytes, u64 constant bytes, u64 scratch offset
    tensor   u8 region, u8 dtype, u8 per sample, u8 dimensions, u32 shape[4], u64 offset, char name[44]     (72 bytes)
    record   u32 code, u32 list, u32 tensors, u32 attributes, i32 tensor[], (i32 0 to a multiple of 8), i64 attribute[]
    parameters, constants: raw bytes
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.aligned import aligned, aligned_zeros
from bitreplay.engine.operations import BY_CODE, OPERATIONS

MAGIC = b"BITREPLY"
VERSION = 1
SPARE_ARENA = 4096  # bytes that no tensor uses, besides as many again as they do
REGIONS = ("constant", "parameter", "arena", "passing")
LISTS = ("prepare", "forward", "backward", "update")
DTYPES = tuple(np.dtype(name) for name in ("i1", "<i2", "<i4", "<i8", "u1", "<u4", "<u8"))

_HEADER = struct.Struct("<8sIIIIIIQQQQ")
_TENSOR = struct.Struct("<BBBB4IQ44s")
_RECORD = struct.Struct("<IIII")


class ProgramError(ValueError):
    """A program that cannot be read or does not fit; the message is one sentence."""


@dataclass(frozen=True)
class Tensor:
    """Where an array lives. `shape` is of one sample where `per_sample`, else of the whole."""

    name: str
    region: str
    dtype: np.dtype
    shape: tuple[int, ...]
    per_sample: bool
    offset: int

    @property
    def sample_bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def bytes(self, max_samples: int) -> int:
        return self.sample_bytes * (max_samples if self.per_sample else 1)


@dataclass(frozen=True)
class Record:
    """One operation of a program; tensor -1 is an absent optional one."""

    operation: str
    list: str
    tensors: tuple[int, ...]
    attributes: tuple[int, ...]


@dataclass
class Program:
    max_samples: int
    tensors: list[Tensor]
    records: list[Record]
    arena_bytes: int
    scratch_offset: int
    parameters: NDArray[np.uint8]
    constants: NDArray[np.uint8]
    _by_name: dict[str, Tensor] = field(init=False, repr=False)
    _image: NDArray[np.uint8] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        self._by_name = {tensor.name: tensor for tensor in self.tensors}

    def tensor(self, name: str) -> Tensor:
        return self._by_name[name]

    def has(self, name: str) -> bool:
        return name in self._by_name

    @property
    def image(self) -> NDArray[np.uint8]:
        """The serialised form, aligned and read-only: made once, and from then on the only copy of the content."""
        if self._image is None:
            self._keep(self._serialised())
        assert self._image is not None
        return self._image

    def _keep(self, image: NDArray[np.uint8]) -> None:
        """Let parameters and constants be what `image` ends with."""
        image.flags.writeable = False
        constants = len(image) - len(self.constants)
        self.parameters = image[constants - len(self.parameters) : constants]
        self.constants = image[constants:]
        self._image = image

    def to_bytes(self) -> bytes:
        return self._serialised().tobytes()

    def _serialised(self) -> NDArray[np.uint8]:
        tables = bytearray()
        for tensor in self.tensors:
            dims = (*tensor.shape, 1, 1, 1, 1)[:4]
            tables += _TENSOR.pack(
                REGIONS.index(tensor.region), DTYPES.index(tensor.dtype), tensor.per_sample, len(tensor.shape),
                *dims, tensor.offset, tensor.name.encode(),
            )  # fmt: skip
        for record in self.records:
            code = OPERATIONS[record.operation].code
            tables += _RECORD.pack(code, LISTS.index(record.list), len(record.tensors), len(record.attributes))
            tables += struct.pack(f"<{len(record.tensors)}i", *record.tensors)
            tables += b"\0" * (-len(record.tensors) % 2 * 4)
            tables += struct.pack(f"<{len(record.attributes)}q", *record.attributes)
        fields = (self.max_samples, len(self.tensors), len(self.records), 0, self.arena_bytes,
                  len(self.parameters), len(self.constants), self.scratch_offset)  # fmt: skip
        parts = (np.frombuffer(_HEADER.pack(MAGIC, VERSION, 0, *fields), np.uint8), np.frombuffer(tables, np.uint8),
                 self.parameters, self.constants)  # fmt: skip
        image = aligned_zeros(sum(len(part) for part in parts))
        np.concatenate(parts, out=image)
        image[12:16] = np.frombuffer(struct.pack("<I", zlib.crc32(image[16:].data)), np.uint8)
        return image

    @staticmethod
    def from_bytes(data: bytes | memoryview) -> Program:
        """Checks everything before it believes it; keeps a copy of `data`."""
        if len(data) < _HEADER.size or bytes(data[:8]) != MAGIC:
            raise ProgramError("not a bitreplay program: it does not begin with BITREPLY and a complete header")
        _, version, crc, samples, n_tensors, n_records, _, arena, n_param, n_const, scratch = _HEADER.unpack_from(data)
        if version != VERSION:
            raise ProgramError(f"program version {version} cannot be read; expected {VERSION}")
        if zlib.crc32(memoryview(data)[16:]) != crc:
            raise ProgramError("program is damaged: its checksum does not match its content")
        try:
            program = _parse(data, samples, n_tensors, n_records, arena, n_param, n_const, scratch)
        except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
            raise ProgramError(f"program is malformed: {error}") from None
        program._keep(aligned(np.frombuffer(data, np.uint8)))
        return program


def _parse(
    data: bytes | memoryview, samples: int, n_tensors: int, n_records: int, arena: int, n_param: int, n_const: int,
    scratch: int,
) -> Program:  # fmt: skip
    at = _HEADER.size
    tensors = []
    for _ in range(n_tensors):
        region, dtype, per_sample, dims, *rest = _TENSOR.unpack_from(data, at)
        shape, offset, name = tuple(rest[:4])[:dims], rest[4], rest[5].rstrip(b"\0").decode()
        tensors.append(Tensor(name, REGIONS[region], DTYPES[dtype], shape, bool(per_sample), offset))
        at += _TENSOR.size
    records = []
    for _ in range(n_records):
        code, list_number, count, attributes = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        if code not in BY_CODE:
            raise ProgramError(f"program contains operation {code}, which this version does not know")
        ids = struct.unpack_from(f"<{count}i", data, at)
        at += 4 * (count + count % 2)
        values = struct.unpack_from(f"<{attributes}q", data, at)
        at += 8 * attributes
        records.append(Record(BY_CODE[code].name, LISTS[list_number], ids, values))
    if len(data) != at + n_param + n_const:
        raise ProgramError(f"program has {len(data)} bytes, expected {at + n_param + n_const}")
    parameters = np.frombuffer(data, np.uint8, n_param, at)
    constants = np.frombuffer(data, np.uint8, n_const, at + n_param)
    program = Program(samples, tensors, records, arena, scratch, parameters, constants)
    check(program)
    return program


def check(program: Program) -> None:
    """Every tensor lies inside its region and every record fits its operation."""
    size = {"constant": len(program.constants), "parameter": len(program.parameters), "arena": program.arena_bytes}
    for tensor in program.tensors:
        if tensor.region != "passing" and tensor.offset + tensor.bytes(program.max_samples) > size[tensor.region]:
            raise ProgramError(f"tensor {tensor.name} lies outside its region")
        if tensor.offset % tensor.dtype.itemsize:
            raise ProgramError(f"tensor {tensor.name} is not aligned")
    ends = (t.offset + t.bytes(program.max_samples) for t in program.tensors if t.region == "arena")
    used = max(ends, default=0)
    if program.arena_bytes > 2 * used + SPARE_ARENA:
        raise ProgramError(f"program asks for an arena of {program.arena_bytes} bytes, but its tensors take {used}")
    for record in program.records:
        operation = OPERATIONS[record.operation]
        fits = len(record.tensors) == len(operation.tensors) and len(record.attributes) == len(operation.attributes)
        if not fits or any(not -1 <= number < len(program.tensors) for number in record.tensors):
            raise ProgramError(f"a record of {record.operation} does not match the operation")
        for role, number in zip(operation.tensors, record.tensors, strict=True):
            if number < 0 and not operation.optional(role):
                raise ProgramError(f"a record of {record.operation} lacks its tensor {role}")
            if number >= 0 and operation.written(role) and not _may_write(record.list, program.tensors[number].region):
                raise ProgramError(
                    f"a record of {record.operation} in {record.list} writes a {program.tensors[number].region}"
                )
    for at, record in enumerate(program.records):
        entry = OPERATIONS[record.operation]
        for role, number in zip(entry.tensors, record.tensors, strict=True):
            if number < 0 or program.tensors[number].region != "passing":
                continue
            next_to = at + 1 if entry.written(role) else at - 1
            neighbour = program.records[next_to] if 0 <= next_to < len(program.records) else None
            if neighbour is None or neighbour.list != record.list or number not in neighbour.tensors:
                raise ProgramError("a tensor without a place does not go straight from one record into the next")


def _may_write(list_name: str, region: str) -> bool:
    """Constants never change, and parameters only after forward: so many may run forward on the same ones."""
    return region in ("arena", "passing") or (region == "parameter" and list_name in ("backward", "update"))
