"""QuickNet and QuickNetLarge on object sessions, a stand-in for CORe50: NC in 9 experiences, NI session by session.

    bitreplay reproduce sessions

The paper's figure on CORe50: replay is better than BNN+CWR*. CORe50's images are not at hand. `object-sessions` has
its tree: 80 objects, five training sessions and three for the test, 12 frames each; cut-outs moved over photographs,
so semi-synthetic, and no figure here says anything about CORe50's. First 16 objects, then 8 at a time; 30 stored an
object, unless a line says otherwise. Float: a backbone and a tail of 32 bits and latents of 32 (fig_replay_memory).
"""

from __future__ import annotations

from fig_replay_memory import COUNTS, FLOAT, fewer_samples
from run import Run
from tables import TITLES, Chart, Claim, Rows, Table, span
from tuned import GAINS

MODELS = ("quicknet", "quicknet_large")
STRATEGIES = {"replay": "1-bit replay", "frozen-tail": "replay, frozen tail", "cwr": "BNN+CWR*", "exact": "exact sums"}


def usual(model: str, strategy: str, scenario: str = "nc") -> Run:
    return Run(data="sessions", model=model, strategy=strategy, scenario=scenario, images=None)


def at_best(model: str, strategy: str) -> Run:
    return usual(model, strategy).changed(gain=GAINS.get(("sessions", model, strategy, "nc", 5)))


TABLES = [
    Table("NC, final accuracy, BNN+CWR* at a gain tuned on a training session held out, the others at their own:",
          [TITLES[m] for m in MODELS],
          {name: [at_best(m, s) for m in MODELS] for s, name in STRATEGIES.items()}),
    Table("BNN+CWR* at its default gain, and joint training:", [TITLES[m] for m in MODELS],
          {name: [usual(m, s) for m in MODELS] for s, name in (("cwr", "BNN+CWR*"), ("joint", "joint training"))}),
    Table("NI, session by session, default gains:", [TITLES[m] for m in MODELS],
          {name: [usual(m, s, "ni") for m in MODELS]
           for s, name in (("replay", "1-bit replay"), ("cwr", "BNN+CWR*"), ("naive", "naive"))}),
    Table("NC, replay, 1-bit samples per object:", [TITLES[m] for m in MODELS],
          {str(n): [usual(m, "replay").changed(memory_per_class=n) for m in MODELS] for n in (15, 20, 30)}),
    Table("NC, replay, latents, 30 per object:", [TITLES[m] for m in MODELS],
          {"1 bit": [usual(m, "replay") for m in MODELS],
           "float": [usual(m, "replay").changed(**FLOAT) for m in MODELS]}, seeds=1),
]  # fmt: skip
CHARTS = [Chart("sessions", "Object sessions, QuickNet", {n: at_best("quicknet", s) for s, n in STRATEGIES.items()})]


def claims(rows: Rows) -> list[Claim]:
    pairs = [(rows.of(at_best(m, "replay")), rows.of(at_best(m, "cwr"))) for m in MODELS]
    gains = [ours.final - base.final for ours, base in pairs if ours and base]
    if not gains:
        return [Claim("CORe50, QuickNets: replay is better than BNN+CWR*", "better")]
    measured = f"object sessions, a stand-in: {span(gains, '+.1f')} points"
    better = Claim("CORe50, QuickNets: replay is better than BNN+CWR*", "better", measured, "holds on the stand-in"
                   if min(gains) > 0 else "does not hold on the stand-in")  # fmt: skip
    return [better, *memory(rows)]


def memory(rows: Rows) -> list[Claim]:
    """fig_replay_memory's claims on the stand-in."""
    usual_runs = [usual(m, "replay") for m in MODELS]
    lines = {n: [run.changed(memory_per_class=n) for run in usual_runs] for n in COUNTS}
    measured, verdict = fewer_samples(rows, lines)
    found = []
    if measured:
        text = "CORe50: 15, 20 or 30 samples per class: within a point"
        found.append(Claim(text, "within 1 %", f"object sessions: {measured}", f"{verdict} on the stand-in"))
    real = [run.changed(**FLOAT) for run in usual_runs]
    costs = rows.differences(real, usual_runs)
    if costs:
        measured = f"object sessions: 1 bit costs {span(costs, '.1f')} points{rows.seeds(real)}"
        verdict = "holds on the stand-in" if max(costs) <= 1 else f"a gap of up to {max(costs):.1f} points"
        found.append(Claim("CORe50: 1-bit latents against float", "a minimal accuracy gap", measured, verdict))
    return found
