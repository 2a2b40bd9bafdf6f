"""Pictures that were shown to the learner and the steps that were taken, in one SQLite file beside the state.

A change belongs to a numbered turn. Rows say from which turn on they hold (`since`) and from which on no more
(`until`), and each turn has the hash of the state that it ends in. A turn is written here first, then the state is
saved. So when a process is killed in between, the next one finds the state of the turn before, and takes the last turn
back.

A state that neither turn ends in was changed by somebody else (`bitreplay learn`): which pictures it has learned is not
known then, and only those that were held back, which no state has learned, stay.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1
TABLES = """
CREATE TABLE pictures (id INTEGER PRIMARY KEY AUTOINCREMENT, pixels BLOB NOT NULL, thumbnail BLOB NOT NULL);
CREATE TABLE labels (picture INTEGER NOT NULL, name TEXT NOT NULL, held INTEGER NOT NULL, since INTEGER NOT NULL,
                     until INTEGER);
CREATE TABLE steps (number INTEGER PRIMARY KEY AUTOINCREMENT, step TEXT NOT NULL, since INTEGER NOT NULL,
                    until INTEGER);
CREATE TABLE turns (number INTEGER PRIMARY KEY, hash TEXT NOT NULL);
CREATE INDEX labels_of_a_picture ON labels (picture);
"""


@dataclass(frozen=True)
class Shown:
    """A picture: the square that the network sees, and a JPEG to look at."""

    pixels: NDArray[np.uint8]
    thumbnail: bytes


@dataclass(frozen=True)
class Kept:
    """A picture that is in the album; one that is held back was never learned."""

    id: int
    name: str
    held: bool


Step = Mapping[str, Any]


class Album:
    """`hash` is that of the state beside which it lies."""

    def __init__(self, path: Path, side: int, hash: str) -> None:
        self.path, self.side = path, side
        self._lock, self._used = Lock(), 0
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        try:
            self._own = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open(hash)
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{path} cannot be used: {error}. Move it away to begin without pictures; the state stays."
            ) from None

    def _open(self, hash: str) -> None:
        for setting in ("secure_delete = ON", "synchronous = EXTRA"):
            self._own.execute(f"PRAGMA {setting}")
        (version,) = self._own.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"its version is {version}, expected {VERSION}")
        with self._writing():
            if version == 0:
                for statement in TABLES.strip().split(";\n"):
                    self._own.execute(statement)
                self._own.execute(f"PRAGMA user_version = {VERSION}")
                self._own.execute("INSERT INTO turns VALUES (0, ?)", (hash,))
            self._agree(hash)
        self.sweep()

    def _agree(self, hash: str) -> None:
        """With the state: the last turn, or the one before it, or neither."""
        ends = self._own.execute("SELECT number, hash FROM turns ORDER BY number DESC LIMIT 2").fetchall()
        if ends[0][1] == hash:
            return
        if len(ends) > 1 and ends[1][1] == hash:
            self._take_back(ends[0][0])
            return
        turn = ends[0][0] + 1
        self._own.execute("INSERT INTO turns VALUES (?, ?)", (turn, hash))
        self._own.execute("UPDATE labels SET until = ? WHERE until IS NULL AND NOT held", (turn,))
        size = self.side * self.side * 3
        for id, pixels in self._own.execute("SELECT id, pixels FROM pictures").fetchall():
            if len(zlib.decompress(pixels)) != size:  # of another network
                self._own.execute("UPDATE labels SET until = ? WHERE until IS NULL AND picture = ?", (turn, id))

    def _take_back(self, turn: int) -> None:
        for table in ("labels", "steps"):
            self._own.execute(f"DELETE FROM {table} WHERE since = ?", (turn,))
            self._own.execute(f"UPDATE {table} SET until = NULL WHERE until = ?", (turn,))
        self._own.execute("DELETE FROM turns WHERE number = ?", (turn,))

    @property
    def turn(self) -> int:
        with self._lock:
            (number,) = self._own.execute("SELECT MAX(number) FROM turns").fetchone()
        return int(number)

    def pictures(self) -> tuple[Kept, ...]:
        """In the order in which they were shown."""
        with self._lock:
            return self._pictures()

    def _pictures(self) -> tuple[Kept, ...]:
        rows = self._own.execute("SELECT picture, name, held FROM labels WHERE until IS NULL ORDER BY picture")
        return tuple(Kept(id, name, bool(held)) for id, name, held in rows)

    def steps(self) -> tuple[Step, ...]:
        with self._lock:
            return self._steps()

    def _steps(self) -> tuple[Step, ...]:
        rows = self._own.execute("SELECT step FROM steps WHERE until IS NULL ORDER BY number")
        return tuple(json.loads(step) for (step,) in rows)

    def pixels(self, ids: Sequence[int]) -> NDArray[np.uint8]:
        """(n, side, side, 3)"""
        with self._lock:
            found = [self._own.execute("SELECT pixels FROM pictures WHERE id = ?", (id,)).fetchone()[0] for id in ids]
        shape = (self.side, self.side, 3)
        return np.stack([np.frombuffer(zlib.decompress(one), np.uint8).reshape(shape) for one in found])

    def thumbnail(self, id: int) -> bytes | None:
        with self._lock:
            found = self._own.execute("SELECT thumbnail FROM pictures WHERE id = ?", (id,)).fetchone()
        return None if found is None else bytes(found[0])

    def new_ids(self, count: int) -> range:
        """Numbers that no picture has had."""
        with self._lock:
            found = self._own.execute("SELECT seq FROM sqlite_sequence WHERE name = 'pictures'").fetchone()
        self._used = max(self._used, found[0] if found else 0) + count
        return range(self._used - count + 1, self._used + 1)

    def write(
        self, turn: int, hash: str, pictures: Sequence[Kept], steps: Sequence[Step], shown: Mapping[int, Shown]
    ) -> None:
        """The turn, whole or not at all, in the place of one of that number that could not be taken back. `shown` are
        those of the pictures that are new, by their numbers."""
        rows = [(id, zlib.compress(one.pixels.tobytes(), 1), one.thumbnail) for id, one in shown.items()]
        with self._writing():
            self._take_back(turn)
            before, after = {*self._pictures()}, {*pictures}
            kept, wanted = self._steps(), tuple(steps)
            same = sum(1 for _ in _equal_start(kept, wanted))
            for gone in before - after:
                self._own.execute("UPDATE labels SET until = ? WHERE until IS NULL AND picture = ?", (turn, gone.id))
            self._own.executemany("INSERT OR IGNORE INTO pictures VALUES (?, ?, ?)", rows)
            fresh = [(one.id, one.name, one.held, turn) for one in pictures if one not in before]
            self._own.executemany("INSERT INTO labels VALUES (?, ?, ?, ?, NULL)", fresh)
            self._own.execute(
                "UPDATE steps SET until = ? WHERE number IN "
                "(SELECT number FROM steps WHERE until IS NULL ORDER BY number LIMIT -1 OFFSET ?)",
                (turn, same),
            )
            for step in wanted[same:]:
                self._own.execute("INSERT INTO steps (step, since) VALUES (?, ?)", (json.dumps(step), turn))
            self._own.execute("INSERT INTO turns VALUES (?, ?)", (turn, hash))

    def take_back(self, turn: int) -> None:
        """The turn, if it was written; its state could not be saved."""
        with self._writing():
            self._take_back(turn)

    def sweep(self, forgetting: bool = False) -> None:
        """Remove what neither the last turn nor the one before it shows; when something is forgotten, also the latter.
        Deleted rows are overwritten in the file."""
        with self._writing():
            for table in ("labels", "steps"):
                last = "" if forgetting else "AND until < (SELECT MAX(number) FROM turns)"
                self._own.execute(f"DELETE FROM {table} WHERE until IS NOT NULL {last}")
            self._own.execute("DELETE FROM pictures WHERE id NOT IN (SELECT picture FROM labels)")
            self._own.execute("DELETE FROM turns WHERE number < (SELECT MAX(number) - 1 FROM turns)")

    def close(self) -> None:
        with self._lock, closing(self._own):
            pass

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction. Whatever fails, its beginning and its end too, no transaction stays open and no lock held."""
        with self._lock:
            try:
                self._own.execute("BEGIN IMMEDIATE")
                yield
                self._own.execute("COMMIT")
            finally:
                if self._own.in_transaction:
                    self._own.execute("ROLLBACK")


def _equal_start(one: Sequence[Step], other: Sequence[Step]) -> Iterable[None]:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield None
