"""Pictures that the learner was shown and the steps that were taken, in one SQLite file beside the state.

A change belongs to a numbered turn. A row is valid from the turn `since` on until the turn `until`, and each turn has
the hash of the state after it. A turn is written here first, then the state is saved. If the process is killed in
between, the next one finds the state of the turn before and reverts the last turn.

A state that belongs to neither turn was changed by another program (`bitreplay learn`). It is not known then which
pictures it has learned, so only those that were held back, which no state has learned, are kept.
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
class Picture:
    """A picture at the network's size, and a JPEG to show."""

    pixels: NDArray[np.uint8]
    thumbnail: bytes


@dataclass(frozen=True)
class StoredPicture:
    """A picture in the store; one that is held back was never learned."""

    id: int
    name: str
    held: bool


Step = Mapping[str, Any]


class PictureStore:
    """`hash` is the hash of the state that the file belongs to."""

    def __init__(self, path: Path, side: int, hash: str) -> None:
        self.path, self.side = path, side
        self._lock, self._last_id = Lock(), 0
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open(hash)
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{path} cannot be used: {error}. Move it away to start without pictures; the state is not affected."
            ) from None

    def _open(self, hash: str) -> None:
        for setting in ("secure_delete = ON", "synchronous = EXTRA"):
            self._connection.execute(f"PRAGMA {setting}")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"its version is {version}, expected {VERSION}")
        with self._writing():
            if version == 0:
                for statement in TABLES.strip().split(";\n"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {VERSION}")
                self._connection.execute("INSERT INTO turns VALUES (0, ?)", (hash,))
            self._reconcile(hash)
        self.sweep()

    def _reconcile(self, hash: str) -> None:
        """The state is that of the last turn, of the one before it, or of neither."""
        turns = self._connection.execute("SELECT number, hash FROM turns ORDER BY number DESC LIMIT 2").fetchall()
        if turns[0][1] == hash:
            return
        if len(turns) > 1 and turns[1][1] == hash:
            self._revert(turns[0][0])
            return
        turn = turns[0][0] + 1
        self._connection.execute("INSERT INTO turns VALUES (?, ?)", (turn, hash))
        self._connection.execute("UPDATE labels SET until = ? WHERE until IS NULL AND NOT held", (turn,))
        size = self.side * self.side * 3
        for id, pixels in self._connection.execute("SELECT id, pixels FROM pictures").fetchall():
            if len(zlib.decompress(pixels)) != size:  # from another network
                self._connection.execute("UPDATE labels SET until = ? WHERE until IS NULL AND picture = ?", (turn, id))

    def _revert(self, turn: int) -> None:
        for table in ("labels", "steps"):
            self._connection.execute(f"DELETE FROM {table} WHERE since = ?", (turn,))
            self._connection.execute(f"UPDATE {table} SET until = NULL WHERE until = ?", (turn,))
        self._connection.execute("DELETE FROM turns WHERE number = ?", (turn,))

    @property
    def turn(self) -> int:
        with self._lock:
            (number,) = self._connection.execute("SELECT MAX(number) FROM turns").fetchone()
        return int(number)

    def pictures(self) -> tuple[StoredPicture, ...]:
        """In the order in which they were added."""
        with self._lock:
            return self._pictures()

    def _pictures(self) -> tuple[StoredPicture, ...]:
        rows = self._connection.execute("SELECT picture, name, held FROM labels WHERE until IS NULL ORDER BY picture")
        return tuple(StoredPicture(id, name, bool(held)) for id, name, held in rows)

    def steps(self) -> tuple[Step, ...]:
        with self._lock:
            return self._steps()

    def _steps(self) -> tuple[Step, ...]:
        rows = self._connection.execute("SELECT step FROM steps WHERE until IS NULL ORDER BY number")
        return tuple(json.loads(step) for (step,) in rows)

    def pixels(self, ids: Sequence[int]) -> NDArray[np.uint8]:
        """(n, side, side, 3)"""
        with self._lock:
            select = "SELECT pixels FROM pictures WHERE id = ?"
            blobs = [self._connection.execute(select, (id,)).fetchone()[0] for id in ids]
        shape = (self.side, self.side, 3)
        return np.stack([np.frombuffer(zlib.decompress(blob), np.uint8).reshape(shape) for blob in blobs])

    def thumbnail(self, id: int) -> bytes | None:
        with self._lock:
            row = self._connection.execute("SELECT thumbnail FROM pictures WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def new_ids(self, count: int) -> range:
        """Ids that no picture has had."""
        with self._lock:
            row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'pictures'").fetchone()
        self._last_id = max(self._last_id, row[0] if row else 0) + count
        return range(self._last_id - count + 1, self._last_id + 1)

    def write(
        self, turn: int, hash: str, pictures: Sequence[StoredPicture], steps: Sequence[Step],
        new_pictures: Mapping[int, Picture],
    ) -> None:  # fmt: skip
        """Writes the turn in one transaction, replacing one of that number that could not be reverted. `new_pictures`
        has the new ones among the pictures, by id."""
        rows = [(id, zlib.compress(one.pixels.tobytes(), 1), one.thumbnail) for id, one in new_pictures.items()]
        with self._writing():
            self._revert(turn)
            before, after = {*self._pictures()}, {*pictures}
            old_steps, new_steps = self._steps(), tuple(steps)
            same = sum(1 for _ in _equal_start(old_steps, new_steps))
            end = "UPDATE labels SET until = ? WHERE until IS NULL AND picture = ?"
            for removed in before - after:
                self._connection.execute(end, (turn, removed.id))
            self._connection.executemany("INSERT OR IGNORE INTO pictures VALUES (?, ?, ?)", rows)
            added = [(one.id, one.name, one.held, turn) for one in pictures if one not in before]
            self._connection.executemany("INSERT INTO labels VALUES (?, ?, ?, ?, NULL)", added)
            self._connection.execute(
                "UPDATE steps SET until = ? WHERE number IN "
                "(SELECT number FROM steps WHERE until IS NULL ORDER BY number LIMIT -1 OFFSET ?)",
                (turn, same),
            )
            for step in new_steps[same:]:
                self._connection.execute("INSERT INTO steps (step, since) VALUES (?, ?)", (json.dumps(step), turn))
            self._connection.execute("INSERT INTO turns VALUES (?, ?)", (turn, hash))

    def revert(self, turn: int) -> None:
        """Reverts the turn if it was written; its state could not be saved."""
        with self._writing():
            self._revert(turn)

    def sweep(self, forgetting: bool = False) -> None:
        """Removes rows that neither of the last two turns uses; with `forgetting`, those that the last turn does not
        use. Deleted rows are overwritten in the file."""
        with self._writing():
            for table in ("labels", "steps"):
                last = "" if forgetting else "AND until < (SELECT MAX(number) FROM turns)"
                self._connection.execute(f"DELETE FROM {table} WHERE until IS NOT NULL {last}")
            self._connection.execute("DELETE FROM pictures WHERE id NOT IN (SELECT picture FROM labels)")
            self._connection.execute("DELETE FROM turns WHERE number < (SELECT MAX(number) - 1 FROM turns)")

    def close(self) -> None:
        with self._lock, closing(self._connection):
            pass

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction. Whatever fails, even its begin or commit, it does not stay open and the lock is released."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")


def _equal_start(one: Sequence[Step], other: Sequence[Step]) -> Iterable[None]:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield None
