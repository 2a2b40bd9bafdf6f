import os
from pathlib import Path

import pytest


@pytest.fixture
def real_set():
    """Path of a real data set by its folder's name, or skip."""

    def find(name: str) -> Path:
        path = Path(os.environ.get("BITREPLAY_DATA", "")) / name
        if "BITREPLAY_DATA" not in os.environ or not path.exists():
            pytest.skip(f"BITREPLAY_DATA names no folder with {name}.")
        return path

    return find
