"""Lives from seeds: disk, signals, clients and kills against a small model of what must be there (world.py).

`make simulate` lives 10,000 of them; BITREPLAY_LIVES=FIRST,END lives those of these seeds. A seed that failed once is
kept in FAILED.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import tiny
from tests.serve import serving
from tests.simulation import command_life, service_life

assert serving  # what `serve` needs is installed

EVENTS = 6
FIRST, END = (int(number) for number in os.environ.get("BITREPLAY_LIVES", "0,15").split(","))
# Of commands: 18 a rollback between two names of one file. Of serve: none yet.
FAILED = {"commands": [18], "serve": []}


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Path, Path]]:
    """A folder, in memory where that is possible, and a model."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder), tiny.model(Path(folder))


def seeds(kind: str) -> list[int]:
    """Those that failed once, and more."""
    return sorted({*FAILED[kind], *range(FIRST, END)})


def live(kind: type, chosen: list[int], place: tuple[Path, Path]) -> None:
    folder, model = place
    for seed in chosen:
        life = kind(seed, folder / "life", model)
        try:
            life.live(EVENTS)
        except BaseException as error:
            story = "\n".join(life.told)
            how = f"{type(error).__name__}: {error}"
            raise AssertionError(f"The life of seed {seed} ended with {how}\n{story}") from error


def test_lives_of_the_command_line(place):
    live(command_life.Life, seeds("commands"), place)


def test_lives_of_serve(place):
    live(service_life.Life, seeds("serve"), place)
