"""A life of the command line: commands one after the other, with whatever can go wrong, against a model of the files.

The model is what the state and the generation before it must be, by hash. A command that ends with 0 has done what it
says; with another code nothing has changed; one that was killed has done all of it or nothing.
"""

from __future__ import annotations

import io
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from bitreplay import Learner, statefile
from bitreplay.cli import main
from bitreplay.parts.state import State
from tests import tiny
from tests.simulation.world import Disk, Killed, Trouble

COLOURS = tuple(tiny.COLOURS)
DISK_CALLS, FUNCTIONS = 30, 900


@dataclass
class Event:
    command: str
    words: tuple[str, ...]


class Life:
    """`now` and `before` are the bytes of the two generations, None where there is none."""

    def __init__(self, seed: int, folder: Path, model: Path) -> None:
        self.rng, self.model = np.random.default_rng(seed), model
        self.home, self.pictures = folder / "home", folder / "pictures"
        shutil.rmtree(folder, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.state = self.home / "a.state"
        self.now: bytes | None = None
        self.before: bytes | None = None
        self.told: list[str] = []

    def live(self, events: int) -> None:
        for _ in range(events):
            self.event()
        self.event(Trouble())  # in the end everything works again

    def event(self, trouble: Trouble | None = None) -> None:
        event = self.drawn()
        trouble = Trouble.drawn(self.rng, DISK_CALLS, FUNCTIONS) if trouble is None else trouble
        wanted = self.wanted(event)
        disk = Disk(self.home, trouble, self.rng)
        code, said = self.run(event, disk)
        self.told.append(f"{event} {trouble} ended with {code}: {said.strip()[-200:]}")
        self.check(event, wanted, code, disk)

    def drawn(self) -> Event:
        known = [] if self.now is None else [str(name) for name in _state(self.now).names]
        choice = str(self.rng.choice(["learn", "learn", "forget", "unlearn", "rename", "rollback", "predict"]))
        if choice in ("forget", "rename", "unlearn", "predict") and not known:
            choice = "learn"
        if choice == "rollback" and self.before is None:
            choice = "learn"
        if choice in ("learn", "unlearn", "predict"):
            final = ("--final",) if choice == "unlearn" and self.rng.random() < 0.5 else ()
            return Event(choice, (str(self.folder_of(choice, known)), *final))
        if choice == "forget":
            return Event(choice, (str(self.rng.choice(known)),))
        if choice == "rename":
            return Event(choice, (str(self.rng.choice(known)), f"name {self.rng.integers(1000)}"))
        return Event(choice, ())

    def folder_of(self, choice: str, known: list[str]) -> Path:
        """Pictures of one or two classes; to unlearn, those of a class that may have been learned."""
        shutil.rmtree(self.pictures, ignore_errors=True)
        names = [str(self.rng.choice(known if choice != "learn" else (*known, *COLOURS)))]
        for name in names:
            place = self.pictures / name
            place.mkdir(parents=True)
            for number in range(int(self.rng.integers(1, 3))):
                colour = COLOURS[sum(map(ord, name)) % len(COLOURS)]
                seed = int(self.rng.integers(0, 3))
                Image.fromarray(tiny.pictures(colour, each=1, seed=seed)[0][0]).save(place / f"{number}.png")
        if choice == "predict":
            return next(self.pictures.glob("*/*.png"))
        return self.pictures

    def wanted(self, event: Event) -> bytes | None:
        """What the state is when the command is done; None if it cannot be done."""
        from bitreplay.data.labelled import labelled

        if event.command == "rollback":
            return self.before
        learner, nothing = _twin(self.model)
        learner.restore(nothing if self.now is None else _state(self.now))
        try:
            if event.command in ("learn", "unlearn"):
                getattr(learner, event.command)(*labelled(event.words[0]))
            elif event.command in ("forget", "rename"):
                getattr(learner, event.command)(*event.words)
        except ValueError:
            return None
        return learner.to_bytes()

    def run(self, event: Event, disk: Disk) -> tuple[int | None, str]:
        """The exit code, None after a kill, and what was said."""
        if event.command == "predict":
            words = ["predict", str(self.state), *event.words]
        else:
            words = [event.command, str(self.state), *event.words]
        more = ["--model", str(self.model), "--json"]
        out, error = io.StringIO(), io.StringIO()
        before, sys.argv = sys.argv, ["bitreplay", *words, *more]
        try:
            with redirect_stdout(out), redirect_stderr(error), disk.working():
                main()
        except SystemExit as end:
            return (None if disk.dead else int(end.code or 0)), error.getvalue()
        except Killed:
            return None, "killed"
        except KeyboardInterrupt:
            return 130, "interrupted: " + error.getvalue()
        finally:
            sys.argv = before
        return 0, error.getvalue()

    def check(self, event: Event, wanted: bytes | None, code: int | None, disk: Disk) -> None:
        old, new = _hash(self.now, self.model), _hash(wanted, self.model)
        now = self.state.read_bytes() if self.state.exists() else None
        previous = self.state.with_name("a.state.before")
        before = previous.read_bytes() if previous.exists() else None
        found, story = _hash(now, self.model), "\n".join(self.told)
        reads = event.command == "predict"
        if code is None:
            assert found in (old, new) or (found == "none" and old == "none"), story
        elif code == 0:
            assert wanted is not None and found == (old if reads else new), story
        else:
            assert found == old, story
        if before is not None:
            assert _hash(before, self.model) != "none", story
        done = found == new and code in (0, None) and not reads
        forgets = event.command == "forget" or "--final" in event.words
        if code == 0 and forgets:
            assert _hash(before, self.model) == new, story  # what was forgotten is in no generation
        elif code == 0 and event.command == "rollback":
            assert before is None, story
        elif done and code == 0 and self.now is not None:
            assert _hash(before, self.model) == old, story
        self.now, self.before = now, before


@lru_cache(1)
def _twin(model: Path) -> tuple[Learner, State]:
    """A learner to whom nothing ever happens, and its state before it has learned anything."""
    made = Learner.from_pretrained(model)
    return made, made.state()


def _state(content: bytes) -> State:
    return statefile.from_bytes(content, "The state").state


@lru_cache(64)
def _hash(content: bytes | None, model: Path) -> str:
    """Of a file that a learner takes."""
    if content is None:
        return "none"
    _twin(model)[0].restore(_state(content))
    return _twin(model)[0].state_hash()
