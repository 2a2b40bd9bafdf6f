"""Gradients of the whole tail against float64 autograd through the same forward values, for every parameter group.

At q_b = 8: cosine at least 0.998 on 32 samples, and 0.999 on 160 of which 128 are memorised (with one scale a tensor
the memorised ones would vanish). At 16: 1 - 1e-6, at 32: 1 - 1e-9. Norms within 2 %.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_sample_images

from bitreplay import modelfile
from bitreplay.engine.arithmetic.quant import NO_GRADIENT
from tests.engine.gradient_oracle import engine_gradients, oracle_gradients
from tests.engine.memorised import FORWARD, KNOWN, NEW, Memorised, random_tail, real_tail

ZOO = Path(modelfile.__file__).parents[1] / "zoo" / "bireal18.safetensors"
CHOSEN = {"32 new": np.arange(KNOWN, KNOWN + NEW), "160, 128 memorised": np.arange(KNOWN + NEW)}
LEAST = {
    (8, "32 new"): 0.998,
    (8, "160, 128 memorised"): 0.999,
    (16, "32 new"): 1 - 1e-6,
    (16, "160, 128 memorised"): 1 - 1e-6,
    (32, "32 new"): 1 - 1e-9,
    (32, "160, 128 memorised"): 1 - 1e-9,
}


@cache
def bireal18() -> Memorised:
    graph, _ = modelfile.load(ZOO)
    return real_tail(graph, "add_12", load_sample_images().images)


@cache
def random() -> Memorised:
    return random_tail(96)


@cache
def expected(tail: Callable[[], Memorised], chosen: str) -> tuple[dict[str, NDArray], NDArray]:
    """Autograd's gradients, and the logits they belong to. The same for every q_b: the forward pass has none."""
    fixture, samples = tail(), CHOSEN[chosen]
    machine = fixture.machine(8, samples)
    labels = fixture.labels[samples]
    found = oracle_gradients(fixture.graph, fixture.replay_layer, FORWARD, machine, labels, len(samples))
    return found, machine.read("logits", len(samples))


def cosine(a: NDArray, b: NDArray) -> float:
    return float(a.ravel() @ b.ravel() / np.sqrt((a.ravel() @ a.ravel()) * (b.ravel() @ b.ravel())))


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("tail", [random, bireal18], ids=lambda tail: tail.__wrapped__.__name__)
def test_every_group_points_where_autograd_does(tail, bits, chosen):
    if tail is bireal18 and not ZOO.exists():
        pytest.skip(f"{ZOO.name} is not in the zoo")
    fixture, samples = tail(), CHOSEN[chosen]
    oracle, logits = expected(tail, chosen)
    machine = fixture.machine(bits, samples)
    assert np.array_equal(machine.read("logits", len(samples)), logits)
    found = engine_gradients(fixture.graph, machine.program, machine)
    assert found.keys() == oracle.keys() and len(found) >= 6
    for name, gradient in found.items():
        assert np.linalg.norm(oracle[name]) > 0, name
        assert cosine(gradient, oracle[name]) >= LEAST[bits, chosen], name
        assert abs(np.linalg.norm(gradient) / np.linalg.norm(oracle[name]) - 1) <= 0.02, name


def test_no_memorised_sample_loses_its_gradient_at_8_bits():
    fixture = random()
    machine = fixture.machine(8, CHOSEN["160, 128 memorised"])
    known = machine.read("p_label", KNOWN + NEW)[:KNOWN] / 2**30
    assert known.min() > 0.99
    exponents = machine.read("head.exp", KNOWN + NEW)
    assert exponents.min() > NO_GRADIENT and exponents[:KNOWN].max() < exponents[KNOWN:].max()
