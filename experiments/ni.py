"""NI: ten experiences that each bring a tenth of every class.

    bitreplay reproduce ni

Claim (after Pellegrini et al.): a replay memory does not help much there. CIFAR-10, 500 images per class, codes
computed once. CIFAR-100 (re-split), all its 500, one seed.
"""

from __future__ import annotations

from collections.abc import Callable

from run import Run
from tables import MODELS, TITLES, Chart, Claim, Rows, Table, span

STRATEGIES = {"replay": "1-bit replay", "cwr": "BNN+CWR*", "naive": "naive: tail and head, no memory"}


def usual(model: str, strategy: str) -> Run:
    return Run(model=model, strategy=strategy, scenario="ni")


def of_hundred(model: str, strategy: str) -> Run:
    return usual(model, strategy).changed(data="cifar100", images=None)


TABLES = [
    Table("Final accuracy, default gains:", [TITLES[m] for m in MODELS],
          {name: [usual(m, s) for m in MODELS] for s, name in STRATEGIES.items()}),
    Table("CIFAR-100 (re-split), final accuracy, default gains:", [TITLES[m] for m in MODELS],
          {name: [of_hundred(m, s) for m in MODELS] for s, name in STRATEGIES.items()}, seeds=1),
]  # fmt: skip
TEXT, THEIRS = "NI: a replay memory helps little", "did not significantly enhance accuracy"
CHARTS = [Chart("ni", "CIFAR-10, NI, ReAct-18", {name: usual("react18", s) for s, name in STRATEGIES.items()})]


def claims(rows: Rows) -> list[Claim]:
    sets = {"CIFAR-10": usual, "CIFAR-100, one seed": of_hundred}
    gains = {title: each for title, run in sets.items() if (each := gains_of_memory(rows, run))}
    if not gains:
        return [Claim(TEXT, THEIRS)]
    texts = [f"{span(points, '+.1f')} points ({title})" for title, points in gains.items()]
    most = max(max(points) for points in gains.values())
    verdict = "holds: it does not help" if most <= 0 else "holds" if most < 3 else "it helps more here"
    measured = f"{', '.join(texts)} against the better of the two without a memory"
    return [Claim(TEXT, THEIRS, measured, verdict)]


def gains_of_memory(rows: Rows, run: Callable[[str, str], Run]) -> list[float]:
    """Replay less the better of the two without a memory, network by network."""
    results = [[rows.of(run(m, s)) for s in STRATEGIES] for m in MODELS]
    return [replay.final - max(cwr.final, naive.final) for replay, cwr, naive in results if replay and cwr and naive]
