"""Download an official archive, check it, and go on where a broken download stopped."""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PIECE = 1 << 20


@dataclass(frozen=True)
class Archive:
    url: str
    md5: str

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]


ARCHIVES = {
    "cifar10": Archive("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"),
    "cifar100": Archive("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"),
    "core50": Archive(
        "http://bias.csr.unibo.it/maltoni/download/core50/core50_128x128.zip", "745f3373fed08d69343f1058ee559e13"
    ),
    "tiny-imagenet": Archive("http://cs231n.stanford.edu/tiny-imagenet-200.zip", "90528d7ca1a48142e341f4ef8d21d0de"),
}


def fetch(archive: Archive, folder: Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """The archive in `folder`, downloaded unless it is there. `progress` gets bytes done and in all (0: not known)."""
    target, part = folder / archive.name, folder / f"{archive.name}.part"
    if target.exists():
        return _checked(target, archive)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _download(archive.url, part, progress or (lambda done, total: None))
    except (urllib.error.URLError, OSError) as error:
        raise OSError(f"{archive.url} could not be downloaded: {error}; what is there is kept to go on from.") from None
    os.replace(_checked(part, archive), target)
    return target


def _download(url: str, part: Path, progress: Callable[[int, int], None]) -> None:
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left to send
            return
        raise
    with answer, open(part, "ab" if answer.status == 206 else "wb") as file:
        done = file.tell()
        total = done + int(answer.headers.get("Content-Length", -done))
        while piece := answer.read(PIECE):
            file.write(piece)
            done += len(piece)
            progress(done, total)
    if done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


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
