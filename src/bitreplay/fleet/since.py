"""What a learner has learned since its base: the state of one that never saw the base's pictures.

    since(content, base)         content - base; content_of(learner) is a learner's
    begun(learner, device, 3)    a learner that knows nothing, whose experiences are marked as this device's third lot

Marks of a lineage follow from pictures alone, so two devices that see equal pictures would have equal marks. A learner
that is begun here carries a first mark of its device and lot, from which all later ones follow: no two lots share one.
"""

from __future__ import annotations

from dataclasses import replace

from bitreplay.arguments import short_repr
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name
from bitreplay.lifecycle.merging import Total
from bitreplay.parts.lineage import Lineage
from bitreplay.sections.native import mark_of
from bitreplay.statefile import Content
from bitreplay.strategies.exact import statistics_of

MIN_PICTURES = 5


def content_of(learner: Learner) -> Content:
    """What a state file of this learner would hold."""
    if learner.model is None:
        raise ValueError("A fleet needs learners that were made from a model file.")
    return Content(learner.model.name, learner.model.digest, learner.settings, learner.state(), learner.strategy.side)


def since(content: Content, base: Content | None) -> Content:
    """What was learned since the base. ValueError if the state does not contain it."""
    total = Total()
    total.add(content, "the state")
    if base is not None and base.state.names:
        total.take_out(base, "the base")
    return total.content()


def begun(learner: Learner, device: str, lot: int) -> None:
    """Make a learner that knows nothing the beginning of a device's lot."""
    if learner.labels:
        raise ValueError("A lot begins with a learner that knows nothing.")
    lineage = Lineage(frozenset({first_mark(device, lot)}))
    learner.restore(replace(learner.state(), note_arrays=lineage.arrays()))


def first_mark(device: str, lot: int) -> int:
    """The mark that a device's lot begins with."""
    return mark_of(f"{device}/{lot}".encode())


def marks_of(content: Content) -> frozenset[int]:
    return Lineage.read(content.state.note_arrays).marks


def short_classes(content: Content, min_pictures: int) -> dict[Name, int]:
    """Classes with fewer pictures than a device may send, and how many they lack."""
    statistics = statistics_of(content.state)
    counts = dict(zip(statistics.names, statistics.sums.counts.tolist(), strict=True))
    return {name: min_pictures - count for name, count in counts.items() if count < min_pictures}


def need_sendable(content: Content, min_pictures: int = MIN_PICTURES) -> None:
    """ValueError unless there is something to send and each class in it has enough pictures."""
    if not statistics_of(content.state).names:
        raise ValueError("Nothing was learned since the base: there is nothing to send.")
    short = short_classes(content, min_pictures)
    if short:
        listed = ", ".join(f"{lacks} of {short_repr(name)}" for name, lacks in list(short.items())[:5])
        more = f" and {len(short) - 5} more classes" if len(short) > 5 else ""
        raise ValueError(
            f"A device sends a class from {min_pictures} pictures on; wait for {listed}{more}: the sums of fewer would "
            "show them."
        )
