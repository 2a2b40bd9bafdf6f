"""Messages of many devices added up: the state of one learner that saw the base's pictures and all that arrived.

    gathering = Gathering(base)
    gathering.receive(data)              counted, repeat, replaced or refused, and why
    gathering.withdraw("scale-17")       as if that device had never sent
    gathering.content(), gathering.report

Any subset of devices in any order gives one hash. A message is known by its lineage:

    marks that all have been counted            a repeat: nothing changes
    marks of an earlier message, and more       replaces it: the device sent again before its base changed
    some marks that another message has         refused: part of it would count twice
"""

from __future__ import annotations

from dataclasses import dataclass

from bitreplay import statefile
from bitreplay.fleet.message import Message, MessageError
from bitreplay.fleet.since import content_of, marks_of, need_sendable, since
from bitreplay.learner import Learner
from bitreplay.lifecycle.merging import Total
from bitreplay.statefile import Content

COUNTED, REPEAT, REPLACED, REFUSED, WITHDRAWN = "counted", "repeat", "replaced", "refused", "withdrawn"


@dataclass(frozen=True)
class Verdict:
    """What became of a message; `reason` is a sentence where it was not counted."""

    device: str
    verdict: str
    pictures: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Received:
    """A message that is counted, as it came."""

    device: str
    marks: frozenset[int]
    pictures: int
    data: bytes


class Gathering:
    """`min_pictures` refuses classes of fewer pictures, as devices do before they send; 0 leaves it to them."""

    def __init__(self, base: Content | Learner | None = None, min_pictures: int = 0) -> None:
        self._total, self._min_pictures = Total(), min_pictures
        self._base_marks: frozenset[int] = frozenset()
        self._owner: dict[int, Received] = {}
        self.received: list[Received] = []
        self.report: list[Verdict] = []
        if base is not None:
            base = content_of(base) if isinstance(base, Learner) else base
            self._total.add(base, "the base")
            self._base_marks = marks_of(base)

    def receive(self, data: bytes, sender: str = "an unknown device") -> Verdict:
        """Count a message, or say why not."""
        try:
            message = Message.from_bytes(data)
        except MessageError as error:
            return self.refuse(sender, str(error))
        try:
            verdict = self._counted(message, Received(message.device, message.marks, message.pictures, data))
        except ValueError as error:
            verdict = Verdict(message.device, REFUSED, message.pictures, str(error))
        return self._said(verdict)

    def refuse(self, device: str, reason: str) -> Verdict:
        """Note that a device sent nothing that counts."""
        return self._said(Verdict(device, REFUSED, 0, reason))

    def withdraw(self, device: str) -> Verdict:
        """Take out all that a device has sent, bit for bit. ValueError if nothing of it is counted."""
        own = [one for one in self.received if one.device == device]
        if not own:
            raise ValueError(f"Nothing of the device {device} is counted.")
        for one in own:
            self._take_out(one)
        return self._said(Verdict(device, WITHDRAWN, sum(one.pictures for one in own)))

    def take_out(self, data: bytes) -> Verdict:
        """Remove what a message says, though it came in a masked round. ValueError if it cannot have been counted."""
        message = Message.from_bytes(data)
        if any(mark in self._owner for mark in message.marks):
            raise ValueError(f"The device {message.device} sent this openly: withdraw it.")
        if not message.marks <= self._base_marks:
            raise ValueError(f"This message of the device {message.device} is not counted.")
        self._total.take_out(message.content, f"the message of {message.device}")
        self._base_marks -= message.marks
        return self._said(Verdict(message.device, WITHDRAWN, message.pictures))

    def content(self) -> Content:
        """The merged state. ValueError if there is neither a base nor a message."""
        return self._total.content()

    def state_bytes(self) -> bytes:
        """The merged state as a state file."""
        return statefile.to_bytes(self.content())

    def add_sums(self, content: Content, marks: frozenset[int]) -> None:
        """Count the sums of a masked round (masking/), whose devices cannot be told apart; their marks are repeats from
        now on."""
        self._total.add(content, "the round")
        self._base_marks |= marks

    def knows(self, marks: frozenset[int]) -> bool:
        """Whether any of this lineage is counted."""
        return bool(marks & self._base_marks) or any(mark in self._owner for mark in marks)

    def _counted(self, message: Message, new: Received) -> Verdict:
        need_sendable(message.content, self._min_pictures)
        if new.marks & self._base_marks:
            return Verdict(new.device, REFUSED, new.pictures, "It contains pictures of the base or of a masked round.")
        before = {id(own): own for mark in new.marks if (own := self._owner.get(mark)) is not None}
        if not before:
            self._add(message, new)
            return Verdict(new.device, COUNTED, new.pictures)
        (first, *others) = before.values()
        counted = frozenset[int]().union(*(own.marks for own in before.values()))
        more = not others and first.marks <= new.marks and new.pictures > first.pictures
        if new.marks <= counted and not more:
            return Verdict(new.device, REPEAT, new.pictures, "It has been counted before.")
        if not more or first.device != new.device:
            return Verdict(new.device, REFUSED, new.pictures, f"Part of it has been counted with {first.device}.")
        since(message.content, Message.from_bytes(first.data).content)  # ValueError unless it is the first and more
        self._take_out(first)
        self._add(message, new)
        return Verdict(new.device, REPLACED, new.pictures)

    def _add(self, message: Message, new: Received) -> None:
        self._total.add(message.content, "it")
        self.received.append(new)
        self._owner |= dict.fromkeys(new.marks, new)

    def _take_out(self, one: Received) -> None:
        self._total.take_out(Message.from_bytes(one.data).content, f"the message of {one.device}")
        self.received = [other for other in self.received if other is not one]
        self._owner = {mark: own for mark, own in self._owner.items() if own is not one}

    def _said(self, verdict: Verdict) -> Verdict:
        self.report.append(verdict)
        return verdict
