"""The hash of a state by the rules of formats 1 and 2: over Python's repr of names and counters, and arrays by name."""

from __future__ import annotations

import hashlib

import numpy as np

from bitreplay.parts.state import State
from bitreplay.statefile.old.written_names import as_tuple


def hash_of_format_2(state: State) -> str:
    """What `state_hash` returned up to version 0.2."""
    text = f"({as_tuple(state.names)}, {sorted(state.counters().items())})"
    digest = hashlib.sha256(text.encode())
    for name, values in sorted(state.arrays().items()):
        little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {little.shape}".encode())
        digest.update(little.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
