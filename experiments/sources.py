"""The data of a run as a stream of experiences, and the test set; latents cached in a folder.

CIFAR-10 and CIFAR-100 are looked for in BITREPLAY_DATA. `sessions` is `object-sessions` there: 80 objects (cut-outs
moved over photographs) in CORe50's tree, 8 sessions of 12 frames, three of them for the test. It stands in for
CORe50, whose images are not at hand, and is semi-synthetic: its figures say nothing about CORe50's. `core50` is CORe50
itself, for whoever has its images there: 8 GB of memory.

Held out, to choose rates by: CIFAR-10's pictures 500 to 699 of each class, CIFAR-100's from the 450th on, session 6 of
object sessions and 11 of CORe50.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bitreplay.data.archives import files
from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.learner import Learner
from bitreplay.learning.samples import Latents

if TYPE_CHECKING:
    from run import Run

SIZES = {"cifar10": (2,) * 5, "cifar100": (10,) * 10, "sessions": (16, *[8] * 8), "core50": (10, *[5] * 8)}
NI_EXPERIENCES = 10
TEST_SESSIONS, HELD_SESSIONS = (4, 7, 8), {"sessions": 6, "core50": 11}
HELD = {"cifar10": (500, 700), "cifar100": (450, 500)}


@dataclass(frozen=True)
class Pictures:
    train: np.ndarray
    labels: np.ndarray
    test: np.ndarray
    truth: np.ndarray
    sessions: np.ndarray


@lru_cache(maxsize=2)
def pictures(name: str) -> Pictures:
    if name == "sessions":
        return _sessions()
    if name == "core50":
        return _core50()
    data = {"cifar10": cifar10, "cifar100": cifar100}[name]()
    none = np.zeros(0, np.int64)
    return Pictures(data.train_images, data.train_labels, data.test_images, data.test_labels, none)


def _sessions() -> Pictures:
    from bitreplay.data.core50 import NAME, decode_frame  # reads pictures, which needs Pillow

    place = Path(os.environ.get("BITREPLAY_DATA", ".")) / "object-sessions"
    frames: dict[tuple[int, ...], np.ndarray] = {}
    for name, content in files(place, ".png"):
        if match := NAME.search(name):
            frames[tuple(int(part) for part in match.groups())] = decode_frame(content, 128, name)
    keys = np.array(sorted(frames), np.int64)  # by session, object, frame
    images, items, sessions = (
        np.stack([frames[key] for key in sorted(frames)]),
        keys[:, 1] - 1,
        keys[:, 0],
    )
    test = np.isin(sessions, TEST_SESSIONS)
    return Pictures(images[~test], items[~test], images[test], items[test], sessions[~test])


def _core50() -> Pictures:
    from bitreplay.data.core50 import core50

    data, sessions = core50()
    return Pictures(data.train_images, data.train_labels, data.test_images, data.test_labels, sessions)


@dataclass(frozen=True)
class Stream:
    """`samples` are pictures or codes of the training set, `groups` those of each experience."""

    samples: np.ndarray
    labels: np.ndarray
    groups: list[np.ndarray]
    test: np.ndarray
    truth: np.ndarray
    coded: bool

    def experiences(self) -> Iterator[tuple[Any, np.ndarray]]:
        for chosen in self.groups:
            samples = self.samples[chosen]
            yield (Latents(np.ascontiguousarray(samples)) if self.coded else samples), self.labels[chosen]


def stream(run: Run, learner: Learner, cache_folder: Path) -> Stream:
    data, rank = _first(run)
    usable, held = _chosen(run, data, rank)
    tested = np.flatnonzero(_rank(data.truth) < (run.tested or len(data.truth)))
    train = data.train if run.augment else _codes(run, learner, "train", data.train, cache_folder)
    if run.held:
        test = _codes(run, learner, "train", data.train, cache_folder)[held]
    else:
        test = _codes(run, learner, "test", data.test[tested], cache_folder)
    labels, truth = data.labels[usable], data.labels[held] if run.held else data.truth[tested]
    groups = _groups(run, labels, data.sessions[usable] if len(data.sessions) else data.sessions)
    return Stream(train[usable], labels, groups, np.ascontiguousarray(test), truth, not run.augment)


def _first(run: Run) -> tuple[Pictures, np.ndarray]:
    """No more pictures than the run needs, and the number of each among those of its class."""
    data = pictures(run.data)
    rank = _rank(data.labels)
    near = np.flatnonzero(rank < _limit(run))
    sessions = data.sessions[near] if len(data.sessions) else data.sessions
    return replace(data, train=data.train[near], labels=data.labels[near], sessions=sessions), rank[near]


def _rank(labels: np.ndarray) -> np.ndarray:
    """The number of each sample among those of its class."""
    rank = np.zeros(len(labels), np.int64)
    for c in np.unique(labels):
        rank[labels == c] = np.arange(np.count_nonzero(labels == c))
    return rank


def _limit(run: Run) -> int:
    """Pictures a class that are coded."""
    if run.images is None:
        return 1 << 30
    return max(run.images, HELD.get(run.data, (0, 0))[1]) if run.held else run.images


def _chosen(run: Run, data: Pictures, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the pictures to train with, and of those held out."""
    if run.data in HELD_SESSIONS:
        held = data.sessions == HELD_SESSIONS[run.data]
    else:
        first, end = HELD[run.data]
        held = (rank >= first) & (rank < end)
    usable = rank < (run.images or len(rank))
    return np.flatnonzero(usable & ~held if run.held else usable), np.flatnonzero(held)


def _groups(run: Run, labels: np.ndarray, sessions: np.ndarray) -> list[np.ndarray]:
    """The samples of each experience; all randomness is the run's seed."""
    classes, rng = int(labels.max()) + 1, np.random.default_rng(run.seed)
    if run.strategy == "joint":
        return [np.arange(len(labels))]
    if run.scenario == "ni" and len(sessions):
        return [np.flatnonzero(sessions == session) for session in np.unique(sessions)]
    if run.scenario == "ni":
        shares: list[list[np.ndarray]] = [[] for _ in range(NI_EXPERIENCES)]
        for c in range(classes):
            shuffled = rng.permutation(np.flatnonzero(labels == c))
            for share, part in zip(shares, np.array_split(shuffled, NI_EXPERIENCES), strict=True):
                share.append(part)
        return [np.sort(np.concatenate(share)) for share in shares]
    legacy = np.random.RandomState(run.order)  # noqa: NPY002 - the order that PyCIL draws
    order = rng.permutation(classes) if run.order is None else legacy.permutation(classes)
    parts = np.split(order, np.cumsum(SIZES[run.data])[:-1])
    return [np.flatnonzero(np.isin(labels, part)) for part in parts]


def _codes(run: Run, learner: Learner, part: str, images: np.ndarray, cache_folder: Path) -> np.ndarray:
    """Level codes of all these pictures, or numbers for sums: made by one process, read by all."""
    assert learner.model is not None
    width = "8" if run.bits == "float" else run.bits.split("/")[0]
    count = run.tested or "all" if part == "test" else "all" if run.images is None else _limit(run)
    kind = (
        "features"
        if learner.strategy.latents == "features"
        else f"{run.replay_layer or learner.model.replay_layers[-1]}-{run.latent_bits}"
    )
    name = f"{run.data}-{part}-{count}-{learner.model.digest[:12]}-{kind}-{width}"
    cache_folder.mkdir(parents=True, exist_ok=True)
    path, half = cache_folder / f"{name}.npy", cache_folder / f"{name}.half.npy"
    with (cache_folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            np.save(half, learner.encode(images))
            os.replace(half, path)
    return np.load(path, mmap_mode="r")
