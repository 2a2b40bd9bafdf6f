"""Read the files of a folder, a .zip or a .tar.gz in the same way, without unpacking to disk, and within limits.

A few bytes of an archive may stand for terabytes: deflate makes 1,032 bytes of one, a sparse file any number. So a file
inside may have at most MAX_BYTES, and all files together MAX_BYTES plus MAX_RATIO times the archive's size. Archives
that claim more are refused before they are read, those that turn out to have more while they are.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from bitreplay.data.regular import MAX_BYTES, is_regular, read_bytes

PIECE = 1 << 20
MAX_RATIO = 100
COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
# Zip's other compressions unpack a piece at once, however large it becomes.
ZIP_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Refused(ValueError):
    """Something in an archive that is not read; the message follows the archive's name in a sentence."""


def files(path: Path, *suffixes: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name with slashes, content) of each file whose name ends with one of `suffixes`.

    Names are sorted, but those of a .tar.gz come in its own order, since it is read in one pass. Raises ValueError for
    a damaged archive and for anything that is not a regular file.
    """
    if path.is_dir():
        yield from _in_folder(path, suffixes)
        return
    if not is_regular(path):
        raise ValueError(f"{path} is not a folder, a .zip or a .tar.gz.")
    members = _in_archive(path, suffixes)
    while True:
        try:
            member = next(members)
        except StopIteration:
            return
        except Refused as error:
            raise ValueError(f"{path} {error}.") from None
        except Exception as error:  # readers of archives fail in many ways on damaged bytes
            why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
            raise ValueError(f"{path} is damaged: {why}.") from None
        yield member


def _in_folder(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    paths = {p.relative_to(path).as_posix(): p for p in path.rglob("*") if p.name.endswith(suffixes) and not p.is_dir()}
    for name in sorted(paths):
        try:
            content = read_bytes(paths[name])
        except ValueError as error:
            raise ValueError(f"{paths[name]} cannot be read: {error}.") from None
        yield name, content


def _in_archive(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    max_bytes = MAX_BYTES + MAX_RATIO * path.stat().st_size
    with open(path, "rb") as file:
        first = file.read(6)
        file.seek(0)
        compression = next((opener for magic, opener in COMPRESSIONS.items() if first.startswith(magic)), None)
        if compression is None and zipfile.is_zipfile(file):
            yield from _in_zip(file, suffixes, max_bytes)
            return
        file.seek(0)
        with compression(file) if compression else file as stream:
            yield from _in_tar(LimitedStream(stream, max_bytes), suffixes)


def _in_zip(file: IO[bytes], suffixes: tuple[str, ...], max_bytes: int) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        chosen = {info.filename: info for info in archive.infolist() if info.filename.endswith(suffixes)}
        for name, info in chosen.items():
            _check_size(name, info.file_size)
        if sum(info.file_size for info in chosen.values()) > max_bytes:
            raise Refused(f"unpacks to more than {max_bytes} bytes, over {MAX_RATIO} times its size")
        for name in sorted(chosen):
            info = chosen[name]
            if info.compress_type not in ZIP_COMPRESSIONS:
                raise Refused(f"has {name[:80]} in a compression that is not read; expected deflate or none")
            with archive.open(info) as stream:
                yield name, _read_all(stream, name, info.file_size)


def _in_tar(stream: "LimitedStream", suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    try:
        archive = tarfile.open(fileobj=stream, mode="r:")
    except tarfile.ReadError:
        if stream.at > tarfile.BLOCKSIZE or stream.packed:
            raise
        raise Refused("is not a folder, a .zip or a .tar.gz") from None
    with archive:
        while member := archive.next():
            archive.members.clear()  # type: ignore[attr-defined]  # it would keep every header that was read
            if not member.isfile() or not member.name.endswith(suffixes):
                continue
            if member.issparse():
                raise Refused(f"has {member.name[:80]} as a sparse file, which is not read")
            _check_size(member.name, member.size)
            content = archive.extractfile(member)
            assert content is not None
            yield member.name, _read_all(content, member.name, member.size)


def _check_size(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise Refused(f"has {name[:80]} of {size} bytes; at most {MAX_BYTES} are read")


def _read_all(stream: IO[bytes], name: str, size: int) -> bytes:
    """All bytes of a member, a piece at a time."""
    content = bytearray()
    while piece := stream.read(PIECE):
        content += piece
        _check_size(name, len(content))
    if len(content) != size:
        raise ValueError(f"{name[:80]} has {len(content)} of its {size} bytes")
    return bytes(content)


class LimitedStream(io.RawIOBase):
    """A stream that tarfile can read and skip in: at most `max_bytes` in all, and one piece at a time."""

    def __init__(self, stream: IO[bytes], max_bytes: int) -> None:
        self.stream, self.max_bytes, self.at = stream, max_bytes, 0
        self.packed = isinstance(stream, gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile)

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= 2 * PIECE:
            raise Refused(f"has a header of {size} bytes")
        content = self.stream.read(size)
        self._move_to(self.at + len(content))
        return content

    def seek(self, offset: int, whence: int = 0) -> int:
        assert whence == 0
        self._move_to(offset)
        return self.stream.seek(offset)

    def tell(self) -> int:
        return self.at

    def _move_to(self, offset: int) -> None:
        self.at = offset
        if offset > self.max_bytes:
            raise Refused(f"unpacks to more than {self.max_bytes} bytes, over {MAX_RATIO} times its size")
