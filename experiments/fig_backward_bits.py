"""The paper's figure on q_b: 8, 16, 32 bits for all layers; binary weights that learn at 4 or 8 bits, or not at all.

    bitreplay reproduce fig_backward_bits

Claims: q_b = 8 for all layers drops, q_b^bin = 4 or 1 with q_b^non-bin = 16 holds. In the paper q_b^bin = 1 is a
frozen binary tail; so it is here. CIFAR-10, 500 images a class, codes computed once. `driven`: latent weights move
2^k times as fast as by default, k chosen on held-out pictures among those that flip 1,000 weights or more.
"""

from __future__ import annotations

from run import Run
from tables import MODELS, TITLES, Claim, Rows, Table
from tuned import LATENT_GAINS

COLUMNS = [TITLES[m] for m in MODELS]
LEARNING = ("8/4/16", "8/8/16", "16/16/16")
ROUNDED = {"float": None, "one scale a tensor, 8 bits": "tensor-8", "one scale a sample, 8 bits": "sample-8",
           "one scale a tensor, 6 bits": "tensor-6", "one scale a tensor, 4 bits": "tensor-4",
           "one scale a sample, 4 bits": "sample-4"}  # fmt: skip


def driven(model: str, bits: str) -> Run:
    return Run(model=model, bits=bits, latent_gain=LATENT_GAINS[model, bits])


LINES = {
    **{f"{q} for all layers": [Run(model=m, bits=q) for m in MODELS] for q in ("8/8/8", "16/16/16", "32/32/32")},
    **{f"{q}, binary weights frozen": [Run(model=m, bits=q) for m in MODELS] for q in ("8/1/8", "8/1/16", "8/1/32")},
    **{f"{q}, latent weights": [Run(model=m, bits=q) for m in MODELS] for q in ("8/4/16", "8/8/16")},
    **{f"{q}, latent weights driven": [driven(m, q) for m in MODELS] for q in ("8/4/16", "8/8/16")},
}
TABLES = [
    Table("Final accuracy:", COLUMNS, LINES),
    Table("Binary weights, of 7,077,888, that ended with the other sign, by seed:", COLUMNS,
          {label: line for label, line in LINES.items() if "latent" in label}, "flipped"),
    Table("A simulation in floating point that rounds activation gradients only:", COLUMNS,
          {label: [Run(model=m, bits="float", gradients=g) for m in MODELS] for label, g in ROUNDED.items()}),
]  # fmt: skip
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    found = []
    for text, theirs, other, most in (
        ("q_b^bin = 4 with q_b^non-bin = 16 holds", "no substantial loss", lambda m: driven(m, "8/4/16"), 1.0),
        ("q_b^bin = 8 with q_b^non-bin = 16", "holds", lambda m: driven(m, "8/8/16"), 1.0),
    ):
        pairs = [(rows.of(Run(model=m)), rows.of(other(m))) for m in MODELS]
        gains = [learns.final - frozen.final for frozen, learns in pairs if frozen and learns]
        flips = [row["flipped"] for _, learns in pairs for row in learns.rows]
        if not gains:
            found.append(Claim(text, theirs))
        else:
            told = f"{min(gains):+.1f} to {max(gains):+.1f} points against frozen weights, "
            told += f"{min(flips):,} to {max(flips):,} flips"
            verdict = "holds" if min(gains) >= -most else "does not hold"
            found.append(Claim(text, theirs, told, verdict + (", no gain" if max(gains) < 0.5 else ", a gain")))
    return found
