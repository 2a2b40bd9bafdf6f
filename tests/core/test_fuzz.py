"""The learner in C under the sanitizers and a fuzzer: models, states and call orders, 100,000 of them (`make fuzz`)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bitreplay import Learner, statefile
from bitreplay.export import image_of
from tests import tiny

FOLDER = os.environ.get("BITREPLAY_FUZZ", "")
INPUTS, RUNS = 25_000, 4


@pytest.mark.skipif(not FOLDER, reason="make fuzz builds the fuzzer with the sanitizers")
@pytest.mark.parametrize("seed", range(RUNS))
def test_hostile_models_states_and_calls_end_in_no_finding(seed, tiny_model, tmp_path):
    kept = {"digests": True, "exact_forget": True} if seed % 2 else {}
    learner = Learner.from_pretrained(tiny_model, strategy="exact", numbers="head", **kept)
    (tmp_path / "model.bin").write_bytes(image_of(learner))
    images = tiny.pictures("red", "green", "blue", each=2)[0]
    learner.learn(images[:3], ["a", "pear", 1])
    (tmp_path / "base").write_bytes(statefile.to_bytes(learner._content()))
    learner.learn(images[3:], ["a", "pear", 1])
    (tmp_path / "state").write_bytes(statefile.to_bytes(learner._content()))
    binary = Path(FOLDER) / "fuzz_learner"
    symbols = subprocess.run(["nm", binary], capture_output=True, text=True, check=True).stdout
    assert "__asan_init" in symbols and "__ubsan_handle" in symbols
    command = [binary, tmp_path / "model.bin", tmp_path / "state", tmp_path / "base", str(INPUTS), str(seed)]
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1"}
    done = subprocess.run(command, capture_output=True, text=True, env=options)
    assert done.returncode == 0, done.stderr
    inputs, _, opened = done.stdout.partition(" inputs, ")
    assert int(inputs) == INPUTS and int(opened.split()[0]) > INPUTS // 100
