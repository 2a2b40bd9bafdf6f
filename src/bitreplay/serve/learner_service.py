"""The one learner that everybody teaches and asks.

Changes take turns on a thread of their own. A change is done in five steps, and acknowledged after the fourth:

    the learner is changed   in memory, whole or not at all
    what will be seen        is made, all of it: whatever can fail has failed by now
    the album is written     pictures, steps, and the hash that the state will have (album.py)
    the state is saved       two generations (statefile/revisions.py): with its rename the change is done
    it is published          by one assignment; readers go on with the last view until then

Whatever fails, the file says what is: if it holds the new state the change is done, if it holds the old one nothing has
changed, and learner and album follow. A process that is killed loses at most a change that nobody was told of.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import numpy as np

from bitreplay.learner import Learner
from bitreplay.learning.classes import Name, checked_name, usual
from bitreplay.learning.progress import LearningStopped, Progress
from bitreplay.parts.state import State
from bitreplay.serve.album import Album, Kept, Shown, Step
from bitreplay.serve.limits import Limits, Refused
from bitreplay.serve.view import Judge, Taken, View, counts, right, view_of, warm
from bitreplay.statefile import Lock, StateFileError, checksum

T = TypeVar("T")
HELD_BACK = 5  # the last of so many pictures of a class is held back
MAX_STEPS = 200
MAX_PAST, MAX_PAST_BYTES = 12, 64_000_000


@dataclass(frozen=True)
class Past:
    """What undo goes back to; kept in memory alone, so that what was forgotten is in no file."""

    done: list[Any]
    state: State
    pictures: tuple[Kept, ...]
    shown: dict[int, Shown]


@dataclass(frozen=True)
class Now:
    """All that the last change ended in. `state` is the learner's."""

    view: View
    state: State
    pictures: tuple[Kept, ...]
    steps: tuple[Step, ...]
    past: tuple[Past, ...] = ()


class LearnerService:
    """`tell` hears of turns and of progress, on the thread of changes."""

    def __init__(
        self, learner: Learner, state: Path, lock: Lock, limits: Limits,
        tell: Callable[[str, Any], None] = lambda what, value: None,
    ) -> None:  # fmt: skip
        self.learner, self.state, self.limits = learner, state, limits
        self._lock, self._tell = lock, tell
        self._stopping = Event()
        self._waiting = 0
        if too_many := self._too_many_classes():
            raise ValueError(too_many)
        self._changes = ThreadPoolExecutor(1, "changes")
        if not state.exists():
            learner.save(state, lock=lock)  # what cannot be written is known before anything is taught
        self.album = Album(state.with_name(state.name + ".pictures"), learner.strategy.side, learner.state_hash())
        self._judge = Judge(learner, self.album)
        self._unswept = False
        self._begun: tuple[str, Now] | None = None
        pictures = self.album.pictures()
        tested = self._judge.tested(pictures, {})
        self._now = self._seen(self.album.turn, pictures, self.album.steps(), (), tested)

    @property
    def view(self) -> View:
        return self._now.view

    @property
    def _pictures(self) -> tuple[Kept, ...]:
        return self._now.pictures

    async def turn(self, act: Callable[..., T], *words: Any) -> T:
        """`act(*words)`, a method of this class, when its turn has come."""
        if self._waiting >= self.limits.changes:
            raise Refused(429, f"{self._waiting} changes are waiting already; try again later.")
        if self._stopping.is_set():
            raise Refused(503, "The server is ending; try again when it is back.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._changes, act, *words)
        except LearningStopped:
            raise Refused(503, "The server is ending; nothing was changed.") from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """The change at work is stopped or ended, and the files are closed."""
        self._stopping.set()
        self._changes.shutdown(wait=True, cancel_futures=True)
        self.album.close()

    # changes: each returns the view that it ends in

    def learn(self, name: str, shown: Sequence[Shown]) -> View:
        """One experience of one class. Every fifth picture of a class is held back."""
        label = self._label(name)
        if len(self._pictures) + len(shown) > self.limits.kept:
            raise Refused(409, f"At most {self.limits.kept} pictures are kept; forget some first.")
        before = sum(1 for one in self._pictures if one.name == str(label))
        ids = self.album.new_ids(len(shown))
        added = [Kept(id, str(label), (before + k) % HELD_BACK == HELD_BACK - 1) for k, id in enumerate(ids)]
        fresh = [one.pixels for one, kept in zip(shown, added, strict=True) if not kept.held]

        def act() -> tuple[Kept, ...]:
            if fresh:
                self.learner.learn(np.stack(fresh), label, progress=self._progress, cancel=self._stopping.is_set)
            return (*self._pictures, *added)

        return self._change(["learn", len(shown), str(label)], act, dict(zip(ids, shown, strict=True)))

    def forget(self, name: str) -> View:
        label = self._known(name)

        def act() -> tuple[Kept, ...]:
            self.learner.forget(label)
            return tuple(one for one in self._pictures if one.name != str(label))

        return self._change(["forget", str(label)], act, forgetting=True)

    def forget_picture(self, id: int) -> View:
        kept = next((one for one in self._pictures if one.id == id), None)
        if kept is None:
            raise Refused(404, f"There is no picture {id}.")

        def act() -> tuple[Kept, ...]:
            if not kept.held:
                self.learner.unlearn(self.album.pixels([id]), self._known(kept.name))
            return tuple(one for one in self._pictures if one is not kept)

        return self._change(["forgetPicture", kept.name], act, forgetting=True)

    def rename(self, old: str, new: str) -> View:
        label, other = self._known(old), _plain(new)

        def act() -> tuple[Kept, ...]:
            self.learner.rename(label, other)
            return tuple(replace(one, name=str(other)) if one.name == str(label) else one for one in self._pictures)

        return self._change(["rename", str(label), str(other)], act)

    def merge_classes(self, old: str, new: str) -> View:
        """Pictures of one class become another's; all of them must be in the album."""
        label, other = self._known(old), self._known(new)
        own = [one for one in self._pictures if one.name == str(label) and not one.held]
        if label == other:
            raise Refused(422, "A class is merged with another one, got the same twice.")
        if len(own) != counts(self.learner).get(str(label), 0):
            raise Refused(422, f"Not all pictures of {label} are here; those learned elsewhere cannot be moved.")

        def act() -> tuple[Kept, ...]:
            pixels = self.album.pixels([one.id for one in own])
            self.learner.unlearn(pixels, label)
            self.learner.learn(pixels, other)
            return tuple(replace(one, name=str(other)) if one.name == str(label) else one for one in self._pictures)

        return self._change(["merge", str(label), str(other)], act, forgetting=True)

    def open(self, data: bytes) -> View:
        def act() -> tuple[Kept, ...]:
            self.learner.restore(self._other(data).state())
            return ()

        return self._change(["load"], act)

    def merge(self, data: bytes) -> View:
        def act() -> tuple[Kept, ...]:
            self.learner.merge(self._other(data))
            return self._pictures

        return self._change(["mergeState"], act)

    def clear(self) -> View:
        def act() -> tuple[Kept, ...]:
            if labels := self.learner.labels:
                self.learner.forget(labels[0])  # so that the generation before is written anew
            assert self.learner.model is not None
            self.learner.restore(Learner.from_pretrained(self.learner.model, self.learner.settings).state())
            return ()

        return self._change(["clear"], act, forgetting=True)

    def undo(self, turn: int) -> View:
        """Take the last change back, if it is the one that was seen: two people do not undo two."""
        if turn != self.view.turn:
            raise Refused(409, "Somebody else has changed something since; look first.")
        if not self._now.past:
            raise Refused(409, "There is nothing to undo since the server was started.")
        past = self._now.past[-1]

        def act() -> tuple[Kept, ...]:
            self.learner.restore(past.state)
            return past.pictures

        here = {one.id for one in self._pictures}
        shown = {id: one for id, one in past.shown.items() if id not in here}
        return self._change(past.done, act, shown, forgetting=True, undoing=True)

    def _change(
        self, done: list[Any], act: Callable[[], tuple[Kept, ...]], shown: dict[int, Shown] | None = None,
        forgetting: bool = False, undoing: bool = False,
    ) -> View:  # fmt: skip
        self._settle()
        was, turn = self._now, self._now.view.turn + 1
        try:
            pictures = act()
            if too_many := self._too_many_classes():
                raise Refused(409, too_many)
            gone = {one.id for one in was.pictures} - {one.id for one in pictures}
            past = Past(done, was.state, was.pictures, self._shown(sorted(gone)))
            tested = self._judge.tested(pictures, shown or {})
            step = {"did": done, "right": right(tested)}
            steps = was.steps[:-1] if undoing else (*was.steps, step)[-MAX_STEPS:]
            now = self._seen(turn, pictures, steps, was.past[:-1] if undoing else _remembered(was.past, past), tested)
            self._begun = (checksum(self.state), now)
            self.album.write(turn, self.learner.state_hash(), pictures, steps, shown or {})
            self._save()
            self._now, self._begun = now, None
        except BaseException:
            self._settle()
            if self._now.view.turn != turn:
                raise
        with suppress(Exception):  # the change is done by now, whatever becomes of the rest
            self._sweep(forgetting)
        with suppress(Exception):
            self._tell("turn", turn)
        return self._now.view

    def _too_many_classes(self) -> str:
        """Of every change, and of the state that is served: what everybody sees and waits for grows with them. A
        sentence, if there are."""
        most, found = self.limits.classes, len(self.learner.labels)
        return "" if found <= most else f"At most {most} classes are served, got {found}; forget some first."

    def _settle(self) -> None:
        """After a change that was stopped: the file says whether it was done, learner and album follow. If they cannot,
        the next change begins with it."""
        if self._begun is not None:
            before, now = self._begun
            if self._there() != before:
                self._now = now
            else:
                with suppress(sqlite3.Error):  # the next turn that is written takes its place
                    self.album.take_back(now.view.turn)
            self._begun = None
        if self.learner.state() is not self._now.state:
            self.learner.restore(self._now.state)
            self._now = replace(self._now, state=self.learner.state())

    def _there(self) -> str:
        try:
            return checksum(self.state)
        except StateFileError as error:
            raise Refused(503, f"Whether the last change was saved cannot be read: {error}") from None

    def _save(self) -> None:
        try:
            self.learner.save(self.state, lock=self._lock)
        except StateFileError as error:
            raise Refused(507, f"Nothing was changed: {error}") from None

    def _sweep(self, forgetting: bool) -> None:
        """If it fails, the next change sweeps again."""
        self._unswept |= forgetting
        self.album.sweep(self._unswept)
        self._unswept = False

    def _shown(self, ids: list[int]) -> dict[int, Shown]:
        if not ids:
            return {}
        pixels = self.album.pixels(ids)
        return {id: Shown(pixels[k], self.album.thumbnail(id) or b"") for k, id in enumerate(ids)}

    def _seen(
        self, turn: int, pictures: tuple[Kept, ...], steps: tuple[Step, ...], past: tuple[Past, ...],
        tested: Sequence[Taken],
    ) -> Now:  # fmt: skip
        """What will be seen of the learner as it is."""
        warm(self.learner)
        facts = {
            "stateBytes": len(self.learner.to_bytes()), "steps": steps, "undo": past[-1].done if past else None,
        }  # fmt: skip
        view = view_of(self.learner, turn, pictures, tested, self._judge.share(), **facts)
        return Now(view, self.learner.state(), pictures, steps, past)

    def _progress(self, done: Progress) -> None:
        if done.part == "steps":
            self._tell("progress", [done.done, done.total])

    # names and states that a client sends

    def _label(self, name: str) -> Name:
        """As the learner spells it; a class that is a number is found by its digits."""
        text = _plain(name)
        return next((label for label in self.learner.labels if str(usual(label)) == text), text)

    def _known(self, name: str) -> Name:
        """A class by its name, also one that no new class may have."""
        label = next((one for one in self.learner.labels if str(one) == name), None)
        label = self._label(name) if label is None else label
        if label not in self.learner.labels:
            raise Refused(404, f"There is no class {json.dumps(name[:60])}.")
        return label

    def _other(self, data: bytes) -> Learner:
        other = Learner.from_bytes(data, self.learner.model)
        if other.settings != self.learner.settings:
            raise Refused(422, "The state was learned with other settings than the one that is served.")
        return other


def _plain(name: str) -> Name:
    """A name as new classes get it."""
    return usual(checked_name(name))


def _remembered(before: tuple[Past, ...], last: Past) -> tuple[Past, ...]:
    """As many as fit, the last one at least."""
    kept = (*before, last)[-MAX_PAST:]
    while len(kept) > 1 and sum(one.state.bytes for one in kept) > MAX_PAST_BYTES:
        kept = kept[1:]
    return kept
