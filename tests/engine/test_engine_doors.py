"""The engine's own doors: compiling, writing, reading and running what does not fit ends in one sentence."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail, compile_whole
from bitreplay.engine.native import SlowMachine, machine
from bitreplay.engine.operations import Run
from bitreplay.engine.program import ProgramError
from bitreplay.parts.tail import Tail
from tests import tiny

REPLAY_LAYER, WORDS = "add_0", np.zeros((2, 2, 2, 1), np.uint64)
GOOD: dict[str, Any] = {
    "replay_layer": REPLAY_LAYER,
    "bits": Bits(),
    "max_samples": 4,
    "classes": 2,
    "latent_bits": 1,
    "train": "tail",
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"replay_layer": "nowhere"}, "the network has no node 'nowhere'"),
        ({"replay_layer": None}, "the network has no node None"),
        ({"bits": "8/1/16"}, "bit widths must be Bits"),
        ({"bits": None}, "bit widths must be Bits"),
        ({"max_samples": 0}, "the largest minibatch must be an integer"),
        ({"max_samples": 1 << 31}, "the largest minibatch must be an integer"),
        ({"max_samples": 2.0}, "the largest minibatch must be an integer"),
        ({"classes": 0}, "the number of classes must be an integer"),
        ({"classes": 1.5}, "the number of classes must be an integer"),
        ({"classes": True}, "the number of classes must be an integer"),
        ({"classes": 1 << 40}, "the number of classes must be an integer"),
        ({"latent_bits": 3}, "latents must have 1, 2, 4, 8, 16, 32 bits"),
        ({"latent_bits": 64}, "latents must have"),
        ({"train": "everything"}, "what trains must be tail, head or nothing"),
    ],
)
def test_arguments_of_the_compiler_that_do_not_fit_are_refused(change, sentence):
    given = GOOD | change
    with pytest.raises(ProgramError, match=sentence):
        compile_tail(tiny.graph(), **given)
    if set(change) <= {"replay_layer", "bits", "max_samples", "latent_bits"}:
        with pytest.raises(ProgramError, match=sentence):
            compile_backbone(
                tiny.graph(), given["replay_layer"], given["bits"], given["max_samples"], given["latent_bits"]
            )
    if set(change) <= {"bits", "max_samples"}:
        with pytest.raises(ProgramError, match=sentence):
            compile_whole(tiny.graph(), given["bits"], given["max_samples"])


@pytest.fixture(params=[machine, SlowMachine], ids=["native", "reference"])
def ready(request):
    return request.param(compile_tail(tiny.graph(), **GOOD))


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("nobody", WORDS, "no tensor named 'nobody'"),
        ("latents", WORDS.astype(float), "latents must be an array of uint64, got float64"),
        ("latents", [1, 2], "latents must be an array of uint64, got list"),
        ("latents", None, "latents must be an array of uint64, got NoneType"),
        ("latents", np.zeros((2, 3, 2, 1), np.uint64), r"the shape \(2, 2, 1\) for each of 1 to 4 samples"),
        ("latents", np.zeros((5, 2, 2, 1), np.uint64), r"for each of 1 to 4 samples, got \(5, 2, 2, 1\)"),
        ("latents", WORDS[:0], "for each of 1 to 4 samples"),
        ("labels", np.array([0.0, np.nan]), "labels must be an array of int32, got float64"),
        ("labels", np.int32(1), "labels must be an array of int32"),
        ("labels", np.array(1, np.int32), "for each of 1 to 4 samples"),
        ("head.weights", np.zeros((3, 3), np.int32), r"head.weights must have the shape \(2, 17\), got \(3, 3\)"),
    ],
)
def test_what_does_not_fit_is_not_written(ready, name, values, sentence):
    before = {region: content.copy() for region, content in ready.regions.items()}
    with pytest.raises(ValueError, match=sentence):
        ready.write(name, values)
    assert all(np.array_equal(ready.regions[region], content) for region, content in before.items())


def test_what_is_not_there_is_not_read(ready):
    with pytest.raises(ValueError, match="no tensor named 'nobody'"):
        ready.read("nobody")
    for samples in (0, 5, -1):
        with pytest.raises(ValueError, match="logits holds 1 to 4 samples"):
            ready.read("logits", samples)


def test_runs_that_do_not_fit_are_refused(ready):
    with pytest.raises(ValueError, match="There is no list 'sideways'; expected one of prepare, forward"):
        ready.run("sideways", Run(1))
    for samples in (0, 5, -1):
        with pytest.raises(ValueError, match="out of range|runs 1 to 4 samples"):
            ready.run("forward", Run(samples))


@pytest.mark.parametrize("label", [2, -1, 2**31 - 1])
def test_labels_out_of_range_are_refused_and_nothing_is_learned(ready, label):
    ready.write("latents", WORDS)
    ready.write("labels", np.array([0, label], np.int32))
    before = ready.regions["parameter"].copy()
    with pytest.raises(ValueError, match="a label is not one of the program's classes"):
        ready.run_step(Run(2, 0, 0, 1 << 30, 31))
    assert np.array_equal(ready.regions["parameter"], before)


def test_a_tail_refuses_what_does_not_fit_and_stays_as_it_was():
    tail = Tail(tiny.graph(), REPLAY_LAYER, Bits(), 4, 4)
    labels, before = np.zeros(2, np.int32), tail._machine.snapshot()
    wrong: list[tuple[Any, Any, Any, str]] = [
        (WORDS, labels[:1], Fraction(1, 2), "as many labels as latents, got 1 and 2"),
        (WORDS.astype(float), labels, Fraction(1, 2), "latents must be an array of uint64"),
        (WORDS, labels.astype(float), Fraction(1, 2), "labels must be an array of int32"),
        (WORDS, labels, float("nan"), "NaN"),
        (WORDS, labels + 4, Fraction(1, 2), "not one of the program's classes"),
    ]
    for codes, names, rate, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            tail.step(codes, names, rate)
        assert tail.steps == 0 and np.array_equal(tail._machine.snapshot(), before)
    with pytest.raises(ValueError, match="There must be at least one latent"):
        tail.answering()(WORDS[:0])


def test_a_program_is_read_with_nothing_else_imported():
    """The operations are known without the compiler and without `bitreplay.engine.layers` by name."""
    program = compile_tail(tiny.graph(), **GOOD)
    code = "from bitreplay.engine.program import Program; print(len(Program.from_bytes(open(0, 'rb').read()).records))"
    done = subprocess.run([sys.executable, "-c", code], input=program.to_bytes(), capture_output=True)
    assert (done.returncode, done.stdout.decode()) == (0, f"{len(program.records)}\n"), done.stderr
