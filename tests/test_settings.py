import inspect
from dataclasses import fields
from fractions import Fraction

import pytest

from bitreplay import Learner
from bitreplay.engine.bit_widths import Bits
from bitreplay.settings import UNSET, Settings


def test_decimals_mean_what_they_say():
    for written in (0.01, "0.01", "1/100"):
        assert Settings.of(learning_rate=written).learning_rate == Fraction(1, 100)


def test_numbers_may_have_the_exponent_of_any_float():
    for written in ("1e-3", 1e-3):
        assert Settings.of(learning_rate=written).learning_rate == Fraction(1, 1000)
    assert Settings(unknown=5e-324).unknown == 0  # type: ignore[arg-type]


def test_bits_may_be_written_as_text():
    assert Settings(bits="8/1/16").bits == Bits(8, 1, 16)
    assert Settings(bits="float").bits == "float"


def test_json_gives_the_same_settings_again():
    settings = Settings(
        learning_rate=Fraction(3, 1000), bits="16/4/32", replay_layer="add_8", unknown=Fraction(1, 20), seed=2**64 - 1
    )
    assert Settings.of(**settings.to_dict()) == settings


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"strategy": "magic"}, "strategy must be one of replay, cwr, naive"),
        ({"bits": "8/1"}, "three widths"),
        ({"bits": "8/2/16"}, "backward_binary bits must be one of"),
        ({"bits": None}, "three widths"),
        ({"latent_bits": 3}, "latent_bits must be one of"),
        ({"memory_per_class": 0}, "memory_per_class must be an integer from 1"),
        ({"memory_per_class": 1.5}, "memory_per_class must be an integer"),
        ({"epochs": True}, "epochs must be an integer"),
        ({"batch_size": -1}, "batch_size must be"),
        ({"replay_batch_size": 1 << 40}, "replay_batch_size must be"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"learning_rate": "fast"}, "learning_rate must be a number"),
        ({"learning_rate": float("nan")}, "learning_rate must be a number"),
        ({"learning_rate": 2}, "at most 1"),
        ({"learning_rate": "1e400"}, "at most 1, got '1e400'"),
        (
            {"learning_rate": "1e10000000"},
            "learning_rate must be a number or a fraction such as 1/100, got '1e10000000'",
        ),
        ({"learning_rate": "1E-1_000_000_000 "}, "learning_rate must be a number or a fraction"),
        ({"learning_rate": "0." + "0" * 1000 + "1"}, "learning_rate must be a number or a fraction"),
        ({"unknown": 1}, "below 1"),
        ({"unknown": "1e-10000000"}, "unknown must be a number or a fraction"),
        ({"unknown": 0.05, "strategy": "cwr"}, "must be 0 with cwr, which has nothing to compare with, got 1/20"),
        ({"unknown": 0.05, "strategy": "naive"}, "unknown must be 0 with naive"),
        ({"seed": -1}, "seed must be"),
        ({"augment": "yes"}, "augment must be"),
        ({"replay_layer": 3}, "replay_layer must be a name"),
        ({"speed": 3}, "There is no setting 'speed'"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Settings.of(**arguments)


@pytest.mark.parametrize(
    ("arguments", "strategy"),
    [
        ({}, "exact"),
        ({"bits": "16/1/16", "seed": 3, "feature_layers": "head"}, "exact"),
        ({"memory_per_class": 30}, "replay"),  # its default, but named
        ({"learning_rate": 0.1}, "replay"),
        ({"augment": False}, "replay"),
        ({"unknown": 0.1}, "exact"),
        ({"memory_per_class": 5, "strategy": "exact"}, "exact"),
        ({"epochs": 2, "strategy": "cwr"}, "cwr"),
    ],
)
def test_without_a_name_the_strategy_is_exact_unless_a_setting_of_replay_is_given(arguments, strategy):
    assert Settings.of(**arguments).strategy == strategy


def test_settings_made_directly_find_their_strategy_by_value():
    assert Settings().strategy == "exact" and Settings(memory_per_class=5).strategy == "replay"
    assert Settings(memory_per_class=5).changed(memory_per_class=30).strategy == "replay"
    assert Settings.of(**Settings(epochs=2).to_dict()) == Settings(epochs=2)


def test_from_pretrained_names_every_setting_and_nothing_else():
    """With a type for each, in their order, and a default that is told apart from None."""
    parameters = inspect.signature(Learner.from_pretrained).parameters
    named = [name for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY]
    assert named == Settings.names() == [field.name for field in fields(Settings)]
    assert all(parameters[name].default is UNSET for name in named)
    assert all("Any" not in parameters[name].annotation for name in named)


def test_from_pretrained_changes_only_what_is_named(tiny_model):
    settings = Settings(strategy="exact", n_components=None, unknown=Fraction(1, 20), seed=3)
    learner = Learner.from_pretrained(tiny_model, settings, unknown=0, feature_layers="head")
    assert learner.settings.unknown == 0 and learner.settings.seed == 3 and learner.settings.feature_layers == "head"
    again = Learner.from_pretrained(tiny_model, settings.changed(feature_layers="head"), feature_layers=None)
    assert again.settings == Learner.from_pretrained(tiny_model, settings).settings, "None is a value too"
    with pytest.raises(ValueError, match=r"settings must be Settings, got 'x'; .* memory_per_class=30"):
        Learner.from_pretrained(tiny_model, "x")  # type: ignore[arg-type]
