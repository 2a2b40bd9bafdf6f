"""Systems on which Python knows less of the machine: macOS has no sched_getaffinity."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bitreplay.core import cores
from bitreplay.engine.machine_pool import max_concurrent_runs
from tests import tiny

LEARNS = """
import os
for name in ("sched_getaffinity", "sched_setaffinity"):
    if hasattr(os, name):
        delattr(os, name)
import sys
from bitreplay.cli import main
sys.argv = ["bitreplay", *sys.argv[1:]]
main()
"""


def test_without_sched_getaffinity_the_machines_cores_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert cores.usable() == 3 and max_concurrent_runs() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores.usable() == 1


@pytest.mark.parametrize("strategy", ["exact", "replay"])
def test_a_learner_starts_and_answers_without_it(tiny_model, tmp_path, strategy):
    from PIL import Image

    (tmp_path / "red").mkdir()
    Image.fromarray(tiny.pictures("red", each=1)[0][0]).save(tmp_path / "red" / "1.png")
    given = ("learn", str(tmp_path / "state"), str(tmp_path), "--strategy", strategy, "--model", str(tiny_model))
    found = subprocess.run([sys.executable, "-c", LEARNS, *given], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
