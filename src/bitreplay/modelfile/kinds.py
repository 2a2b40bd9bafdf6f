"""The kinds of nodes that a model file may hold: those that their layers declare (engine/kind.py).

`docs/file-format.md` prints the same table.
"""

from __future__ import annotations

from bitreplay.engine.kind import Kind
from bitreplay.engine.layers import LAYERS

KINDS: dict[str, Kind] = {name: layer.kind for name, layer in LAYERS.items() if layer.kind is not None}
MAX_ELEMENTS = 1 << 26
POSITIVE = ("inverse_sigma", "scale")
