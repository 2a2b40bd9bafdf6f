"""Figures of matplotlib, if it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches."""
    try:
        module: Any = import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise ValueError("Plots need matplotlib: pip install 'bitreplay[plot]'.") from None
    return module.Figure(figsize=(width, height), dpi=120, layout="constrained")
