"""A model file with a right checksum and wrong content ends in a sentence or in a model that works, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bitreplay import Learner, modelfile, zoo
from bitreplay.engine import native
from bitreplay.modelfile import ModelFileError
from bitreplay.parts import backbone, tail
from tests import hostile, tiny

BITS = ("8/1/16", "16/1/16", "32/1/32", "8/4/16", "8/8/8", "32/32/32")
LATENT_BITS = (1, 2, 4, 8, 16, 32)
IMAGES = np.random.default_rng(1).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return hostile.model(tmp_path_factory.mktemp("hostile")).read_bytes()


def taught(model: zoo.Model, bits: str, latent_bits: int) -> Learner:
    learner = Learner.from_pretrained(
        model,
        bits=bits,
        latent_bits=latent_bits,
        batch_size=4,
        replay_batch_size=4,
        epochs=1,
        min_steps=2,
        learning_rate=0.5,
    )
    learner.learn(IMAGES[:2], "x")
    learner.learn(IMAGES[3:5], "y")
    return learner


def outcome(data: bytes, path, rng: np.random.Generator) -> str:
    path.write_bytes(data)
    bits, latent_bits = BITS[rng.integers(len(BITS))], LATENT_BITS[rng.integers(len(LATENT_BITS))]
    try:
        model = zoo.find(path)
    except ModelFileError as error:
        assert "\n" not in str(error) and str(error).endswith(".") and str(path) in str(error)
        return "refused by the reader"
    try:
        learner = taught(model, bits, latent_bits)
    except ModelFileError as error:
        assert "\n" not in str(error) and str(error).endswith(".") and str(path) in str(error)
        return "refused by the compiler"
    assert set(learner.predict(IMAGES).tolist()) <= {"x", "y"}
    found = learner.predict_proba(IMAGES)
    assert found.shape == (6, 2) and np.abs(found.sum(axis=1) - 1).max() < 1e-6
    return "works"


@pytest.mark.parametrize(
    "plausible, runs", [(0.4, 300), (0.9, 200), pytest.param(0.7, 5000, marks=pytest.mark.slow)]
)  # fmt: skip
def test_whatever_a_file_says_it_is_refused_or_it_works(good, tmp_path, plausible, runs):
    found: Counter[str] = Counter()
    for seed in range(runs):
        rng = np.random.default_rng([seed, runs])
        data = hostile.altered(good, rng, int(rng.integers(1, 6)), plausible)
        found[outcome(data, tmp_path / "altered.safetensors", rng)] += 1
    assert set(found) == {"refused by the reader", "refused by the compiler", "works"} and found["works"] > runs / 10


def test_odd_models_that_work_learn_the_same_bits_in_the_reference(good, tmp_path, monkeypatch):
    path, compared = tmp_path / "altered.safetensors", 0
    for seed in range(80):
        rng = np.random.default_rng([seed, 9])
        path.write_bytes(hostile.altered(good, rng, 3, 0.95))
        try:
            model = zoo.find(path)
            learner = taught(model, BITS[seed % len(BITS)], 1)
        except ModelFileError:
            continue
        with monkeypatch.context() as patch:
            for module in (backbone, tail):
                patch.setattr(module, "machine", native.SlowMachine)
            assert taught(model, BITS[seed % len(BITS)], 1).state_hash() == learner.state_hash(), seed
        compared += 1
    assert compared > 10


# Files that the reader accepts, since they are whole networks, but that no learner can use.


def refused(graph, folder, sentence, **settings):
    path = folder / "odd.safetensors"
    modelfile.save(graph, path, {})
    with pytest.raises(ModelFileError, match=sentence) as caught:
        Learner.from_pretrained(path, **settings)
    assert str(path) in str(caught.value) and str(caught.value).endswith(".")


def test_pictures_that_are_not_square_and_colour_are_refused(tmp_path):
    graph = tiny.graph()
    graph.input_shape, graph.replay_layers, graph.shapes = (8, 12, 3), {}, {}
    refused(graph, tmp_path, "reads images of 8x12x3; expected squares with 3 channels")


def test_a_network_without_a_level_or_without_its_code_is_refused(tmp_path):
    graph = tiny.graph()
    del graph.replay_layers["add_0"][1]
    refused(
        graph, tmp_path, r"latents of 1 bits: replay layer add_0 has latents of \[2, 4\] bits, not of 1", latent_bits=1
    )
    graph.replay_layers, graph.shapes = {}, {}
    refused(graph, tmp_path, "has no replay layer")


def test_numbers_that_the_engine_cannot_hold_are_refused(tmp_path):
    graph = tiny.graph()
    graph.ranges["add_1"] = (Fraction(0), Fraction(1, 1 << 24))
    graph.ranges["add_0"] = (Fraction(-(1 << 24)), Fraction(1 << 24))
    refused(
        graph, tmp_path, "at replay layer add_0 with bits 32/1/32, latents of 8 bits", latent_bits=8, bits="32/1/32"
    )


def test_working_memory_that_the_machine_does_not_have_is_refused_before_it_is_taken(tmp_path, monkeypatch):
    sysconf = os.sysconf
    monkeypatch.setattr(os, "sysconf", lambda name: 1 if name == "SC_PHYS_PAGES" else sysconf(name))
    refused(tiny.graph(), tmp_path, "it needs .* MiB with minibatches of .*, and this machine has 0 MiB")


def test_no_refusal_is_an_assertion(good, tmp_path):
    """Python without assertions refuses the same: sums of the pool that do not fit 31 bits."""
    graph = hostile.graph()
    graph.input_shape = (512, 512, 3)
    graph.shapes["add_0"] = (256, 256, hostile.CHANNELS)
    path = tmp_path / "large.safetensors"
    modelfile.save(graph, path, {})
    code = (
        "from bitreplay import Learner\n"
        f"Learner.from_pretrained({str(path)!r}, bits='32/1/32', batch_size=1, replay_batch_size=1)"
    )
    for options in ([], ["-O"]):
        done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True)
        assert done.returncode == 1 and "ModelFileError" in done.stderr and "must fit 31 bits" in done.stderr


def test_a_graph_that_was_not_checked_is_refused_by_the_compiler_too():
    from bitreplay.engine.bit_widths import Bits
    from bitreplay.engine.compile import compile_tail
    from bitreplay.engine.program import ProgramError

    graph = tiny.graph()
    graph.nodes[3] = replace(graph.nodes[3], attributes={"derivative": "steep"})
    with pytest.raises(ProgramError, match="sign: unknown derivative steep"):
        compile_tail(graph, "add_0", Bits(), 4, 2)
