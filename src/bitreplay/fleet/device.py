"""A device of a fleet: a state file that it learns into as ever, and beside it what it began as and what it has sent.

    device = Device.joined(path, "scale-17")       the file `scale.state.fleet` appears
    device.message()                               what was learned since the last message; kept until it has arrived
    device.receive(release, serial)                release + what is not in it yet

    state = base + messages that are not in the base + what was learned since

When a release comes, messages whose marks are in its lineage have arrived and are dropped; the others, and what was
learned since, are added to it. So it does not matter how long a device was away, or how often it sent.

Beside the state lies a record of each base that the state or the revision before it may have: power may fail at any
moment, and `bitreplay rollback` may put back the old revision. Which record holds, the state's lineage says: with each
base it gets a mark of the device's own.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from bitreplay import statefile
from bitreplay.fleet.message import Message, need_device
from bitreplay.fleet.places import Place
from bitreplay.fleet.since import MIN_PICTURES, first_mark, marks_of, need_sendable, since
from bitreplay.lifecycle.merging import Total
from bitreplay.parts.lineage import united
from bitreplay.statefile import Content, Lock


@dataclass
class Record:
    """`base` and `sent` are base64 of a state file and of messages; `serial` and `version` are those of the release."""

    device: str
    lot: int
    base: str
    sent: list[str] = field(default_factory=list)
    serial: int = 0
    version: int = 0


class Device:
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        kept = _beside(self.path)
        if not kept.exists():
            raise ValueError(f"{self.path} belongs to no fleet: bitreplay fleet join {self.path} --device NAME.")
        marks = marks_of(self._state())
        records = [Record(**one) for one in json.loads(kept.read_text())]
        held = [record for record in records if _mark(record) in marks]
        if not held:
            raise ValueError(f"{self.path} is not the state that {kept.name} was written for.")
        self.record = held[-1]

    @classmethod
    def joined(cls, path: str | Path, device: str) -> Device:
        """Make a state file that of a device: what it knows now is its base."""
        need_device(device)
        path = Path(path)
        with Lock(path) as lock:
            content, origin = statefile.load(path)
            if _beside(path).exists():
                raise ValueError(f"{path} belongs to a fleet already.")
            record = Record(device, 0, b64encode(statefile.to_bytes(content)).decode())
            statefile.save(path, _marked(content, record), origin, lock)
            _keep(path, record)
        return cls(path)

    def learned(self) -> Content:
        """What was learned since the last message."""
        return since(self._state(), self._told())

    def message(self, min_pictures: int = MIN_PICTURES) -> bytes | None:
        """A new message, or None if nothing was learned since the last one. ValueError while a class has too few
        pictures. It is kept with those that have not arrived: `unanswered` has all of them."""
        learned = self.learned()
        if not learned.state.names:
            return None
        need_sendable(learned, min_pictures)
        data = Message(self.record.device, learned).to_bytes()
        self.record.sent.append(b64encode(data).decode())
        others = [Record(**one) for one in json.loads(_beside(self.path).read_text())]
        _keep(self.path, *(one for one in others if one.lot < self.record.lot), self.record)
        return data

    def unanswered(self) -> list[bytes]:
        """Messages that no release has contained yet."""
        return [b64decode(text) for text in self.record.sent]

    def receive(self, release: Content, serial: int = 0, version: int = 0) -> int:
        """Go on from a release; how many messages had arrived. ValueError, and nothing changed, if it does not fit."""
        with Lock(self.path) as lock:
            content, origin = statefile.load(self.path)
            learned, marks = since(content, self._told()), marks_of(release)
            pending = [data for data in self.unanswered() if not Message.from_bytes(data).marks <= marks]
            record = Record(self.record.device, self.record.lot + 1, b64encode(statefile.to_bytes(release)).decode(),
                            [b64encode(data).decode() for data in pending], serial, version)  # fmt: skip
            parts = [Message.from_bytes(data).content for data in pending]
            parts += [learned] if learned.state.names else []
            total = _sum(release, parts)
            arrived = len(self.record.sent) - len(pending)
            _keep(self.path, self.record, record)
            statefile.save(self.path, replace(content, state=_marked(total, record).state), origin, lock)
        self.record = record
        return arrived

    def _told(self) -> Content:
        """The base and all that was sent: what the state was at the last message."""
        return _sum(_content(self.record.base), [Message.from_bytes(data).content for data in self.unanswered()])

    def _state(self) -> Content:
        return statefile.load(self.path)[0]


def _sum(first: Content, others: list[Content]) -> Content:
    total = Total(warns=False)
    for content in (first, *others):
        total.add(content, "what the device has")
    return total.content()


def _marked(content: Content, record: Record) -> Content:
    """The state with a mark of its own, so that what it learns from now on has marks that no other device's has."""
    lineage = united(marks_of(content) | {_mark(record)})
    return replace(content, state=replace(content.state, note_arrays=lineage.arrays()))


def _mark(record: Record) -> int:
    return first_mark(record.device, record.lot)


def _content(base: str) -> Content:
    return statefile.from_bytes(b64decode(base), "The base")


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.fleet")


def _keep(path: Path, *records: Record) -> None:
    Place(path.parent).write(_beside(path).name, json.dumps([asdict(record) for record in records]).encode())
