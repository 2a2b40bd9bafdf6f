from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.install.clean import Machine, base_python


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder with this machine's wheel."""
    if not os.environ.get("BITREPLAY_DIST"):
        pytest.skip("BITREPLAY_DIST names no folder with a wheel: `make test-install` makes one.")
    return Path(os.environ["BITREPLAY_DIST"])


@pytest.fixture
def machine(tmp_path, dist) -> Machine:
    return Machine(tmp_path, dist, base_python())
