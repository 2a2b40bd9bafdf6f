"""matplotlib, if it is there."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def figure(width: float, height: float) -> Any:
    """An empty figure of so many inches."""
    try:
        made: Any = import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise ValueError("Pictures of results need matplotlib: pip install 'bitreplay[plot]'.") from None
    return made.Figure(figsize=(width, height), dpi=120, layout="constrained")
