"""A device's sums as one vector of integers, in the layout of a round, and the sum of all as a state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bitreplay import statefile
from bitreplay.engine.sums import width
from bitreplay.fleet.masking.terms import Terms
from bitreplay.fleet.since import need_sendable
from bitreplay.parts.class_statistics import ClassStatisticsState
from bitreplay.parts.digests import DigestsState
from bitreplay.parts.lineage import united
from bitreplay.parts.state import State
from bitreplay.statefile import Content
from bitreplay.strategies.exact import digests_of, statistics_of


def vector_of(content: Content, terms: Terms) -> NDArray[np.int64]:
    """What was learned since the base. ValueError, one sentence, if it has no place in the round."""
    need_sendable(content, terms.min_pictures)
    statistics = statistics_of(content.state)
    sums, known = statistics.sums, {name: row for row, name in enumerate(terms.names)}
    if digests_of(content.state).arrays or statistics.counters["forgotten"]:
        raise ValueError("States with digests, or with a class forgotten inexactly, cannot be masked.")
    if sums.n_features != terms.n_features or (statistics.class_products is not None) != terms.by_class:
        raise ValueError(f"The round adds up {terms.n_features} features, this device has {sums.n_features}.")
    if sums.pictures > terms.max_pictures:
        raise ValueError(f"The round takes {terms.max_pictures} pictures of a device, this one has {sums.pictures}.")
    strange = [name for name in statistics.names if name not in known]
    if strange:
        raise ValueError(f"The round has no class {strange[0]!r}.")
    rows = [known[name] for name in statistics.names]
    classes = len(terms.names)
    counts, class_sums = np.zeros(classes, np.int64), np.zeros((classes, sums.n_features), np.int64)
    counts[rows], class_sums[rows] = sums.counts, sums.class_sums
    parts = [[min(content.state.notes["experiences"], sums.pictures)], counts, class_sums.reshape(-1), sums.products]
    if statistics.class_products is not None:
        class_products = np.zeros((classes, len(sums.products)), np.int64)
        class_products[rows] = statistics.class_products
        parts.append(class_products.reshape(-1))
    vector = np.concatenate([np.asarray(part, np.int64) for part in parts])
    assert len(vector) == terms.length
    return vector


def content_of(total: NDArray[np.int64], terms: Terms, like: Content, marks: frozenset[int]) -> Content:
    """The sum as a state of the model and settings of `like`, checked as a stranger's. ValueError if no pictures have
    such sums: then a device did not send its own."""
    classes, d = len(terms.names), terms.n_features
    triangle = d * (d + 1) // 2
    ends = np.cumsum([1, classes, classes * d, triangle])
    experiences, counts, class_sums, products, class_products = np.split(total, ends)
    if (counts < 0).any() or counts.sum() > terms.devices * terms.max_pictures:
        raise ValueError("The round does not add up to pictures.")
    there = counts > 0
    class_sums = class_sums.reshape(classes, d)
    if class_sums[~there].any():
        raise ValueError("The round does not add up to pictures.")
    stored = width(int(counts.sum()))
    arrays = {
        "counts": counts[there],
        "class_sums": class_sums[there].astype(stored),
        "products": products.astype(stored),
    }
    if terms.by_class:
        arrays["class_products"] = class_products.reshape(classes, triangle)[there].astype(stored)
    names = tuple(name for name, seen in zip(terms.names, there, strict=True) if seen)
    sums = ClassStatisticsState(arrays, {"forgotten": 0}, 1, names)
    notes = {"experiences": max(int(experiences[0]), 0)}
    state = State(names, {"sums": sums, "digests": DigestsState({})}, {}, notes, united(marks).arrays())
    return statefile.from_bytes(statefile.to_bytes(replace(like, state=state)), "The round's sum")
