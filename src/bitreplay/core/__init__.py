"""The native core, a library that C compiled: core/include is its interface, interface.py the same for ctypes.

It lies beside the package (bitreplay/_lib), or where BITREPLAY_LIBRARY says.

    library().br_sums_bits(1000)          every function of the headers, with its types
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

from bitreplay.core.interface import BR_ABI, FUNCTIONS

BESIDE_THE_PACKAGE = Path(__file__).resolve().parents[1] / "_lib" / "libbitreplay_core.so"
LIBRARY = Path(os.environ.get("BITREPLAY_LIBRARY") or BESIDE_THE_PACKAGE)


@cache
def library() -> ctypes.CDLL:
    """The loaded core; OSError if it is missing, built for another machine, or built from other headers."""
    core = ctypes.CDLL(str(LIBRARY))
    declare(core)
    if core.br_abi() != BR_ABI:
        raise OSError(f"{LIBRARY} has version {core.br_abi()} of the C interface, expected {BR_ABI}")
    return core


@cache
def available() -> ctypes.CDLL | None:
    """The loaded core, or none: then the reference in NumPy takes its place."""
    try:
        return library()
    except OSError:
        return None


def declare(core: ctypes.CDLL) -> None:
    """Tell ctypes the types of the functions. Builds without a heap lack some of them."""
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(core, name, None)
        if function is not None:
            function.restype, function.argtypes = result, arguments
