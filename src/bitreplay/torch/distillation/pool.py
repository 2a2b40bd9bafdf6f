"""Photographs without labels, on the training device as uint8.

A pool is a folder: packed parts (`part_NNN.bin`, pictures end to end in any format that bitreplay reads, and
`part_NNN.npy`, their offsets, int64, one more than pictures), or any tree of picture files. Processes decode part by
part beside the training, which begins with the first part; parts that appear in the folder later join in.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from bitreplay.data.pictures.fit import fit
from bitreplay.data.pictures.picture import decode
from bitreplay.data.pictures.resize import center_square

SUFFIXES = frozenset((".jpg", ".jpeg", ".png", ".webp"))
PICTURES_PER_PART = 4096
PARTS_AHEAD = 8  # decoded or under way, and not on the device yet: each takes disk


class Part:
    """A packed file, or some picture files; `name` is unique."""

    def __init__(self, name: str, packed: Path | None, files: tuple[Path, ...] = ()) -> None:
        self.name, self.packed, self.files = name, packed, files

    def encoded(self) -> Iterator[bytes]:
        if self.packed is None:
            yield from (file.read_bytes() for file in self.files)
            return
        body = self.packed.read_bytes()
        offsets = np.load(self.packed.with_suffix(".npy"), allow_pickle=False)
        yield from (body[start:stop] for start, stop in zip(offsets[:-1], offsets[1:], strict=True))


def parts_of(folder: Path) -> list[Part]:
    """The parts of a pool, in the order of their names."""
    packed = [file for file in sorted(folder.glob("part_*.bin")) if file.with_suffix(".npy").exists()]
    if packed:
        return [Part(file.name, file) for file in packed]
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)
    chunks = [tuple(files[k : k + PICTURES_PER_PART]) for k in range(0, len(files), PICTURES_PER_PART)]
    return [Part(str(chunk[0]), None, chunk) for chunk in chunks]


def square(encoded: bytes, side: int) -> NDArray[np.uint8] | None:
    """(side, side, 3): the middle square of a picture; None where it cannot be read."""
    try:
        picture = center_square(decode(encoded, "a picture", side))
    except ValueError:  # a damaged picture among thousands
        return None
    return picture if len(picture) == side else fit(picture, side)


def decode_part(part: Part, side: int, out: Path) -> tuple[Path, str]:
    """Write the pictures of a part as one array (N, 3, side, side); returns its path, and the sha256 of the part."""
    digest, pictures = hashlib.sha256(), list[NDArray[np.uint8]]()
    for encoded in part.encoded():
        digest.update(encoded)
        picture = square(encoded, side)
        if picture is not None:
            pictures.append(picture.transpose(2, 0, 1))
    np.save(out, np.ascontiguousarray(np.stack(pictures)) if pictures else np.zeros((0, 3, side, side), np.uint8))
    return out, digest.hexdigest()


class PicturePool:
    """`held` pictures of the first part are held out of training. Call `refresh` now and then."""

    def __init__(self, source: Path, side: int, device: torch.device, held: int = 2048, workers: int = 8) -> None:
        if not source.is_dir():
            raise ValueError(f"{source} is not a folder; expected a pool of pictures.")
        self.source, self.side, self.device, self.n_held = source, side, device, held
        self.images = torch.zeros(0, 3, side, side, dtype=torch.uint8, device=device)
        self.held = self.images
        self.digests: dict[str, str] = {}
        self.pending: dict[str, Future[tuple[Path, str]]] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="bitreplay-pool-")
        self.workers = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
        self.start()
        if not self.pending:
            raise ValueError(f"{source} has no pictures: no part_NNN.bin with part_NNN.npy and no picture file.")

    def start(self) -> None:
        """Start decoding parts that are new, some at a time."""
        for part in parts_of(self.source):
            if len(self.pending) >= PARTS_AHEAD:
                break
            if part.name not in self.digests and part.name not in self.pending:
                out = Path(self.folder.name) / f"{len(self.digests) + len(self.pending)}.npy"
                self.pending[part.name] = self.workers.submit(decode_part, part, self.side, out)

    def refresh(self, wait: bool = False) -> int:
        """Add the parts that are decoded, with `wait` all that there are; returns the number of pictures."""
        self.start()
        while wait and any(part.name not in self.digests for part in parts_of(self.source)):
            self.add(list(self.pending))
            self.start()
        self.add([name for name, future in self.pending.items() if future.done()])
        self.start()
        return len(self.images)

    def add(self, arrived: list[str]) -> None:
        """Put parts on the device, once they are decoded."""
        more = []
        for name in arrived:
            path, self.digests[name] = self.pending.pop(name).result()
            more.append(torch.from_numpy(np.load(path, allow_pickle=False)).to(self.device))
            path.unlink()
        if more:
            if not len(self.held):
                few = min(self.n_held, len(more[0]) // 4)
                self.held, more[0] = more[0][:few].clone(), more[0][few:]
            if self.device.type == "cuda":
                torch.cuda.synchronize()  # another stream may still read what is freed here
            self.images = torch.cat([self.images, *more])

    def sample(self, count: int, generator: Generator, first: int | None = None) -> Tensor:
        """`count` pictures at random, of the `first` that came or of all."""
        among = len(self.images) if first is None else first
        return self.images[torch.randint(among, (count,), generator=generator, device=self.device)]

    def digest(self) -> str:
        """A sha256 of all pictures, independent of the order in which parts came."""
        return hashlib.sha256("\n".join(sorted(self.digests.values())).encode()).hexdigest()

    def close(self) -> None:
        self.workers.shutdown(cancel_futures=True)
        self.folder.cleanup()
