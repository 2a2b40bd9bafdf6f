"""What every layer must hold, the engine's own and a user's. `check_layer` fails with a sentence saying what is wrong.

    LAYERS["my_kind"] = MyLayer
    graph = small_graph([Node("mine", "my_kind", ("before",))], (4, 4, 5), {"mine": (Fraction(-2), Fraction(2))})
    check_layer(graph, "mine", Oracle(forward, backward), bits=Bits(8, 1, 16))

Checked are: shapes are as declared and every element is written; the same input gives the same output and stays as it
was; no floating-point array is made; a saved and read program gives the same bytes and results; a learning rate of 0,
and samples without gradient, change nothing; the arena is just what was planned; values and gradients agree with a
float64 oracle.
"""

from __future__ import annotations

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.checks.bench import Bench, CheckError, small_graph
from bitreplay.engine.checks.gradients import Oracle, check_gradients, check_values
from bitreplay.engine.checks.runs import check_arena, check_idle, check_pure, check_saved, check_shapes, check_whole
from bitreplay.engine.graph import Graph

__all__ = ["Bench", "CheckError", "Oracle", "check_layer", "small_graph"]


def check_layer(
    graph: Graph, name: str, oracle: Oracle | None = None, *, bits: Bits | None = None, samples: int = 3, seed: int = 0
) -> None:
    """All checks of one node of a small graph, for one choice of bit widths; without an oracle all but the last two."""
    bits = bits or Bits()
    bench = Bench.build(graph, bits, samples, seed)
    check_shapes(bench, name)
    check_pure(bench, name)
    check_whole(bench)
    check_saved(bench)
    check_idle(bench)
    check_arena(bench, Bench.build(graph, bits, samples, seed, keep=False))
    if oracle is not None:
        check_values(bench, name, oracle)
        check_gradients(bench, name, oracle)
