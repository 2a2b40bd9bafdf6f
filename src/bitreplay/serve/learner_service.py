"""The one learner that all clients share.

Changes take turns on their own thread. A change has five steps and is acknowledged after the fourth:

    the learner is changed   in memory, completely or not at all
    the view is computed     so that whatever can fail has failed by now
    pictures are written     with steps and the hash that the state will have (picture_store.py)
    the state is saved       as a revision (statefile/revisions.py); its rename commits the change
    the view is published    by one assignment; until then readers use the last one

The state file decides: if it has the new state, the change is done; if it has the old one, nothing has changed; learner
and pictures follow. A killed process loses at most a change that was not acknowledged.
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
from bitreplay.serve.limits import Limits, RequestError
from bitreplay.serve.picture_store import Picture, PictureStore, Step, StoredPicture
from bitreplay.serve.view import Evaluator, Prediction, View, accuracy_counts, counts, make_view, warm
from bitreplay.statefile import Lock, StateFileError, checksum

T = TypeVar("T")
HELD_BACK = 5  # every fifth picture of a class is held back
MAX_STEPS = 200
MAX_UNDO, MAX_UNDO_BYTES = 12, 64_000_000


@dataclass(frozen=True)
class UndoEntry:
    """What undo restores; only in memory, so that no file has what was forgotten."""

    did: list[Any]
    state: State
    pictures: tuple[StoredPicture, ...]
    removed: dict[int, Picture]


@dataclass(frozen=True)
class Snapshot:
    """Everything after the last change. `state` is the learner's."""

    view: View
    state: State
    pictures: tuple[StoredPicture, ...]
    steps: tuple[Step, ...]
    undo_stack: tuple[UndoEntry, ...] = ()


class LearnerService:
    """`publish` is called with turns and progress, on the thread of changes."""

    def __init__(
        self, learner: Learner, state: Path, lock: Lock, limits: Limits,
        publish: Callable[[str, Any], None] = lambda event, value: None,
    ) -> None:  # fmt: skip
        self.learner, self.state, self.limits = learner, state, limits
        self._lock, self._publish = lock, publish
        self._closing = Event()
        self._waiting = 0
        if too_many := self._class_limit_error():
            raise ValueError(too_many)
        self._changes = ThreadPoolExecutor(1, "changes")
        if not state.exists():
            learner.save(state, lock=lock)  # fails now if it cannot be written
        pictures_file = state.with_name(state.name + ".pictures")
        self.store = PictureStore(pictures_file, learner.strategy.side, learner.state_hash())
        self._evaluator = Evaluator(learner, self.store)
        self._unswept = False
        self._pending: tuple[str, Snapshot] | None = None
        pictures = self.store.pictures()
        predictions = self._evaluator.predictions(pictures, {})
        self._now = self._snapshot(self.store.turn, pictures, self.store.steps(), (), predictions)

    @property
    def view(self) -> View:
        return self._now.view

    @property
    def _pictures(self) -> tuple[StoredPicture, ...]:
        return self._now.pictures

    async def turn(self, change: Callable[..., T], *arguments: Any) -> T:
        """Calls `change(*arguments)`, a method of this class, when its turn has come."""
        if self._waiting >= self.limits.changes:
            raise RequestError(429, f"{self._waiting} changes are waiting already; try again later.")
        if self._closing.is_set():
            raise RequestError(503, "The server is stopping; try again when it is back.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._changes, change, *arguments)
        except LearningStopped:
            raise RequestError(503, "The server is stopping; nothing was changed.") from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Stops or finishes the current change and closes the files."""
        self._closing.set()
        self._changes.shutdown(wait=True, cancel_futures=True)
        self.store.close()

    # changes; each returns the view after it

    def learn(self, name: str, new_pictures: Sequence[Picture]) -> View:
        """One experience of one class. Every fifth picture of a class is held back."""
        label = self._label_for(name)
        if len(self._pictures) + len(new_pictures) > self.limits.stored_pictures:
            raise RequestError(409, f"At most {self.limits.stored_pictures} pictures can be stored; forget some first.")
        before = sum(1 for one in self._pictures if one.name == str(label))
        ids = self.store.new_ids(len(new_pictures))
        added = [StoredPicture(id, str(label), (before + k) % HELD_BACK == HELD_BACK - 1) for k, id in enumerate(ids)]
        learned = [one.pixels for one, stored in zip(new_pictures, added, strict=True) if not stored.held]

        def change() -> tuple[StoredPicture, ...]:
            if learned:
                self.learner.learn(np.stack(learned), label, progress=self._progress, cancel=self._closing.is_set)
            return (*self._pictures, *added)

        return self._change(["learn", len(new_pictures), str(label)], change, dict(zip(ids, new_pictures, strict=True)))

    def forget(self, name: str) -> View:
        label = self._known_label(name)

        def change() -> tuple[StoredPicture, ...]:
            self.learner.forget(label)
            return tuple(one for one in self._pictures if one.name != str(label))

        return self._change(["forget", str(label)], change, forgetting=True)

    def forget_picture(self, id: int) -> View:
        stored = next((one for one in self._pictures if one.id == id), None)
        if stored is None:
            raise RequestError(404, f"There is no picture {id}.")

        def change() -> tuple[StoredPicture, ...]:
            if not stored.held:
                self.learner.unlearn(self.store.pixels([id]), self._known_label(stored.name))
            return tuple(one for one in self._pictures if one is not stored)

        return self._change(["forgetPicture", stored.name], change, forgetting=True)

    def rename(self, old: str, new: str) -> View:
        label, other = self._known_label(old), _new_label(new)

        def change() -> tuple[StoredPicture, ...]:
            self.learner.rename(label, other)
            return tuple(replace(one, name=str(other)) if one.name == str(label) else one for one in self._pictures)

        return self._change(["rename", str(label), str(other)], change)

    def merge_classes(self, old: str, new: str) -> View:
        """Relabels the pictures of a class, all of which must be stored."""
        label, other = self._known_label(old), self._known_label(new)
        moved = [one for one in self._pictures if one.name == str(label) and not one.held]
        if label == other:
            raise RequestError(422, "A class cannot be merged with itself.")
        if len(moved) != counts(self.learner).get(str(label), 0):
            raise RequestError(
                422, f"Not all pictures of {label} are stored here; those learned elsewhere cannot be moved."
            )

        def change() -> tuple[StoredPicture, ...]:
            pixels = self.store.pixels([one.id for one in moved])
            self.learner.unlearn(pixels, label)
            self.learner.learn(pixels, other)
            return tuple(replace(one, name=str(other)) if one.name == str(label) else one for one in self._pictures)

        return self._change(["merge", str(label), str(other)], change, forgetting=True)

    def open(self, data: bytes) -> View:
        def change() -> tuple[StoredPicture, ...]:
            self.learner.restore(self._learner_of(data).state())
            return ()

        return self._change(["load"], change)

    def merge(self, data: bytes) -> View:
        def change() -> tuple[StoredPicture, ...]:
            self.learner.merge(self._learner_of(data))
            return self._pictures

        return self._change(["mergeState"], change)

    def clear(self) -> View:
        def change() -> tuple[StoredPicture, ...]:
            if labels := self.learner.labels:
                self.learner.forget(labels[0])  # so that the earlier revision is rewritten
            assert self.learner.model is not None
            self.learner.restore(Learner.from_pretrained(self.learner.model, self.learner.settings).state())
            return ()

        return self._change(["clear"], change, forgetting=True)

    def undo(self, turn: int) -> View:
        """Undoes the last change if the client has seen it, so that two people do not undo two changes."""
        if turn != self.view.turn:
            raise RequestError(409, "Someone else has changed something since; reload first.")
        if not self._now.undo_stack:
            raise RequestError(409, "There is nothing to undo.")
        last = self._now.undo_stack[-1]

        def change() -> tuple[StoredPicture, ...]:
            self.learner.restore(last.state)
            return last.pictures

        present = {one.id for one in self._pictures}
        restored = {id: picture for id, picture in last.removed.items() if id not in present}
        return self._change(last.did, change, restored, forgetting=True, undoing=True)

    def _change(
        self, did: list[Any], change: Callable[[], tuple[StoredPicture, ...]],
        new_pictures: dict[int, Picture] | None = None, forgetting: bool = False, undoing: bool = False,
    ) -> View:  # fmt: skip
        self._recover()
        before, turn = self._now, self._now.view.turn + 1
        try:
            pictures = change()
            if too_many := self._class_limit_error():
                raise RequestError(409, too_many)
            removed = {one.id for one in before.pictures} - {one.id for one in pictures}
            entry = UndoEntry(did, before.state, before.pictures, self._pictures_with(sorted(removed)))
            undo_stack = before.undo_stack[:-1] if undoing else _within_limits(before.undo_stack, entry)
            predictions = self._evaluator.predictions(pictures, new_pictures or {})
            step = {"did": did, "right": accuracy_counts(predictions)}
            steps = before.steps[:-1] if undoing else (*before.steps, step)[-MAX_STEPS:]
            now = self._snapshot(turn, pictures, steps, undo_stack, predictions)
            self._pending = (checksum(self.state), now)
            self.store.write(turn, self.learner.state_hash(), pictures, steps, new_pictures or {})
            self._save()
            self._now, self._pending = now, None
        except BaseException:
            self._recover()
            if self._now.view.turn != turn:
                raise
        with suppress(Exception):  # the change is done, whatever happens to the rest
            self._sweep(forgetting)
        with suppress(Exception):
            self._publish("turn", turn)
        return self._now.view

    def _class_limit_error(self) -> str:
        """The error for a state with too many classes, or "": each makes the view larger and every change slower."""
        limit, count = self.limits.classes, len(self.learner.labels)
        return "" if count <= limit else f"At most {limit} classes are served, got {count}; forget some first."

    def _recover(self) -> None:
        """After a change that failed: learner and pictures follow the state file. If they cannot, the next change tries
        again."""
        if self._pending is not None:
            before, now = self._pending
            if self._saved_checksum() != before:
                self._now = now
            else:
                with suppress(sqlite3.Error):  # the next turn that is written replaces it
                    self.store.revert(now.view.turn)
            self._pending = None
        if self.learner.state() is not self._now.state:
            self.learner.restore(self._now.state)
            self._now = replace(self._now, state=self.learner.state())

    def _saved_checksum(self) -> str:
        try:
            return checksum(self.state)
        except StateFileError as error:
            raise RequestError(503, f"It is not known whether the last change was saved: {error}") from None

    def _save(self) -> None:
        try:
            self.learner.save(self.state, lock=self._lock)
        except StateFileError as error:
            raise RequestError(507, f"Nothing was changed: {error}") from None

    def _sweep(self, forgetting: bool) -> None:
        """If it fails, the next change sweeps again."""
        self._unswept |= forgetting
        self.store.sweep(self._unswept)
        self._unswept = False

    def _pictures_with(self, ids: list[int]) -> dict[int, Picture]:
        if not ids:
            return {}
        pixels = self.store.pixels(ids)
        return {id: Picture(pixels[k], self.store.thumbnail(id) or b"") for k, id in enumerate(ids)}

    def _snapshot(
        self, turn: int, pictures: tuple[StoredPicture, ...], steps: tuple[Step, ...],
        undo_stack: tuple[UndoEntry, ...], predictions: Sequence[Prediction],
    ) -> Snapshot:  # fmt: skip
        """The snapshot of the learner as it is."""
        warm(self.learner)
        facts = {
            "stateBytes": len(self.learner.to_bytes()),
            "steps": steps,
            "undo": undo_stack[-1].did if undo_stack else None,
        }
        view = make_view(self.learner, turn, pictures, predictions, self._evaluator.share(), **facts)
        return Snapshot(view, self.learner.state(), pictures, steps, undo_stack)

    def _progress(self, progress: Progress) -> None:
        if progress.part == "steps":
            self._publish("progress", [progress.done, progress.total])

    # labels and states from clients

    def _label_for(self, name: str) -> Name:
        """The label as the learner has it; an integer is matched by its digits."""
        text = _new_label(name)
        return next((label for label in self.learner.labels if str(usual(label)) == text), text)

    def _known_label(self, name: str) -> Name:
        """A known class, even one whose name no new class may have."""
        label = next((one for one in self.learner.labels if str(one) == name), None)
        label = self._label_for(name) if label is None else label
        if label not in self.learner.labels:
            raise RequestError(404, f"There is no class {json.dumps(name[:60])}.")
        return label

    def _learner_of(self, data: bytes) -> Learner:
        other = Learner.from_bytes(data, self.learner.model)
        if other.settings != self.learner.settings:
            raise RequestError(422, "The state has other settings than the one that is served.")
        return other


def _new_label(name: str) -> Name:
    """A name in the form that new classes get."""
    return usual(checked_name(name))


def _within_limits(before: tuple[UndoEntry, ...], last: UndoEntry) -> tuple[UndoEntry, ...]:
    """As many as the limits allow, at least the last."""
    entries = (*before, last)[-MAX_UNDO:]
    while len(entries) > 1 and sum(entry.state.bytes for entry in entries) > MAX_UNDO_BYTES:
        entries = entries[1:]
    return entries
