"""Read the files of a folder, a .zip or a .tar.gz alike, without unpacking."""

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path


def files(path: Path, *suffixes: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name with slashes, content) of each file whose name ends with one of `suffixes`.

    A folder and a .zip give the names in sorted order; a .tar.gz, read in one pass, in its own. A damaged archive is
    refused in one sentence.
    """
    try:
        yield from _files(path, suffixes)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile,
            RuntimeError) as error:  # fmt: skip
        raise ValueError(f"{path} is damaged: {' '.join(str(error).split())[:200]}.") from None


def _files(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        found = {p.relative_to(path).as_posix(): p for p in path.rglob("*") if p.name.endswith(suffixes)}
        for name in sorted(found):
            yield name, found[name].read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(suffixes):
                    yield name, archive.read(name)
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(suffixes):
                    content = archive.extractfile(member)
                    assert content is not None
                    yield member.name, content.read()
    else:
        raise ValueError(f"{path} is not a folder, a .zip or a .tar.gz.")
