"""Download an official archive, check it, and go on where a broken download stopped.

A server may answer anything: its headers are hints, and the body ends at the most that the archive may have. What was
downloaded lies beside the target as `.part`, which must be a file and no link to one.
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

from bitreplay.data.regular import WAIT_FOR_NOBODY, is_regular

PIECE = 1 << 20
SILENCE = 60.0  # seconds without a byte
TIME_LIMIT = 6 * 3600.0
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Archive:
    """Where it is, its checksum, and more bytes than it has."""

    url: str
    md5: str
    most: int = 1 << 28

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


class Endless(ValueError):
    """More than the archive has."""


def fetch(
    archive: Archive, folder: Path, progress: Progress = lambda done, total: None, time_limit: float = TIME_LIMIT
) -> Path:
    """The archive in `folder`, downloaded unless it is there. `progress` gets bytes done and in all (0: not known).

    A download that takes longer than `time_limit` seconds is given up, though bytes may still come; what is there is
    kept to go on from.
    """
    end = time.monotonic() + time_limit
    target, part = folder / archive.name, folder / f"{archive.name}.part"
    if os.path.lexists(target):
        if not is_regular(target):
            raise ValueError(f"{target} is in the way: it is no file.")
        return _checked(target, archive)
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(part) as file:
        try:
            _download(archive, file, progress, end)
        except Endless as error:
            os.unlink(part)
            raise OSError(f"{archive.url} could not be downloaded: {error}; nothing is kept.") from None
        except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
            why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
            kept = "what is there is kept to go on from"
            raise OSError(f"{archive.url} could not be downloaded: {why}; {kept}.") from None
    os.replace(_checked(part, archive), target)
    return target


def _opened(part: Path) -> BinaryIO:
    """The file to go on with, at its end."""
    try:
        file = open(os.open(part, os.O_RDWR | os.O_CREAT | NO_LINK | WAIT_FOR_NOBODY, 0o644), "r+b")
    except OSError:
        if not os.path.lexists(part):
            raise
        raise ValueError(f"{part} is in the way: it is a link, or no file that can be written.") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError(f"{part} is in the way: it is no file.")
    file.seek(0, os.SEEK_END)
    return file


def _download(archive: Archive, file: BinaryIO, progress: Progress, end: float) -> None:
    done = file.tell()
    request = urllib.request.Request(archive.url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        answer = urllib.request.urlopen(request, timeout=max(min(SILENCE, end - time.monotonic()), 1.0))
    except urllib.error.HTTPError as error:
        if error.code == 416 and done:  # nothing is left to send
            return
        raise
    with answer:
        if answer.status != 206:
            done = 0
        elif not _begins_at(answer.headers.get("Content-Range"), done):
            raise OSError(f"the server sent another part than the one from byte {done}")
        file.seek(done)
        file.truncate()
        left = _length(answer.headers.get("Content-Length"))
        total = 0 if left is None else done + left
        while piece := answer.read1(PIECE):  # what has come, not a whole piece
            done += len(piece)
            if max(done, total) > archive.most:
                raise Endless(f"the server sends more than {archive.most} bytes")
            file.write(piece)
            progress(done, total)
            if time.monotonic() > end and done != total:
                raise OSError(f"its time was over after {done} bytes")
    file.flush()
    if done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def _length(text: str | None) -> int | None:
    """How much follows, if a header says so in digits.

    >>> _length("30"), _length("-1"), _length("30, 30"), _length(None)
    (30, None, None, None)
    """
    return int(text) if text and re.fullmatch("[0-9]{1,18}", text) else None


def _begins_at(text: str | None, done: int) -> bool:
    """Whether a part begins where it should; a server that does not say is believed, as the checksum decides."""
    return text is None or re.match(f"bytes {done}-", text) is not None


def _checked(path: Path, archive: Archive) -> Path:
    found = md5_of(path)
    if found != archive.md5:
        bad = path.rename(path.with_name(archive.name + ".bad"))
        raise ValueError(f"{archive.name} has md5 {found}, the official file {archive.md5}; it was kept as {bad}.")
    return path


def md5_of(path: Path) -> str:
    digest = hashlib.md5()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
