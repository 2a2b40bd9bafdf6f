"""The server's side: it asks nodes for their sums and adds up what comes, openly or masked (fleet/gathering.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flwr.serverapp import Grid

from bitreplay.adapters.flower.masked import MaskedSteps
from bitreplay.adapters.flower.questions import Questions
from bitreplay.fleet.gathering import COUNTED, REFUSED, REPEAT, Gathering, Verdict
from bitreplay.fleet.masking.terms import NEIGHBOURS, Terms, new_round
from bitreplay.fleet.masking.vector import content_of as content_from
from bitreplay.fleet.since import MIN_PICTURES, content_of
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name, in_order

MAX_PICTURES = 131  # of a device in a masked round: a thousand devices then fit 32 bits


class ExactFleet:
    """Sums of many nodes, merged exactly.

    Parameters
    ----------
    base : Learner
        What every device began as; it may know nothing, and says which model and settings are meant.
    min_pictures : int
        A class of a device is taken from so many pictures on.
    timeout : float
        Seconds to wait for the answers to one question; what comes later is counted by the next `gather`.
    """

    def __init__(self, base: Learner, min_pictures: int = MIN_PICTURES, timeout: float = 60.0) -> None:
        self._base, self._min_pictures, self._timeout = base, min_pictures, timeout
        self.gathering = Gathering(base, min_pictures)
        self._questions: Questions | None = None
        self.bytes_received = 0

    # open sums

    def gather(self, grid: Grid, nodes: Iterable[int] | None = None, enough: int | None = None) -> list[Verdict]:
        """Ask nodes for their sums and count what comes until `enough` have answered, late answers included."""
        questions = self._asking(grid)
        asked: dict[int, dict[str, Any]] = {node: {} for node in (grid.get_node_ids() if nodes is None else nodes)}
        return self._count(questions.ask("sums", asked, enough))

    def gather_late(self, grid: Grid) -> list[Verdict]:
        """Count what comes now of earlier questions, without asking anybody."""
        return self._count(self._asking(grid).wait())

    def _count(self, answers: dict[int, Any]) -> list[Verdict]:
        verdicts = []
        for node, answer in answers.items():
            data = bytes(answer.get("message", b""))
            self.bytes_received += len(data)
            if data:
                verdicts.append(self.gathering.receive(data, f"node {node}"))
            else:
                reason = str(answer.get("refused", "It sent nothing."))
                verdicts.append(self.gathering.refuse(_sender(answer, node), reason))
        return verdicts

    # masked sums

    def gather_masked(
        self, grid: Grid, names: Sequence[Name] | None = None, nodes: Iterable[int] | None = None,
        max_pictures: int = MAX_PICTURES, neighbours: int = NEIGHBOURS,
    ) -> list[Verdict]:  # fmt: skip
        """One masked round: the sum of the devices that came, counted whole. Without `names` every device is asked for
        the names of its classes, which the server then sees. ValueError if too few came."""
        questions = Questions(grid, self._timeout)
        everybody = list(grid.get_node_ids() if nodes is None else nodes)
        ready = questions.ask("ready", {node: {"names": names is None} for node in everybody})
        verdicts, marks = self._chosen(ready)
        classes = in_order(names if names is not None else _named(ready[node] for node in marks))
        own = self._base.state().parts["sums"].arrays
        terms = Terms(new_round(), len(marks), classes, own["class_sums"].shape[1], "class_products" in own,
                      max_pictures, self._min_pictures, neighbours)  # fmt: skip
        names_of = {node: _sender(ready[node], node) for node in marks}
        steps = MaskedSteps(questions, names_of, terms)
        total = steps.run()
        self.bytes_received += len(steps.came) * terms.length * terms.bits // 8
        came = frozenset[int]().union(*(marks[node] for node in steps.came))
        self.gathering.add_sums(content_from(total, terms, content_of(self._base), came), came)
        verdicts += steps.verdicts + [Verdict(names_of[node], COUNTED) for node in steps.came]
        self.gathering.report += verdicts
        return verdicts

    def _chosen(self, ready: dict[int, Any]) -> tuple[list[Verdict], dict[int, frozenset[int]]]:
        """Devices that have something to add that is not counted yet, and its marks."""
        verdicts, marks = [], {}
        seen: set[int] = set()
        for node, answer in ready.items():
            own = frozenset(int(mark, 16) for mark in answer.get("marks", ()))
            if "refused" in answer:
                verdicts.append(Verdict(_sender(answer, node), REFUSED, 0, str(answer["refused"])))
            elif not own or self.gathering.knows(own) or own & seen:
                verdicts.append(Verdict(_sender(answer, node), REPEAT, 0, "It has been counted before."))
            else:
                marks[node] = own
                seen |= own
        return verdicts, marks

    # what follows

    def withdraw(self, device: str) -> Verdict:
        """Take a device out again, as if it had never sent."""
        return self.gathering.withdraw(device)

    def merged(self) -> Learner:
        """A learner with the merged state."""
        return Learner.from_bytes(self.gathering.state_bytes(), self._base.model)

    def give_back(self, grid: Grid, nodes: Iterable[int] | None = None) -> int:
        """Send the merged state to nodes; how many have it."""
        state = self.gathering.state_bytes()
        asked = {node: {"state": state} for node in (grid.get_node_ids() if nodes is None else nodes)}
        return len(Questions(grid, self._timeout).ask("merged", asked))

    def _asking(self, grid: Grid) -> Questions:
        if self._questions is None:
            self._questions = Questions(grid, self._timeout)
        return self._questions


def _sender(answer: Any, node: int) -> str:
    return str(answer.get("device", f"node {node}"))


def _named(answers: Iterable[Any]) -> list[Name]:
    """Names of classes as devices wrote them: their type, a space, the name."""
    names: list[Name] = []
    for answer in answers:
        for text in answer["names"]:
            kind, _, name = str(text).partition(" ")
            names.append(int(name) if kind == "int" else name)
    return names
