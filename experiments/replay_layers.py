"""The replay layer: (4, 4, 512) against (8, 8, 256), which is twice as many bits and a longer tail.

    bitreplay reproduce replay_layers

CIFAR-10, 200 images per class, codes computed once, 30 stored per class: 1 KiB against 2 KiB per sample. ReAct-18's
longer tail needs a lower learning rate, chosen on held-out pictures (tuning.py), and ends lower at every one
that was tried. QuickNet's two replay layers on object sessions, 512 bytes against 1 KiB per sample, one seed.
"""

from __future__ import annotations

from run import Run
from tables import SWEPT, Claim, Rows, Table
from tuned import LEVEL_GAINS

LONGER = Run(images=SWEPT, replay_layer="add_11")
SESSIONS = Run(data="sessions", model="quicknet", images=None)
TABLES = [
    Table(
        "Final accuracy:",
        ["(4, 4, 512)", "(8, 8, 256)"],
        {
            "ReAct-18": [Run(images=SWEPT), LONGER.changed(gain=LEVEL_GAINS["react18", "add_11"])],
            "ReAct-18 at one rate": [Run(images=SWEPT), LONGER],
            "Bi-Real-18": [
                Run(model="bireal18", images=SWEPT, replay_layer=replay_layer) for replay_layer in (None, "add_8")
            ],
        },
    ),
    Table(
        "Object sessions, final accuracy:",
        ["(4, 4, 256)", "(8, 8, 128)"],
        {"QuickNet": [SESSIONS, SESSIONS.changed(replay_layer="quant_conv2d_11")]},
        seeds=1,
    ),
]
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    return []
