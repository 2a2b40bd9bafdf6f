"""The fitted learning rate: one gain for features of any size, smaller steps in longer experiences, 0 at the end."""

from dataclasses import replace
from fractions import Fraction

import pytest

from bitreplay import zoo
from bitreplay.data.groceries import groceries
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.compiler import Bits
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run
from bitreplay.learner import Learner
from bitreplay.rates import GAIN, feature_power, first_rate, rate_at
from bitreplay.settings import STRATEGIES, Settings
from tests import tiny


def test_a_rate_falls_evenly_and_its_last_step_still_moves():
    rates = [rate_at(Fraction(1, 10), done, 4) for done in range(4)]
    assert rates == [Fraction(1, 10), Fraction(3, 40), Fraction(1, 20), Fraction(1, 40)]


def test_four_times_the_steps_halve_the_first_rate():
    one, four = (first_rate("replay", Fraction(500), steps) for steps in (20, 80))
    assert one == GAIN["replay"] / 500 and four == one / 2
    for baseline in ("cwr", "naive"):
        assert first_rate(baseline, Fraction(500), 20) == first_rate(baseline, Fraction(500), 80)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rate_is_never_above_one_and_never_zero(strategy):
    assert first_rate(strategy, Fraction(1, 10**9), 1) == 1
    assert 0 < first_rate(strategy, Fraction(10**12), 10**6) < Fraction(1, 10**8)


def test_binary_weights_that_learn_set_a_lower_limit(tiny_model):
    assert first_rate("replay", Fraction(1), 1, flips=True) == Fraction(1, 10)
    flips = {bits: Settings(bits=bits).learns_binary_weights for bits in ("8/1/16", "8/4/16", "float")}
    assert flips == {"8/1/16": False, "8/4/16": True, "float": False}
    assert not Settings(bits="8/8/16", strategy="cwr").learns_binary_weights


def test_the_power_follows_the_square_of_the_range():
    graph = zoo.find("bireal18").graph
    low, high = graph.ranges["pool"]
    wider = replace(graph, ranges=graph.ranges | {"pool": (3 * low, 3 * high)})
    assert feature_power(wider, 512) == 9 * feature_power(graph, 512)


def test_the_power_of_signs_is_their_number():
    assert Learner.from_pretrained("vgg_small").tail.feature_power == 4 * 4 * 512


@pytest.mark.parametrize("name", ["bireal18", "react18", "quicknet"])
def test_the_power_is_about_the_measured_one(name):
    """Within a factor of two of the variance on photographs."""
    learner, pictures = Learner.from_pretrained(name), groceries().train_images[::12]
    assert learner.model is not None
    graph, codes = learner.model.graph, learner.latent_bits(pictures)
    network = machine(compile_tail(graph, learner.model.levels[-1], Bits(), len(codes), 2))
    network.write("latents", codes)
    network.run("prepare", Run(1))
    network.run("forward", Run(len(codes)))
    stored = network.read("pool", len(codes)).reshape(len(codes), -1)
    low, high = graph.ranges["pool"]
    measured = stored.var(axis=0).sum() * (float(high - low) / 255) ** 2
    assert 1 / 2 < float(learner.tail.feature_power) / measured < 2


def test_a_learner_takes_the_rate_of_its_model_and_experience(tiny_model, monkeypatch):
    learner = Learner.from_pretrained(tiny_model, new=4, epochs=2, least_steps=1)
    taken: list[Fraction] = []
    monkeypatch.setattr(learner.tail, "step", lambda codes, labels, rate: taken.append(rate))
    learner.learn(*tiny.pictures("red", "green", each=5, seed=1))
    first = first_rate("replay", learner.tail.feature_power, 6)
    assert taken == [rate_at(first, done, 6) for done in range(6)]
    assert sorted(taken, reverse=True) == taken
