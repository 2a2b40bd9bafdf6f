"""A change in which any call fails, once or twice: the state is the old one everywhere or the new one everywhere.

Everywhere is in memory, in the file, in the stored pictures and after a restart, and the next change works.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tests.serve import serving

assert serving  # what `serve` needs is installed
from bitreplay.learner import Learner  # noqa: E402
from bitreplay.serve.learner_service import LearnerService  # noqa: E402
from bitreplay.serve.limits import Limits  # noqa: E402
from bitreplay.serve.picture_store import Picture  # noqa: E402
from bitreplay.statefile import Lock  # noqa: E402
from tests import tiny  # noqa: E402

SOURCE = str(serving.SOURCE / "bitreplay")
PARTS = ("serve", "learner.py", "lifecycle/published.py", "statefile", "parts/state.py", "prediction", "strategies")


class Fault(Exception):
    pass


@dataclass
class Faults:
    """Calls of functions of the package are counted; those of these numbers raise before their first line."""

    at: set[int]
    seen: int = 0
    raised: list[str] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(SOURCE) and name[len(SOURCE) + 1 :].startswith(PARTS):
            self.seen += 1
            if self.seen - 1 in self.at:
                self.raised.append(f"{Path(name).name}:{frame.f_code.co_name}")
                raise Fault

    @contextmanager
    def on(self) -> Iterator[Faults]:
        sys.settrace(self)
        try:
            yield self
        finally:
            sys.settrace(None)


@contextmanager
def service_of(state: Path, model: Path) -> Iterator[LearnerService]:
    with Lock(state) as lock:
        learner = Learner.load(state, model) if state.exists() else Learner.from_pretrained(model)
        own = LearnerService(learner, state, lock, Limits())
        yield own
        own.close()


def shown(number: int, count: int = 6) -> list[Picture]:
    pixels = np.random.default_rng(number).integers(0, 256, (count, tiny.SIDE, tiny.SIDE, 3), dtype=np.uint8)
    return [Picture(one, b"\xff\xd8\xff") for one in pixels]


CHANGES: dict[str, Callable[[LearnerService], Any]] = {
    "learn": lambda service: service.learn("green", shown(3)),
    "forget": lambda service: service.forget("red"),
    "rename": lambda service: service.rename("red", "green"),
    "undo": lambda service: service.undo(service.view.turn),
}


def seen(service: LearnerService) -> dict[str, Any]:
    """What everybody sees, without what counts turns."""
    return {key: value for key, value in service.view.facts.items() if key not in ("turn", "steps", "undo")}


def agree(service: LearnerService, state: Path, model: Path) -> None:
    facts = service.view.facts
    assert facts["hash"] == service.learner.state_hash() == Learner.load(state, model).state_hash()
    assert [[one.id, one.name, int(one.held)] for one in service.store.pictures()] == facts["pictures"]
    assert facts["turn"] == service.store.turn and list(service.store.steps()) == list(facts["steps"])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("faults", [1, 2])
def test_whatever_call_fails_all_agree(tmp_path, change, faults):
    state, model, rng = tmp_path / "a.state", tiny.model(tmp_path), np.random.default_rng(faults)
    with service_of(state, model) as service:
        service.learn("red", shown(1))
        service.learn("blue", shown(2))
        base = seen(service)
        service.rename("blue", "grey")  # so that there is something to undo
        with Faults(set()).on() as calls:
            CHANGES[change](service)
        if change != "undo":
            service.undo(service.view.turn)
            service.undo(service.view.turn)
        # The last calls are those around the save; of the others a few.
        last = range(calls.seen - 1, max(0, calls.seen - 120), -3)
        for number in [*last, *rng.integers(0, calls.seen, 10).tolist()]:
            at = {int(number), *(int(number) + rng.integers(1, 12, faults - 1)).tolist()}
            service.rename("blue", "grey")
            before, turn = seen(service), service.view.turn
            with Faults(at).on() as found:
                try:
                    CHANGES[change](service)
                    done = True
                except Fault:
                    done = False
            where = (change, at, found.raised)
            if faults == 1:
                agree(service, state, model)
                assert service.view.turn == turn + done, where
                assert done or seen(service) == before, where
            service.learn("probe", shown(9))
            agree(service, state, model)
            assert faults > 1 or "probe" in service.learner.labels, where
            while seen(service) != base:  # it can all be undone
                service.undo(service.view.turn)
        before = service.view.facts
    with service_of(state, model) as service:
        assert service.view.facts | {"undo": None} == before | {"undo": None}
        agree(service, state, model)


def test_an_exception_after_the_save_leaves_the_new_state_everywhere(tmp_path, monkeypatch):
    """A warning that is made an error is raised when the file is already the new one."""
    state, model = tmp_path / "a.state", tiny.model(tmp_path)
    with service_of(state, model) as service:
        service.learn("red", shown(1))
        save = Learner.save

        def saved_and_failed(*words: Any, **named: Any) -> None:
            save(*words, **named)
            raise UserWarning("The folder could not be synced.")

        with monkeypatch.context() as patch:
            patch.setattr(Learner, "save", saved_and_failed)
            assert {one["name"] for one in service.learn("green", shown(2)).facts["classes"]} == {"red", "green"}
        agree(service, state, model)
        service.rename("green", "blue")
        agree(service, state, model)


def test_a_view_that_cannot_be_made_changes_nothing(tmp_path, monkeypatch):
    """It was made after the save: the file had changed, nobody was told, and no later change was taken."""
    state, model = tmp_path / "a.state", tiny.model(tmp_path)

    def failing(*words: Any, **named: Any) -> None:
        raise ValueError("A name cannot be shown.")

    with service_of(state, model) as service:
        service.learn("red", shown(1))
        before = service.view.facts
        with monkeypatch.context() as patch:
            patch.setattr("bitreplay.serve.learner_service.make_view", failing)
            with pytest.raises(ValueError, match="cannot be shown"):
                service.learn("green", shown(2))
        assert service.view.facts == before
        agree(service, state, model)
        service.learn("green", shown(2))
        agree(service, state, model)
    with service_of(state, model) as service:
        agree(service, state, model)
        assert {one["name"] for one in service.view.facts["classes"]} == {"red", "green"}
