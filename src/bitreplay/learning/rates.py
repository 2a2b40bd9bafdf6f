"""From which the learning rate of an experience follows, where none is given: gain / power, exactly.

`power` is about the mean of |x|^2 over the features x that the head reads. It decides how far one step moves the
logits, so one gain serves networks whose features differ in size. engine/method.py has the rate of each step;
docs/learner.md has figures.
"""

from __future__ import annotations

from fractions import Fraction

from bitreplay.engine.graph import Graph

SPAN_OF_DEVIATIONS = 16


def feature_power(graph: Graph, features: int) -> Fraction:
    """From the calibrated range of the head's input, of which 1/16 is about a standard deviation; signs have 1."""
    (source,) = graph.nodes[-1].inputs
    if source not in graph.ranges:
        return Fraction(features)
    low, high = graph.ranges[source]
    return features * ((high - low) / SPAN_OF_DEVIATIONS) ** 2
