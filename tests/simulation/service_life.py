"""A life of `bitreplay serve`: clients change one state, with whatever can go wrong, against a small model of it.

The model is a count of pictures for each class, learned and held back. A change that was answered is there, in memory,
in the file, in the album and after a kill; one that was refused is nowhere; one that was cut by a kill is everywhere or
nowhere.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay import Learner
from bitreplay.serve.learner_service import HELD_BACK, LearnerService
from bitreplay.serve.limits import Limits, RequestError
from bitreplay.serve.picture_store import Picture
from bitreplay.serve.view import View
from bitreplay.statefile import Lock
from tests import tiny
from tests.simulation.world import Disk, Killed, Trouble

Counts = dict[str, tuple[int, int]]  # learned and held back
NAMES = ("red", "green", "blue", "Äpfel", "7")
DISK_CALLS, STATEMENTS = 34, 30


class Statements:
    """A connection of which each statement may fail, or be the last thing that the process does."""

    def __init__(self, own: sqlite3.Connection, life: Life) -> None:
        self._connection, self._life = own, life

    def execute(self, *words: Any) -> Any:
        self._life.statement()
        return self._connection.execute(*words)

    def executemany(self, *words: Any) -> Any:
        self._life.statement()
        return self._connection.executemany(*words)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Life:
    def __init__(self, seed: int, folder: Path, model: Path) -> None:
        self.rng, self.model, self.home = np.random.default_rng(seed), model, folder / "home"
        shutil.rmtree(folder, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.state = self.home / "a.state"
        self.counts: Counts = {}
        self.past: list[Counts] = []
        self.told: list[str] = []
        self.disk = Disk(self.home, Trouble(), self.rng)
        self.bad_statements: frozenset[int] = frozenset()
        self.statements, self.last_statement = 0, -1
        self.open()

    def live(self, events: int) -> None:
        for _ in range(events):
            self.event()
        self.calm = True
        self.event()
        self.close()
        self.open()  # a restart finds all of it
        self.agree(self.counts)
        self.close()

    calm = False

    def open(self) -> None:
        self.lock = Lock(self.state)
        self.lock.__enter__()
        self.disk, self.bad_statements, self.last_statement = Disk(self.home, Trouble(), self.rng), frozenset(), -1
        there = self.state.exists()
        learner = Learner.load(self.state, self.model) if there else Learner.from_pretrained(self.model)
        self.service = LearnerService(learner, self.state, self.lock, Limits(classes=4))
        self.service.store._connection = Statements(self.service.store._connection, self)  # type: ignore[assignment]

    def close(self) -> None:
        self.service.close()
        self.lock.__exit__(None, None, None)

    def statement(self) -> None:
        if self.disk.dead:
            raise Killed
        number, self.statements = self.statements, self.statements + 1
        if number == self.last_statement:
            self.disk.dead = True
            raise Killed
        if number in self.bad_statements:
            raise sqlite3.OperationalError("disk I/O error")

    def event(self) -> None:
        what, act, wanted = self.drawn()
        trouble = Trouble() if self.calm else Trouble.drawn(self.rng, DISK_CALLS, 1)
        trouble.signals = frozenset()  # signals reach the main thread alone; changes have one of their own
        self.disk, self.statements = Disk(self.home, trouble, self.rng), 0
        some = 0 if self.calm else int(self.rng.integers(0, 3))
        self.bad_statements = frozenset(self.rng.integers(0, STATEMENTS, some).tolist()) if some else frozenset()
        self.last_statement = int(self.rng.integers(0, STATEMENTS)) if not self.calm and self.rng.random() < 0.1 else -1
        turn, before = self.service.view.turn, self.service.view.facts
        self.told.append(f"{what} {trouble} statements {sorted(self.bad_statements)}, last {self.last_statement}")
        try:
            with self.disk.working():
                act()
            self.told[-1] += ": done"
            assert wanted is not None, self.told
            self.done(what, wanted)
            assert self.service.view.turn == turn + 1, self.told
        except Killed:
            self.told[-1] += ": killed"
            self.killed(what, wanted)
        except (RequestError, ValueError, sqlite3.Error, OSError) as error:
            self.told[-1] += f": {type(error).__name__} {error}"
            if self.disk.dead:
                self.killed(what, wanted)
                return
            self.disk, self.bad_statements, self.last_statement = Disk(self.home, Trouble(), self.rng), frozenset(), -1
            status = error.status if isinstance(error, RequestError) else 0
            if status == 503:  # it could not be known; the next change knows
                self.service._recover()
                if self.service.view.turn == turn + 1:
                    assert wanted is not None, self.told
                    self.done(what, wanted)
                    return
            assert self.service.view.facts == before, self.told
        self.disk, self.bad_statements, self.last_statement = Disk(self.home, Trouble(), self.rng), frozenset(), -1
        self.agree(self.counts)

    def done(self, what: str, wanted: Counts) -> None:
        if what == "undo":
            self.past.pop()
        else:
            self.past = [*self.past, self.counts][-12:]
        self.counts = wanted

    def killed(self, what: str, wanted: Counts | None) -> None:
        """The process is gone: SQLite rolls back what it had not committed, and the system frees the lock."""
        self.disk.dead = False
        self.bad_statements, self.last_statement = frozenset(), -1
        self.service._changes.shutdown()
        self.service.store._connection.close()
        self.lock.__exit__(None, None, None)
        self.past = []
        self.open()
        found = self.seen()
        assert found == self.counts or found == wanted, (found, self.counts, wanted, self.told)
        self.counts = found
        self.agree(found)

    def seen(self) -> Counts:
        facts = self.service.view.facts
        held = [name for _, name, held in facts["pictures"] if held]
        learned = {one["name"]: one["pictures"] for one in facts["classes"]}
        names = {*learned, *(name for _, name, _ in facts["pictures"])}
        return {name: (learned.get(name, 0), held.count(name)) for name in names}

    def agree(self, counts: Counts) -> None:
        facts = self.service.view.facts
        assert self.seen() == counts, (self.seen(), counts, self.told)
        assert facts["hash"] == self.service.learner.state_hash(), self.told
        assert facts["hash"] == Learner.load(self.state, self.model).state_hash(), self.told
        if self.service.store.turn == facts["turn"] + 1 and not self.calm:
            return  # neither saved nor taken back: the next turn that is written takes its place
        pictures = [[one.id, one.name, int(one.held)] for one in self.service.store.pictures()]
        assert pictures == facts["pictures"] and self.service.store.turn == facts["turn"], self.told
        for name, (learned, _) in counts.items():
            in_album = sum(1 for _, other, held in facts["pictures"] if other == name and not held)
            assert in_album == learned, self.told

    def drawn(self) -> tuple[str, Callable[[], View], Counts | None]:
        """A client's change, and the counts that it ends in; None if it must be refused."""
        service, counts = self.service, self.counts
        known = [name for name, (learned, _) in counts.items() if learned]
        choice = str(self.rng.choice(["learn", "learn", "learn", "forget", "rename", "undo", "late undo", "nonsense"]))
        if choice in ("forget", "rename") and not known:
            choice = "learn"
        if choice == "undo" and not self.past:
            choice = "late undo"
        if choice == "learn" or self.calm:
            name, many = str(self.rng.choice(known if self.calm and known else NAMES)), int(self.rng.integers(1, 8))
            learned, held = counts.get(name, (0, 0))
            kept = sum((learned + held + k) % HELD_BACK == HELD_BACK - 1 for k in range(many))
            after = counts | {name: (learned + many - kept, held + kept)}
            too_many = len([one for one, (all_of, _) in after.items() if all_of]) > 4
            return (
                f"learn {many} {name}",
                lambda: service.learn(name, shown(self.rng, many)),
                None if too_many else after,
            )
        if choice == "forget":
            name = str(self.rng.choice(known))
            return (
                f"forget {name}",
                lambda: service.forget(name),
                {one: both for one, both in counts.items() if one != name},
            )
        if choice == "rename":
            old, new = str(self.rng.choice(known)), f"name {self.rng.integers(100)}"
            if new in counts:
                return f"rename {old} {new}", lambda: service.rename(old, new), None
            renamed = {new if one == old else one: both for one, both in counts.items()}
            return f"rename {old} {new}", lambda: service.rename(old, new), renamed
        if choice == "undo":
            return "undo", lambda: service.undo(service.view.turn), self.past[-1]
        if choice == "late undo":
            return "late undo", lambda: service.undo(service.view.turn - 1), None
        return "nonsense", lambda: service.open(self.rng.bytes(200)), None


def shown(rng: np.random.Generator, many: int) -> list[Picture]:
    pixels = rng.integers(0, 256, (many, tiny.SIDE, tiny.SIDE, 3), dtype=np.uint8)
    return [Picture(one, b"\xff\xd8\xff") for one in pixels]
