"""The paper's figure on q_b: 8, 16, 32 bits for all layers; binary weights that learn at 4 or 8 bits, or not at all.

    bitreplay reproduce fig_backward_bits

Claims: q_b = 8 for all layers drops, q_b^bin = 4 or 1 with q_b^non-bin = 16 holds. CIFAR-10, 200 images per class,
codes computed once.

Model files keep signs and no magnitudes. By default every latent weight starts as far from the other sign as any
other, and next to none gets there. `Spread`: distances are drawn evenly from 1 unit to twice the default, and the
latent weights' own rate is chosen on held-out pictures, among those that flip 1,000 weights or more. `Trained`:
distances in proportion to the magnitudes of training, known for one network that does not ship (a ReAct-18 of a
trial). `Magnitude-aware`: spread about a start in proportion to the scale of each output, with which a step is that of
Bi-Real Net (engine/layers/latent_weights.py); Bi-Real-18 was trained so, ReAct-18 was not. 8/32/16: latent weights of
32 bits; float: real ones. `Flips`, q_b^bin = 1: none are kept, and a weight takes the other sign with the probability
of its step (sign_flips.py). With binary weights that learn, the rate of everything else is limited to 1/10 (rates.py);
ReAct-18's would start at 0.28, and part of its difference is that. Real latent weights end no higher than those of 4
bits, and none above frozen ones by more than the seeds differ: it is not bits that such learning lacks here.

A scale for each sample is not why 8 bits are enough here: in a simulation one scale a tensor does not drop at 8 bits
either, it does at 4.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from grid import rows as read
from run import Run
from tables import MODELS, SWEPT, TITLES, Claim, Rows, Table, render_table, span
from tuned import LATENT_GAINS
from tuning import STARTS

TRIAL = Path(__file__).parent / "results" / "latent_trial.jsonl"
COLUMNS = [TITLES[m] for m in MODELS]
LEARNING = ("8/4/16", "8/8/16")
ROUNDED = {"float": None, "one scale a tensor, 8 bits": "tensor-8", "one scale a sample, 8 bits": "sample-8",
           "one scale a tensor, 6 bits": "tensor-6", "one scale a tensor, 4 bits": "tensor-4",
           "one scale a sample, 4 bits": "sample-4"}  # fmt: skip


def plain(bits: str) -> list[Run]:
    return [Run(model=m, bits=bits, images=SWEPT) for m in MODELS]


def sixteen(model: str) -> Run:
    """16 bits for all layers, with weights that move: what the paper compares 4 bits with."""
    return Run(model=model, bits="16/16/16", images=SWEPT, latent_start=STARTS[model])


def moved(model: str, bits: str) -> Run:
    gain = LATENT_GAINS[model, bits]
    return Run(model=model, bits=bits, images=SWEPT, latent_start=STARTS[model], latent_gain=gain)


def fine(model: str, **fields: Any) -> Run:
    return Run(model=model, bits="8/32/16", images=SWEPT, latent_start="spread").changed(**fields)


def aware(model: str) -> Run:
    gain = LATENT_GAINS[model, "8/8/16, magnitude"]
    return Run(model=model, bits="8/8/16", images=SWEPT, latent_start="magnitude", latent_gain=gain)


def flips(model: str) -> Run:
    return Run(model=model, bits="8/4/16", binary="flips", images=SWEPT, latent_gain=LATENT_GAINS[model, "flips"])


LINES = {
    **{f"{q} for all layers": plain(q) for q in ("8/8/8", "16/16/16", "32/32/32")},
    **{f"{q}, binary weights frozen": plain(q) for q in ("8/1/8", "8/1/16")},
    **{f"{q}, latent weights spread": [moved(m, q) for m in MODELS] for q in LEARNING},
    "8/8/16, latent weights magnitude-aware": [aware(m) for m in MODELS],
    "8/32/16, latent weights spread": [fine(m) for m in MODELS],
    "float, latent weights spread": [fine(m, bits="float", binary="latents") for m in MODELS],
    "flips without latent weights": [flips(m) for m in MODELS],
    "float, binary weights frozen": plain("float"),
}
TABLES = [
    Table("Final accuracy:", COLUMNS, LINES),
    Table("Binary weights, of 7,077,888, that ended with the other sign, by seed:", COLUMNS,
          {label: line for label, line in LINES.items() if "frozen" not in label}, "flipped"),
    Table("A simulation in floating point that rounds activation gradients only:", COLUMNS,
          {label: [Run(model=m, bits="float", gradients=g, images=SWEPT) for m in MODELS]
           for label, g in ROUNDED.items()}),
]  # fmt: skip
CHARTS: list = []


def section(rows: Rows) -> list[str]:
    """The network of a trial; it cannot be run from the repository."""
    lines = {"8/1/16, binary weights frozen": [Run(model="trial", images=SWEPT)]}
    lines |= {f"{q}, latent weights as trained": [moved("trial", q)] for q in LEARNING}
    trial = Rows(read(TRIAL), "-trial")
    learning = {label: line for label, line in lines.items() if "frozen" not in label}
    return [
        *render_table(Table("A ReAct-18 of a trial, whose magnitudes are known:", ["final accuracy"], lines), trial),
        *render_table(Table("", ["other sign, of 7,077,888"], learning, "flipped"), trial),
    ]


def claims(rows: Rows) -> list[Claim]:
    results = []
    for text, theirs, bits in (
        ("q_b^bin = 4 with q_b^non-bin = 16 holds", "no substantial loss", "8/4/16"),
        ("q_b^bin = 8 with q_b^non-bin = 16", "Table 2's setting", "8/8/16"),
    ):
        learning = [moved(m, bits) for m in MODELS]
        gains = rows.differences(learning, plain("8/1/16"))
        flips = [row["flipped"] for run in learning for row in rows.of(run).rows]
        if not gains:
            results.append(Claim(text, theirs))
        else:
            measured = f"{span(gains, '+.1f')} points against frozen weights"
            against = rows.differences(learning, [sixteen(m) for m in MODELS])
            measured += f", {span(against, '+.1f')} against 16/16/16 with weights that move" if against else ""
            measured += f"; {span(flips, ',')} flips"
            verdict = "does not hold" if min(gains + against) < -1 else "no substantial loss"
            verdict += "" if min(gains) > -0.5 else f", up to {-min(gains):.1f} points below frozen weights"
            results.append(Claim(text, theirs, measured, verdict + (", no gain" if max(gains) < 0.5 else ", a gain")))
    return [*results, frozen(rows), without_latents(rows), memory(rows)]


def frozen(rows: Rows) -> Claim:
    """In the paper q_b^bin = 1 means that binary weights stay as they are."""
    claim = Claim("q_b^bin = 1 with q_b^non-bin = 16: binary weights frozen", "preserves accuracy")
    learning = [*plain("16/16/16"), *(moved(m, bits) for bits in LEARNING for m in MODELS)]
    gains = rows.differences(plain("8/1/16") * (len(learning) // len(MODELS)), learning)
    if not gains:
        return claim
    measured = f"{span(gains, '+.1f')} points against weights that learn (16/16/16, 8/8/16, 8/4/16)"
    return replace(claim, ours=measured, verdict="holds" if min(gains) >= -1 else "does not hold")


def without_latents(rows: Rows) -> Claim:
    claim = Claim("(not in the paper) binary weights that learn at 1 bit, without latent weights", "-")
    gains = rows.differences([flips(m) for m in MODELS], plain("8/1/16"))
    if not gains:
        return claim
    flipped = [row["flipped"] for m in MODELS for row in rows.of(flips(m)).rows]
    measured = f"{span(gains, '+.1f')} points against frozen ones, "
    measured += f"{span(flipped, ',')} flips{rows.seeds(flips(m) for m in MODELS)}"
    return replace(claim, ours=measured, verdict="no loss, no gain" if min(gains) >= -1 else "a loss")


def memory(rows: Rows) -> Claim:
    """Counted from the weights of the rows."""
    claim = Claim("q_b^bin = 4: less memory for binary weights", "8 times less")
    rows_of = rows.of(moved("react18", "8/4/16")).rows
    if not rows_of:
        return claim
    count = rows_of[0]["binary_weights"]
    measured = f"{count / 2e6:.1f} MB of 4 bits, {4 * count / 1e6:.1f} MB of float32; signs alone {count / 8e6:.1f} MB"
    return replace(claim, ours=measured, verdict="holds")
