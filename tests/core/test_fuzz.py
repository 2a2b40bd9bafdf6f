"""The learners in C under the sanitizers and a fuzzer: models, states and call orders, 100,000 each (`make fuzz`)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bitreplay import Learner, statefile
from bitreplay.export import image_of
from tests import tiny
from tests.strategies.prior_companion import model_with_prior

FOLDER = os.environ.get("BITREPLAY_FUZZ", "")
INPUTS, LIVES, RUNS = 25_000, 10_000, 4
SMALL: dict[str, Any] = {
    "strategy": "replay", "batch_size": 3, "replay_batch_size": 5, "memory_per_class": 3, "epochs": 1, "min_steps": 2,
}  # fmt: skip


@pytest.mark.skipif(not FOLDER, reason="make fuzz builds the fuzzer with the sanitizers")
@pytest.mark.parametrize("seed", range(RUNS))
def test_hostile_models_states_and_calls_end_in_no_finding(seed, tiny_model, tmp_path):
    """Half of them keep digests and class products, and half have a prior."""
    extra: dict[str, Any] = {"digests": True, "exact_forget": True} if seed % 2 else {}
    has_prior = seed // 2 % 2
    extra |= {"n_components": 8} if has_prior else {"feature_layers": "head"}
    learner = Learner.from_pretrained(model_with_prior(tmp_path) if has_prior else tiny_model, **extra)
    (tmp_path / "model.bin").write_bytes(image_of(learner))
    images = tiny.pictures("red", "green", "blue", each=2)[0]
    learner.learn(images[:3], ["a", "pear", 1])
    (tmp_path / "base").write_bytes(statefile.to_bytes(learner._content()))
    learner.learn(images[3:], ["a", "pear", 1])
    (tmp_path / "state").write_bytes(statefile.to_bytes(learner._content()))
    inputs, opened = fuzzed("fuzz_learner", tmp_path / "model.bin", tmp_path / "state", tmp_path / "base", seed)
    assert inputs == INPUTS and opened > INPUTS // 100


@pytest.mark.skipif(not FOLDER, reason="make fuzz builds the fuzzer with the sanitizers")
@pytest.mark.parametrize("seed", range(RUNS))
def test_hostile_models_states_and_calls_of_replay_end_in_no_finding(seed, tiny_model, tmp_path):
    learner = Learner.from_pretrained(tiny_model, **SMALL, bits="8/8/16" if seed % 2 else "8/1/16")
    (tmp_path / "model.bin").write_bytes(image_of(learner, 32))
    images = tiny.pictures("red", "green", "blue", each=2)[0]
    learner.learn(images, ["a", "pear", 1, "a", "b", 0])
    learner.forget("b")
    (tmp_path / "state").write_bytes(statefile.to_bytes(learner._content()))
    inputs, opened, steps, states = fuzzed("fuzz_replay", tmp_path / "model.bin", tmp_path / "state", seed)
    assert inputs == INPUTS and opened > INPUTS // 100 and steps > INPUTS // 100 and states > INPUTS // 100


@pytest.mark.skipif(not FOLDER, reason="make fuzz builds the fuzzer with the sanitizers")
@pytest.mark.parametrize("run", range(RUNS))
def test_sequences_of_calls_lose_nothing(run, tiny_model, tmp_path):
    """Whatever was learned and not forgotten is unlearned, what is refused changes nothing, what is written is read."""
    extra: dict[str, Any] = {"digests": True, "exact_forget": True} if run % 2 else {}
    learner = Learner.from_pretrained(tiny_model, strategy="exact", feature_layers="head", **extra)
    (tmp_path / "model.bin").write_bytes(image_of(learner))
    assert fuzzed("fuzz_sequences", tmp_path / "model.bin", LIVES * run, count=LIVES) == [LIVES, LIVES * run]


def fuzzed(tool: str, *words: Path | int, count: int = INPUTS) -> list[int]:
    """The numbers that it prints; a finding ends it."""
    binary = Path(FOLDER) / tool
    symbols = subprocess.run(["nm", binary], capture_output=True, text=True, check=True).stdout
    assert "__asan_init" in symbols and "__ubsan_handle" in symbols
    command = [str(binary), *map(str, words[:-1]), str(count), str(words[-1])]
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1"}
    done = subprocess.run(command, capture_output=True, text=True, env=options)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split() if word.isdigit()]
