"""Download an official archive, check it, and resume a download that was interrupted.

A server may answer anything: its headers are hints, and the body is cut off at the archive's size limit. A partial
download is beside the target as `.part`, which must be a regular file and not a link.
"""

import hashlib
import http.client
import os
import re
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bitreplay.data.regular import NON_BLOCKING, is_regular

PIECE = 1 << 20
SILENCE = 60.0  # seconds without a byte
TIME_LIMIT = 6 * 3600.0
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Archive:
    """Its address, its checksum, and a limit to its size that is larger than the archive."""

    url: str
    md5: str
    max_bytes: int = 1 << 28

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]


ARCHIVES = {
    "cifar10": Archive("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"),
    "cifar100": Archive("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"),
    "core50": Archive(
        "http://bias.csr.unibo.it/maltoni/download/core50/core50_128x128.zip", "745f3373fed08d69343f1058ee559e13",
        1 << 33,
    ),
    "tiny-imagenet": Archive("http://cs231n.stanford.edu/tiny-imagenet-200.zip", "90528d7ca1a48142e341f4ef8d21d0de"),
}  # fmt: skip


class TooLarge(ValueError):
    """The server sends more than the archive may have."""


def fetch(
    archive: Archive, folder: Path, progress: Progress = lambda done, total: None, time_limit: float = TIME_LIMIT
) -> Path:
    """Download an archive into a folder, unless it is there already.

    Parameters
    ----------
    archive : Archive
        One of `ARCHIVES`, or an address with a checksum of your own.
    folder : Path
        Made if it does not exist.
    progress : callable, optional
        Called with the bytes so far and in all (0: not known).
    time_limit : float, default 6 hours
        In seconds. A download that takes longer fails and can be resumed by calling `fetch` again.

    Returns
    -------
    Path
        The archive, its checksum verified.

    Raises
    ------
    OSError
        If the download fails. What has arrived is kept, and the next call resumes there.
    ValueError
        If the checksum differs, or something else is in the way.
    """
    end = time.monotonic() + time_limit
    target, part = folder / archive.name, folder / f"{archive.name}.part"
    if os.path.lexists(target):
        if not is_regular(target):
            raise ValueError(f"{target} is in the way: it is not a regular file.")
        return _checked(target, archive)
    folder.mkdir(parents=True, exist_ok=True)
    with _open_part(part) as file:
        try:
            _download(archive, file, progress, end)
        except TooLarge as error:
            os.unlink(part)
            raise OSError(f"{archive.url} could not be downloaded: {error}; nothing is kept.") from None
        except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
            why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
            raise OSError(f"{archive.url} could not be downloaded: {why}; the next try resumes there.") from None
    os.replace(_checked(part, archive), target)
    return target


def _open_part(part: Path) -> BinaryIO:
    """The partial download, opened at its end."""
    try:
        file = open(os.open(part, os.O_RDWR | os.O_CREAT | NO_LINK | NON_BLOCKING, 0o644), "r+b")
    except OSError:
        if not os.path.lexists(part):
            raise
        raise ValueError(f"{part} is in the way: it is a link, or cannot be written.") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError(f"{part} is in the way: it is not a regular file.")
    file.seek(0, os.SEEK_END)
    return file


def _download(archive: Archive, file: BinaryIO, progress: Progress, end: float) -> None:
    done = file.tell()
    request = urllib.request.Request(archive.url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        answer = urllib.request.urlopen(request, timeout=max(min(SILENCE, end - time.monotonic()), 1.0))
    except urllib.error.HTTPError as error:
        if error.code == 416 and done:  # the file is complete
            return
        raise
    with answer:
        if answer.status != 206:
            done = 0
        elif not _begins_at(answer.headers.get("Content-Range"), done):
            raise OSError(f"the server did not resume at byte {done}")
        file.seek(done)
        file.truncate()
        left = _length(answer.headers.get("Content-Length"))
        total = 0 if left is None else done + left
        while piece := answer.read1(PIECE):  # whatever has arrived, up to a piece
            done += len(piece)
            if max(done, total) > archive.max_bytes:
                raise TooLarge(f"the server sends more than {archive.max_bytes} bytes")
            file.write(piece)
            progress(done, total)
            if time.monotonic() > end and done != total:
                raise OSError(f"the time limit was reached after {done} bytes")
    file.flush()
    if done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def _length(text: str | None) -> int | None:
    """The length of the body, if the header is a plain number.

    >>> _length("30"), _length("-1"), _length("30, 30"), _length(None)
    (30, None, None, None)
    """
    return int(text) if text and re.fullmatch("[0-9]{1,18}", text) else None


def _begins_at(text: str | None, done: int) -> bool:
    """Whether the body starts at byte `done`. A missing header is accepted: the checksum decides."""
    return text is None or re.match(f"bytes {done}-", text) is not None


def _checked(path: Path, archive: Archive) -> Path:
    digest = md5_of(path)
    if digest != archive.md5:
        bad = path.rename(path.with_name(archive.name + ".bad"))
        raise ValueError(f"{archive.name} has md5 {digest}, the official file {archive.md5}; it was kept as {bad}.")
    return path


def md5_of(path: Path) -> str:
    digest = hashlib.md5()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
