"""The paper's figure on q_b: 8, 16, 32 bits for all layers; binary weights that learn at 4 or 8 bits, or not at all.

    bitreplay reproduce fig_backward_bits

Claims: q_b = 8 for all layers drops, q_b^bin = 4 or 1 with q_b^non-bin = 16 holds. CIFAR-10, 200 images a class, codes
computed once.

Model files keep signs and no magnitudes. By default every latent weight starts as far from the other sign as any
other, and next to none gets there. `Spread`: distances are drawn evenly from 1 unit to twice the default, and the
latent weights' own rate is chosen on held-out pictures, among those that flip 1,000 weights or more. `Trained`:
distances in proportion to the magnitudes of training, known for one network that does not ship (a ReAct-18 of a
trial). 8/32/16: latent weights of 32 bits, as good as real ones. `Flips`, q_b^bin = 1: none are kept, and a weight
takes the other sign with the probability of its step (sign_flips.py; what was tried is under tuning). With binary
weights that learn, the rate of everything else is limited to 1/10 (rates.py); ReAct-18's would start at 0.28, and part
of its difference is that.
"""

from __future__ import annotations

from pathlib import Path

from grid import rows as read
from run import Run
from tables import MODELS, SWEPT, TITLES, Claim, Rows, Table, drawn
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


def moved(model: str, bits: str) -> Run:
    gain = LATENT_GAINS[model, bits]
    return Run(model=model, bits=bits, images=SWEPT, latent_start=STARTS[model], latent_gain=gain)


def fine(model: str) -> Run:
    return Run(model=model, bits="8/32/16", images=SWEPT, latent_start="spread")


LINES = {
    **{f"{q} for all layers": plain(q) for q in ("8/8/8", "16/16/16", "32/32/32")},
    **{f"{q}, binary weights frozen": plain(q) for q in ("8/1/8", "8/1/16", "8/1/32")},
    **{f"{q}, latent weights spread": [moved(m, q) for m in MODELS] for q in LEARNING},
    "8/32/16, latent weights spread": [fine(m) for m in MODELS],
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
    found = Rows(read(TRIAL), "-trial")
    learning = {label: line for label, line in lines.items() if "frozen" not in label}
    return [
        *drawn(Table("A ReAct-18 of a trial, whose magnitudes are known:", ["final accuracy"], lines), found),
        *drawn(Table("", ["other sign, of 7,077,888"], learning, "flipped"), found),
    ]


def claims(rows: Rows) -> list[Claim]:
    found = []
    for text, theirs, bits in (
        ("q_b^bin = 4 with q_b^non-bin = 16 holds", "no substantial loss", "8/4/16"),
        ("q_b^bin = 8 with q_b^non-bin = 16", "holds", "8/8/16"),
    ):
        learning = [moved(m, bits) for m in MODELS]
        gains = rows.differences(learning, plain("8/1/16"))
        flips = [row["flipped"] for run in learning for row in rows.of(run).rows]
        if not gains:
            found.append(Claim(text, theirs))
        else:
            told = f"{min(gains):+.1f} to {max(gains):+.1f} points against frozen weights, "
            told += f"{min(flips):,} to {max(flips):,} flips"
            verdict = "holds" if min(gains) >= -1 else "does not hold"
            found.append(Claim(text, theirs, told, verdict + (", no gain" if max(gains) < 0.5 else ", a gain")))
    return found
