"""How many cores this process may use. Linux knows those that it was given; macOS only those of the machine."""

from __future__ import annotations

import os


def usable() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
