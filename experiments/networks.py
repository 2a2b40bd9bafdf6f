"""Which network a published row names: the first generation, whatever came later."""

from __future__ import annotations

from bitreplay import zoo


def published(name: str) -> str:
    """A shipped network's first generation; a name with a generation, or a file, stays.

    >>> published("quicknet"), published("quicknet@2"), published("mine.safetensors")
    ('quicknet@1', 'quicknet@2', 'mine.safetensors')
    """
    return f"{name}@1" if name in zoo.names() else name
