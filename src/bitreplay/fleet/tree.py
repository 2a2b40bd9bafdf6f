"""Thousands of files merged by a tree of tasks: each reads its files one after another and holds two states at a time.

    merged = merge_tree("s3://bucket/devices", "/tmp/work", base)          in this process; on Ray: bitreplay.cluster
    merged.content, merged.report

Files are states of devices (with a base: that began as it), or messages. A task writes what it has merged into the
folder `work` under a name that follows from its files' names, sizes and times; one that is there is not made again.
So a merge that was stopped goes on where it was, and a task that a dying worker leaves unfinished is run again.

Nothing is refused in silence: the report has a line for each file. Who was counted twice is found at the end, by
lineage, from what the tasks report, and is taken out of the sum again.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bitreplay import statefile
from bitreplay.fleet.gathering import COUNTED, REFUSED, REPEAT, REPLACED
from bitreplay.fleet.message import MAGIC, Message
from bitreplay.fleet.places import Place
from bitreplay.fleet.since import marks_of
from bitreplay.lifecycle.merging import Total
from bitreplay.statefile import Content
from bitreplay.strategies.exact import statistics_of

FILES_A_TASK, STATES_A_TASK = 64, 16
Used = tuple[int, float]
Task = tuple[Callable[..., Used], tuple[Any, ...]]


@dataclass(frozen=True)
class Line:
    """What became of a file; `marks` are its lineage without the base's."""

    name: str
    verdict: str
    pictures: int = 0
    reason: str = ""
    device: str = ""
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Merged:
    """`most_bytes` is the most memory of a process that ran a task, `cpu_seconds` the time of all tasks."""

    content: Content
    report: list[Line]
    most_bytes: int
    cpu_seconds: float


def one_after_another(tasks: Iterable[Task]) -> Iterator[Used]:
    for function, arguments in tasks:
        yield function(*arguments)


def merge_tree(
    source: str | Path, work: str | Path, base: Content | None = None, files_a_task: int = FILES_A_TASK,
    run: Callable[[Iterable[Task]], Iterable[Used]] = one_after_another,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Merged:  # fmt: skip
    """Merge all files of a folder. ValueError if none of them can be."""
    source, work, folder = str(source), str(work), Place(work)
    files = Place(source).names()
    if not files:
        raise ValueError(f"There are no files in {source}.")
    packed = None if base is None else statefile.to_bytes(base)
    messages = Place(source).read(files[0][0]).startswith(MAGIC)
    known = hashlib.sha256((packed or b"") + bytes([messages])).hexdigest()
    chunks = [files[start : start + files_a_task] for start in range(0, len(files), files_a_task)]
    keys = [_key(known, *(text for pair in chunk for text in pair)) for chunk in chunks]
    tasks: list[Task] = [
        (merge_files, (source, [name for name, _ in chunk], work, key, None if messages else packed, messages))
        for chunk, key in zip(chunks, keys, strict=True)
    ]
    used: list[Used] = []
    for one in run(tasks):
        used.append(one)
        progress(min(len(used) * files_a_task, len(files)), len(files))
    report = [line for key in keys for line in read_report(folder, key)]
    states = [key for key in keys if folder.has(f"{key}.state")]
    while len(states) > 1:
        groups = [states[start : start + STATES_A_TASK] for start in range(0, len(states), STATES_A_TASK)]
        states = [_key(known, *group) for group in groups]
        levels: list[Task] = [
            (merge_states, (work, group, key, None if messages else packed))
            for group, key in zip(groups, states, strict=True)
        ]
        used += run(levels)
    if not states:
        raise ValueError(f"No file of {source} can be merged: {report[0].name}: {report[0].reason}")
    report, removed = resolved(report)
    total = Total(None if messages else base, warns=False)
    total.add(statefile.from_bytes(folder.read(f"{states[0]}.state"), "What was merged"), "what was merged")
    if messages and base is not None:
        total.add(base, "the base")
    for line in removed:
        total.take_out(_opened(Place(source).read(line.name), line.name)[1], line.name)
    return Merged(total.content(), report, max(size for size, _ in used), sum(seconds for _, seconds in used))


def merge_files(source: str, names: Sequence[str], work: str, key: str, base: bytes | None, messages: bool) -> Used:
    """The sum of some files, and a line for each, written under the key; this process's most memory, and its time."""
    start = time.process_time()
    folder, place = Place(work), Place(source)
    if folder.has(f"{key}.json"):
        return 0, 0.0
    began = None if base is None else statefile.from_bytes(base, "The base")
    base_marks = frozenset() if began is None else marks_of(began)
    total, lines, counted = Total(began, warns=False), [], False  # `resolved` finds what counts twice
    for name in names:
        try:
            device, content = _opened(place.read(name), name)
            if bool(device) != messages:
                raise ValueError(
                    "It is a message, the others are states." if device else "It is a state, not a message."
                )
            if not content.state.names:
                raise ValueError("It has learned nothing.")
            total.add(content, "it")
            counted, own = True, tuple(sorted(marks_of(content) - base_marks))
            pictures = statistics_of(content.state).sums.pictures
            if began is not None:
                pictures -= statistics_of(began.state).sums.pictures
            lines.append(Line(name, COUNTED, pictures, "", device, own))
        except ValueError as error:
            lines.append(Line(name, REFUSED, 0, str(error)))
    if counted:
        folder.write(f"{key}.state", statefile.to_bytes(total.content()))
    folder.write(f"{key}.json", json.dumps([asdict(line) for line in lines]).encode())
    return _used(start)


def merge_states(work: str, keys: Sequence[str], key: str, base: bytes | None) -> Used:
    """The sum of some sums."""
    start = time.process_time()
    folder = Place(work)
    if not folder.has(f"{key}.state"):
        total = Total(None if base is None else statefile.from_bytes(base, "The base"), warns=False)
        for part in keys:
            total.add(statefile.from_bytes(folder.read(f"{part}.state"), part), part)
        folder.write(f"{key}.state", statefile.to_bytes(total.content()))
    return _used(start)


def read_report(work: Place, key: str) -> list[Line]:
    lines = json.loads(work.read(f"{key}.json"))
    return [Line(**line | {"marks": tuple(line["marks"])}) for line in lines]


def resolved(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """The report in which nothing counts twice, and the files that have to be taken out for it.

    Of files that share marks the one with the most pictures stays, the first of equals; a file whose marks are all in
    one that stays is a repeat, or replaced by it; any other that shares some is refused.
    """
    owner: dict[int, Line] = {}
    verdicts: dict[str, tuple[str, str]] = {}
    for line in sorted(lines, key=lambda line: -line.pictures):
        if line.verdict != COUNTED:
            continue
        first = next((owner[mark] for mark in line.marks if mark in owner), None)
        if first is None:
            owner |= dict.fromkeys(line.marks, line)
        elif set(line.marks) <= set(first.marks):
            same = line.pictures == first.pictures
            verdicts[line.name] = (REPEAT, f"It is {first.name}.") if same else (REPLACED, f"{first.name} holds it.")
        else:
            verdicts[line.name] = (REFUSED, f"Part of it has been counted with {first.name}.")
    report = [
        replace(line, verdict=verdicts[line.name][0], reason=verdicts[line.name][1]) if line.name in verdicts else line
        for line in lines
    ]
    return report, [line for line in lines if line.name in verdicts]


def _opened(data: bytes, name: str) -> tuple[str, Content]:
    """The device that a message names, and its content; a state names none."""
    if data.startswith(MAGIC):
        message = Message.from_bytes(data, name)
        return message.device, message.content
    return "", statefile.from_bytes(data, name)


def _key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def _used(start: float) -> Used:
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time() - start
