"""Read the files of a folder, a .zip or a .tar.gz alike, without unpacking, and within limits.

A few bytes of an archive may stand for terabytes: deflate makes 1,032 bytes of one, a sparse file any number. So a file
inside has at most MOST_BYTES, and all that is unpacked has at most MOST_BYTES and 100 times the archive's size. What
claims more is refused before it is read, what gives more while it is.
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

from bitreplay.data.regular import MAX_BYTES, content_of, is_regular

PIECE = 1 << 20
MAX_TIMES = 100
COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
# Zip's other compressions unpack a whole piece at once, whatever becomes of it.
ZIP_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Refused(ValueError):
    """What an archive holds that is not read, in words that can follow its name."""


def files(path: Path, *suffixes: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name with slashes, content) of each file whose name ends with one of `suffixes`.

    A folder and a .zip give the names in sorted order; a .tar.gz, read in one pass, in its own. A damaged archive is
    refused in one sentence, and so is what is no regular file where one is expected.
    """
    if path.is_dir():
        yield from _in_folder(path, suffixes)
        return
    if not is_regular(path):
        raise ValueError(f"{path} is not a folder, a .zip or a .tar.gz.")
    found = _in_archive(path, suffixes)
    while True:
        try:
            one = next(found)
        except StopIteration:
            return
        except Refused as error:
            raise ValueError(f"{path} {error}.") from None
        except Exception as error:  # readers of archives fail in many ways on damaged bytes
            why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
            raise ValueError(f"{path} is damaged: {why}.") from None
        yield one


def _in_folder(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    found = {p.relative_to(path).as_posix(): p for p in path.rglob("*") if p.name.endswith(suffixes) and not p.is_dir()}
    for name in sorted(found):
        try:
            content = content_of(found[name])
        except ValueError as error:
            raise ValueError(f"{found[name]} cannot be read: {error}.") from None
        yield name, content


def _in_archive(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    most = MAX_BYTES + MAX_TIMES * path.stat().st_size
    with open(path, "rb") as file:
        first = file.read(6)
        file.seek(0)
        compression = next((way for magic, way in COMPRESSIONS.items() if first.startswith(magic)), None)
        if compression is None and zipfile.is_zipfile(file):
            yield from _in_zip(file, suffixes, most)
            return
        file.seek(0)
        with compression(file) if compression else file as stream:
            yield from _in_tar(Counted(stream, most), suffixes)


def _in_zip(file: IO[bytes], suffixes: tuple[str, ...], most: int) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        chosen = {info.filename: info for info in archive.infolist() if info.filename.endswith(suffixes)}
        for name, info in chosen.items():
            _check_size(name, info.file_size)
        if sum(info.file_size for info in chosen.values()) > most:
            raise Refused(f"unpacks to more than {most} bytes, {MAX_TIMES} times its size and more")
        for name in sorted(chosen):
            info = chosen[name]
            if info.compress_type not in ZIP_COMPRESSIONS:
                raise Refused(f"has {name[:80]} in a compression that is not read; expected deflate or none")
            with archive.open(info) as stream:
                yield name, _all_of(stream, name, info.file_size)


def _in_tar(stream: "Counted", suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    try:
        archive = tarfile.open(fileobj=stream, mode="r:")
    except tarfile.ReadError:
        if stream.at > tarfile.BLOCKSIZE or stream.packed:
            raise
        raise Refused("is not a folder, a .zip or a .tar.gz") from None
    with archive:
        while member := archive.next():
            archive.members.clear()  # type: ignore[attr-defined]  # it would keep all that it has passed
            if not member.isfile() or not member.name.endswith(suffixes):
                continue
            if member.issparse():
                raise Refused(f"has {member.name[:80]} as a sparse file, which is not read")
            _check_size(member.name, member.size)
            content = archive.extractfile(member)
            assert content is not None
            yield member.name, _all_of(content, member.name, member.size)


def _check_size(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise Refused(f"has {name[:80]} of {size} bytes; at most {MAX_BYTES} are read")


def _all_of(stream: IO[bytes], name: str, size: int) -> bytes:
    """All bytes of a file inside, a piece at a time."""
    found = bytearray()
    while piece := stream.read(PIECE):
        found += piece
        _check_size(name, len(found))
    if len(found) != size:
        raise ValueError(f"{name[:80]} has {len(found)} of its {size} bytes")
    return bytes(found)


class Counted(io.RawIOBase):
    """A stream that gives at most `most` bytes in all and one piece at a time, as tarfile reads and skips."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self.stream, self.most, self.at = stream, most, 0
        self.packed = isinstance(stream, gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile)

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= 2 * PIECE:
            raise Refused(f"has a header of {size} bytes")
        content = self.stream.read(size)
        self._went(self.at + len(content))
        return content

    def seek(self, place: int, whence: int = 0) -> int:
        assert whence == 0
        self._went(place)
        return self.stream.seek(place)

    def tell(self) -> int:
        return self.at

    def _went(self, place: int) -> None:
        self.at = place
        if place > self.most:
            raise Refused(f"unpacks to more than {self.most} bytes, {MAX_TIMES} times its size and more")
