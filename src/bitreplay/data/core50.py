"""CORe50 (Lomonaco and Maltoni, 2017): 50 objects filmed in 11 sessions, about 300 frames each, 128x128.

The published tree or zip, names C_<session>_<object>_<frame>.png at any depth. Classes are the 50 objects. Sessions
3, 7 and 10 are always the test set. NC: scenario.new_classes(data, NC_SIZES, rng), 9 experiences. NI: 8 experiences,
one per training session, in the order of `SESSIONS`: scenario.grouped(data, sessions).

All 164,866 frames take 8 GB at 128x128 and 0.5 GB at 32x32, so `side` resizes while reading and `every` skips frames.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bitreplay.arguments import as_integer, short_repr
from bitreplay.data.archives import files
from bitreplay.data.dataset import Dataset
from bitreplay.data.location import how_to_get, locate
from bitreplay.data.pictures.fit import fit
from bitreplay.data.pictures.picture import Unreadable, decode, refuse
from bitreplay.data.pictures.resize import side_of

SOURCE = "https://vlomonaco.github.io/core50/index.html#dataset (core50_128x128.zip)"
OBJECTS = 50
SESSIONS = (1, 2, 4, 5, 6, 8, 9, 11)
TEST_SESSIONS = (3, 7, 10)
NC_SIZES = (10, *[5] * 8)
NAME = re.compile(r"C_([0-9]{1,6})_([0-9]{1,6})_([0-9]{1,6})\.png$")
CATEGORIES = ("plug adapter", "mobile phone", "scissors", "light bulb", "can", "glasses", "ball", "marker", "cup",
              "remote control")  # fmt: skip


def core50(
    path: str | Path | None = None, side: int = 128, every: int = 1, unreadable: Unreadable = refuse
) -> tuple[Dataset, np.ndarray]:
    """Load CORe50: 50 objects, filmed in 11 sessions.

    Parameters
    ----------
    path : str or Path, optional
        The tree or the zip as published. By default it is looked for in the folder BITREPLAY_DATA.
    side : int, default 128
        Frames are resized to `side` by `side` pixels while they are read.
    every : int, default 1
        Keep the frames whose number is a multiple of it.
    unreadable : callable, optional
        Called with the error for each frame that cannot be read. If it returns, the frame is left out. By default the
        error is raised.

    Returns
    -------
    data : Dataset
    sessions : ndarray of int64
        The session of each training image.

    Raises
    ------
    FileNotFoundError
        If it is not there; the message says where to get it.

    Examples
    --------
    >>> data, sessions = core50("/data", side=32, every=10)  # doctest: +SKIP
    >>> len(data.class_names)  # doctest: +SKIP
    50
    """
    side = side_of(side)
    if (as_integer(every) or 0) < 1:
        raise ValueError(f"every must be 1 or more, got {short_repr(every)}.")
    location = locate("CORe50", path, ("core50_128x128", "core50_128x128.zip", "core50"), SOURCE, "core50")
    parts: dict[bool, list[tuple[int, int, np.ndarray]]] = {True: [], False: []}
    for session, item, frame, content, name in frames(location):
        if frame % every == 0:
            try:
                parts[session in TEST_SESSIONS].append(
                    (session, item, decode_frame(content, side, f"{name} in {location}"))
                )
            except ValueError as error:
                unreadable(error)
    if not parts[False] or not parts[True]:
        get = how_to_get(SOURCE, "core50")
        raise FileNotFoundError(f"{location} lacks frames of CORe50's training or test sessions: {get}.")
    train, test = (
        (np.stack([image for *_, image in rows]), np.array([item for _, item, _ in rows], np.int64))
        for rows in (parts[False], parts[True])
    )
    names = tuple(f"{CATEGORIES[number // 5]} {number % 5 + 1}" for number in range(OBJECTS))
    return Dataset(*train, *test, names), np.array([session for session, *_ in parts[False]], np.int64)


def frames(location: Path) -> Iterator[tuple[int, int, int, bytes, str]]:
    """Session, object (from 0), frame, content and name of each picture, in the order of their names."""
    for name, content in files(location, ".png"):
        if match := NAME.search(name):
            session, item, frame = (int(part) for part in match.groups())
            if not 1 <= session <= 11 or not 1 <= item <= OBJECTS:
                raise ValueError(
                    f"{name} in {location} is of session {session}, object {item}; expected 1-11 and 1-50."
                )
            yield session, item - 1, frame, content, name


def decode_frame(content: bytes, side: int, title: str) -> np.ndarray:
    pixels = decode(content, title, side)
    return pixels if pixels.shape[:2] == (side, side) else fit(pixels, side)
