"""The learning rate of each step of an experience, in integers and fractions.

    first = gain / power * sqrt(20 / steps)             unless the user gave it; baselines have no square root
    step k of n: first * (n - k) / n                    it falls evenly, so that an experience ends settled

`power` is about the mean of |x|^2 over the features x that the head reads. It decides how far one step moves the
logits, so one gain serves networks whose features differ in size. A long experience of replay takes
smaller steps, which was found by measuring; the baselines take the same however long it is. Binary weights that
learn flip too often at a high rate, which ends everything, so the start has a lower limit then.
docs/learner.md has the figures.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from bitreplay.engine.graph import Graph

REFERENCE_STEPS = 20
MOST, MAX_WITH_FLIPS = Fraction(1), Fraction(1, 10)
SPAN_OF_DEVIATIONS = 16
ROOT_POINT = 32


def feature_power(graph: Graph, features: int) -> Fraction:
    """From the calibrated range of the head's input, of which 1/16 is about a standard deviation; signs have 1."""
    (source,) = graph.nodes[-1].inputs
    if source not in graph.ranges:
        return Fraction(features)
    low, high = graph.ranges[source]
    return features * ((high - low) / SPAN_OF_DEVIATIONS) ** 2


def first_rate(gain: Fraction, power: Fraction, steps: int, *, eased: bool = False, flips: bool = False) -> Fraction:
    """The first rate of an experience with this many steps: lower the longer it is if `eased`, and limited further if
    binary weights learn too (`flips`)."""
    root = isqrt((REFERENCE_STEPS << 2 * ROOT_POINT) // steps)
    length = Fraction(root, 1 << ROOT_POINT) if eased else 1
    return min(gain / power * length, MAX_WITH_FLIPS if flips else MOST)


def rate_at(first: Fraction, done: int, steps: int) -> Fraction:
    """The rate of the step after `done` of all `steps`."""
    return first * Fraction(steps - done, steps)
