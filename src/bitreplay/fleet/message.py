"""What a device sends: its sums since the base, packed (packing.py), under the device's name and with their lineage.

    data = Message.of("scale-17", learner, base).to_bytes()
    message = Message.from_bytes(data)          checked as a stranger's state file is
    message.content, message.marks

The bytes, in this order:

    8 bytes    "BRMSG1", and two zeros
    4 bytes    length of the header, little-endian
    header     JSON: device, model, settings, names of classes, counters, lineage, lengths of what follows
    arrays     counts, class sums, products, and where the settings keep them products of classes and digests
    32 bytes   sha256 of all before: damage on the way is refused; whoever can change a message can write another
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay import statefile
from bitreplay.engine.sums import MAX_FEATURES, narrowed, width
from bitreplay.fleet.packing import expected_products, packed, unpacked
from bitreplay.fleet.since import MIN_PICTURES, content_of, marks_of, need_sendable, since
from bitreplay.learner import Learner
from bitreplay.parts.class_statistics import ClassStatisticsState
from bitreplay.parts.digests import DigestsState
from bitreplay.parts.state import State
from bitreplay.settings import Settings
from bitreplay.statefile import Content
from bitreplay.strategies.exact import digests_of, statistics_of

MAGIC = b"BRMSG1\0\0"
MAX_HEADER = 1 << 24
MAX_CLASSES = 1 << 16
DEVICE = re.compile(r"[A-Za-z0-9._-]{1,64}")


class MessageError(ValueError):
    """A message that is not used; one sentence says why."""


@dataclass(frozen=True)
class Message:
    device: str
    content: Content

    @classmethod
    def of(
        cls, device: str, learner: Learner, base: Learner | None = None, min_pictures: int = MIN_PICTURES
    ) -> Message:
        """What a learner has learned since its base. ValueError if that is nothing, or too little of a class."""
        need_device(device)
        content = since(content_of(learner), None if base is None else content_of(base))
        need_sendable(content, min_pictures)
        return cls(device, content)

    @property
    def marks(self) -> frozenset[int]:
        return marks_of(self.content)

    @property
    def pictures(self) -> int:
        return statistics_of(self.content.state).sums.pictures

    def to_bytes(self) -> bytes:
        need_device(self.device)
        content, pieces, lengths = self.content, [], []
        for numbers in _numbers(content.state):
            data, size = packed(numbers)
            pieces.append(data)
            lengths.append([len(data), size, numbers.size])
        state = content.state
        header = json.dumps(
            {"device": self.device, "model": [content.model, content.digest, content.size],
             "settings": content.settings.to_dict(),
             "names": list(state.names), "n_features": statistics_of(state).sums.n_features,
             "forgotten": statistics_of(state).counters["forgotten"], "experiences": state.notes["experiences"],
             "lineage": {name: marks.tolist() for name, marks in state.note_arrays.items()}, "arrays": lengths},
            sort_keys=True, separators=(",", ":"),
        ).encode()  # fmt: skip
        data = b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *pieces])
        return data + hashlib.sha256(data).digest()

    @staticmethod
    def from_bytes(data: bytes, title: str = "The message") -> Message:
        """ValueError for what is damaged, or has sums that no pictures have."""
        body, digest = data[:-32], data[-32:]
        if not data.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
            raise MessageError(f"{title} is damaged, or is not a message of a device.")
        try:
            device, content = _read(body)
            return Message(device, statefile.from_bytes(statefile.to_bytes(content), title))
        except (KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError) as error:
            raise MessageError(f"{title} cannot be used: its header is invalid ({type(error).__name__}).") from None
        except ValueError as error:
            text = str(error)
            raise MessageError(text if text.startswith(title) else f"{title} cannot be used: {text}") from None


def most_bytes(state_bytes: int) -> int:
    """No message about so many bytes of sums is larger, but for the names of classes and marks of experiences: zlib
    adds less than one part in 4,096, and up to 65,536 pictures no number takes more bytes than in a state."""
    return state_bytes + (state_bytes >> 11) + 2048


def need_device(name: str) -> None:
    if not isinstance(name, str) or not DEVICE.fullmatch(name):
        raise MessageError("A device is named by 1 to 64 letters, digits, dots, hyphens and underscores.")


def _numbers(state: State) -> Iterator[NDArray]:
    """The arrays of a state, products without what the class sums tell of them."""
    statistics, digests = statistics_of(state), digests_of(state)
    sums = statistics.sums
    yield sums.counts
    yield sums.class_sums
    yield sums.products - expected_products(sums.counts, sums.class_sums)
    if statistics.class_products is not None:
        for count, row, products in zip(sums.counts, sums.class_sums, statistics.class_products, strict=True):
            yield products - expected_products(count[None], row[None])
    if digests.arrays:
        yield digests.arrays["values"].view(np.int64)


def _read(body: bytes) -> tuple[str, Content]:
    start = len(MAGIC) + 4
    size = int.from_bytes(body[len(MAGIC) : start], "little")
    if size > MAX_HEADER:
        raise ValueError(f"Its header has {size} bytes, at most {MAX_HEADER} are allowed.")
    header = json.loads(body[start : start + size])
    need_device(header["device"])
    settings, names, n_features = Settings.of(**header["settings"]), header["names"], header["n_features"]
    if type(n_features) is not int or not 1 <= n_features <= MAX_FEATURES or len(names) > MAX_CLASSES:
        raise ValueError(f"It must have 1 to {MAX_FEATURES} features and at most {MAX_CLASSES} classes.")
    counters = {"forgotten": header["forgotten"]}
    if any(type(header[name]) is not int or header[name] < 0 for name in ("forgotten", "experiences")):
        raise ValueError("Its counters must be integers from 0.")
    arrays = _arrays(body[start + size :], header["arrays"])
    triangle, classes = n_features * (n_features + 1) // 2, len(names)
    counts = next(arrays)(classes)
    if int(counts.min(initial=0)) < 0 or int(counts.max(initial=0)) >= 1 << 31:
        raise ValueError("Its numbers of pictures are impossible.")
    class_sums = next(arrays)(classes * n_features).reshape(classes, n_features)
    products = next(arrays)(triangle) + expected_products(counts, class_sums)
    stored = width(int(counts.sum()))
    if counters["forgotten"]:
        stored = narrowed(products, stored).dtype
    found = {"counts": counts, "class_sums": _of(class_sums, stored), "products": _of(products, stored)}
    if settings.exact_forget:
        rows = [next(arrays)(triangle) + expected_products(counts[c : c + 1], class_sums[c : c + 1])
                for c in range(classes)]  # fmt: skip
        found["class_products"] = _of(np.array(rows, np.int64).reshape(classes, triangle), stored)
    kept = DigestsState({})
    if settings.digests and classes:
        values = next(arrays)(int(counts.sum())).view(np.uint64)
        kept = DigestsState({"sizes": counts.copy(), "values": values}, {}, 1, tuple(names))
    if next(arrays, None) is not None:
        raise ValueError("It has more arrays than its settings say.")
    statistics = ClassStatisticsState(found, counters, 1, tuple(names))
    state = State(tuple(names), {"sums": statistics, "digests": kept}, {}, {"experiences": header["experiences"]},
                  _lineage(header["lineage"]))  # fmt: skip
    model, digest, side = header["model"]
    if type(side) is not int:
        raise ValueError("It must name the size of its images.")
    return header["device"], Content(str(model), str(digest), settings, state, side)


def _lineage(marks: dict[str, list[int]]) -> dict[str, NDArray[np.uint64]]:
    return {name: np.array(marks[name], np.uint64) for name in ("lineage.merged", "lineage.since")}


def _arrays(data: bytes, lengths: list[Any]) -> Iterator[Any]:
    """A function for each array, which is called with the number of elements that it must have."""
    for size, element, _ in lengths:
        if type(size) is not int or not 0 <= size <= len(data):
            raise ValueError("It is shorter than its header says.")
        piece, data = data[:size], data[size:]
        yield lambda count, piece=piece, element=element: unpacked(piece, element, count)
    if data:
        raise ValueError("It is longer than its header says.")


def _of(array: NDArray[np.int64], stored: np.dtype) -> NDArray:
    array = narrowed(array, stored)
    if array.dtype != stored:
        raise ValueError("Its sums are larger than its pictures can make them.")
    return array
