"""The fitted learning rate: one gain for features of any size, smaller steps in longer experiences, 0 at the end."""

from dataclasses import replace
from fractions import Fraction

import pytest

from bitreplay import zoo
from bitreplay.data.groceries import groceries
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.method import FITTED, FITTED_WITH_FLIPS, GIVEN, rate
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run
from bitreplay.learner import Learner
from bitreplay.learning.rates import feature_power
from bitreplay.strategies.cwr import Cwr
from bitreplay.strategies.naive import Naive
from bitreplay.strategies.replay import Replay
from tests import tiny


def test_a_rate_falls_evenly_and_its_last_step_still_moves():
    rates = [rate(Fraction(1, 10), GIVEN, done, 4) for done in range(4)]
    assert rates == [Fraction(1, 10), Fraction(3, 40), Fraction(1, 20), Fraction(1, 40)]


def test_four_times_the_steps_halve_the_first_rate():
    one, four = (rate(Fraction(40, 500), FITTED, 0, steps) for steps in (20, 80))
    assert one == Fraction(40, 500) and four == one / 2
    assert rate(Fraction(3, 500), GIVEN, 0, 20) == rate(Fraction(3, 500), GIVEN, 0, 80) == Fraction(3, 500)


def test_each_strategy_has_its_gain_and_replay_alone_eases_long_experiences():
    found = {kind.name: (kind.gain, kind.eased, kind.trains) for kind in (Replay, Cwr, Naive)}
    assert found == {
        "replay": (Fraction(40), True, "tail"), "cwr": (Fraction(3), False, "head"),
        "naive": (Fraction(40), False, "tail"),
    }  # fmt: skip


@pytest.mark.parametrize("strategy", ["replay", "cwr", "naive"])
def test_a_rate_is_never_above_one_and_never_zero(strategy, tiny_model):
    inside = tiny.inside(Learner.from_pretrained(tiny_model, strategy=strategy))
    inside.tail.feature_power = Fraction(1, 10**9)
    assert inside._first_rate(1) == 1
    inside.tail.feature_power = Fraction(10**12)
    assert 0 < inside._first_rate(10**6) < Fraction(1, 10**8)


def test_binary_weights_that_learn_set_a_lower_limit(tiny_model, monkeypatch):
    assert rate(Fraction(40), FITTED_WITH_FLIPS, 0, 1) == Fraction(1, 10)
    for strategy, bits, most in (
        ("replay", "8/1/16", 1), ("replay", "8/4/16", Fraction(1, 10)), ("naive", "8/8/16", Fraction(1, 10)),
        ("cwr", "8/8/16", 1),
    ):  # fmt: skip
        learner, taken = Learner.from_pretrained(tiny_model, strategy=strategy, bits=bits), list[Multiplier]()
        tail = tiny.inside(learner).tail
        tail.feature_power = Fraction(1, 1000)
        with monkeypatch.context() as patch:
            patch.setattr(tail, "step", lambda latents, labels, rate, taken=taken: taken.append(rate))
            learner.learn(*tiny.pictures("red"))
        assert taken[0] == Multiplier.of(Fraction(most)), (strategy, bits)


def test_the_power_follows_the_square_of_the_range():
    graph = zoo.find("bireal18").graph
    low, high = graph.ranges["pool"]
    wider = replace(graph, ranges=graph.ranges | {"pool": (3 * low, 3 * high)})
    assert feature_power(wider, 512) == 9 * feature_power(graph, 512)


def test_the_power_of_signs_is_their_number():
    assert tiny.inside(Learner.from_pretrained("vgg_small", strategy="replay")).tail.feature_power == 4 * 4 * 512


@pytest.mark.parametrize("name", ["bireal18@1", "react18@1", "quicknet@1"])
def test_the_power_is_about_the_measured_one(name):
    """Within a factor of two of the variance on photographs."""
    learner, pictures = Learner.from_pretrained(name, strategy="replay"), groceries().train_images[::12]
    assert learner.model is not None
    graph, latents = learner.model.graph, learner.encode(pictures)
    network = machine(compile_tail(graph, learner.model.replay_layers[-1], Bits(), len(latents), 2))
    network.write("latents", latents)
    network.run("prepare", Run(1))
    network.run("forward", Run(len(latents)))
    stored = network.read("pool", len(latents)).reshape(len(latents), -1)
    low, high = graph.ranges["pool"]
    measured = stored.var(axis=0).sum() * (float(high - low) / 255) ** 2
    assert 1 / 2 < float(tiny.inside(learner).tail.feature_power) / measured < 2


def test_a_learner_takes_the_rate_of_its_model_and_experience(tiny_model, monkeypatch):
    learner = Learner.from_pretrained(tiny_model, batch_size=4, epochs=2, min_steps=1)
    taken: list[Multiplier] = []
    monkeypatch.setattr(tiny.inside(learner).tail, "step", lambda latents, labels, rate: taken.append(rate))
    learner.learn(*tiny.pictures("red", "green", each=5, seed=1))
    base = 40 / tiny.inside(learner).tail.feature_power
    assert taken == [Multiplier.of(rate(base, FITTED, done, 6)) for done in range(6)]
    assert sorted(taken, key=lambda one: one.value, reverse=True) == taken
