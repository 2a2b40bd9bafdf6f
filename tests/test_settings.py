from fractions import Fraction

import pytest

from bitreplay.engine.bit_widths import Bits
from bitreplay.settings import Settings


def test_decimals_mean_what_they_say():
    assert Settings(rate=0.01).rate == Settings(rate="1/100").rate == Fraction(1, 100)  # type: ignore[arg-type]


def test_numbers_may_have_the_exponent_of_any_float():
    assert Settings(rate="1e-3").rate == Settings(rate=1e-3).rate == Fraction(1, 1000)  # type: ignore[arg-type]
    assert Settings(unknown=5e-324).unknown == 0  # type: ignore[arg-type]


def test_bits_may_be_written_as_text():
    assert Settings(bits="8/1/16").bits == Bits(8, 1, 16)
    assert Settings(bits="float").bits == "float"


def test_json_gives_the_same_settings_again():
    settings = Settings(rate=Fraction(3, 1000), bits="16/4/32", level="add_8", unknown=Fraction(1, 20), seed=2**64 - 1)
    assert Settings.of(**settings.to_json()) == settings


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"strategy": "magic"}, "strategy must be one of replay, cwr, naive"),
        ({"bits": "8/1"}, "three widths"),
        ({"bits": "8/2/16"}, "backward_binary bits must be one of"),
        ({"bits": None}, "three widths"),
        ({"code_bits": 3}, "code_bits must be one of"),
        ({"per_class": 0}, "per_class must be a whole number from 1"),
        ({"per_class": 1.5}, "per_class must be a whole number"),
        ({"epochs": True}, "epochs must be a whole number"),
        ({"new": -1}, "new must be"),
        ({"replayed": 1 << 40}, "replayed must be"),
        ({"rate": 0}, "rate must be above 0"),
        ({"rate": "fast"}, "rate must be a number"),
        ({"rate": float("nan")}, "rate must be a number"),
        ({"rate": 2}, "at most 1"),
        ({"rate": "1e400"}, "at most 1, got '1e400'"),
        ({"rate": "1e10000000"}, "rate must be a number or a fraction such as 1/100, got '1e10000000'"),
        ({"rate": "1E-1_000_000_000 "}, "rate must be a number or a fraction"),
        ({"rate": "0." + "0" * 1000 + "1"}, "rate must be a number or a fraction"),
        ({"unknown": 1}, "below 1"),
        ({"unknown": "1e-10000000"}, "unknown must be a number or a fraction"),
        ({"unknown": 0.05, "strategy": "cwr"}, "must be 0 with cwr, which has nothing to compare with, got 0.05"),
        ({"unknown": 0.05, "strategy": "naive"}, "unknown must be 0 with naive"),
        ({"seed": -1}, "seed must be"),
        ({"augment": "yes"}, "augment must be"),
        ({"level": 3}, "level must be a name"),
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
        ({"bits": "16/1/16", "seed": 3, "numbers": "head"}, "exact"),
        ({"per_class": 30}, "replay"),  # its default, but named
        ({"rate": 0.1}, "replay"),
        ({"augment": False}, "replay"),
        ({"unknown": 0.1}, "exact"),
        ({"per_class": 5, "strategy": "exact"}, "exact"),
        ({"epochs": 2, "strategy": "cwr"}, "cwr"),
    ],
)
def test_without_a_name_the_strategy_is_exact_unless_a_setting_of_replay_is_given(arguments, strategy):
    assert Settings.of(**arguments).strategy == strategy


def test_settings_made_directly_find_their_strategy_by_value():
    assert Settings().strategy == "exact" and Settings(per_class=5).strategy == "replay"
    assert Settings(per_class=5).changed(per_class=30).strategy == "replay"
    assert Settings.of(**Settings(epochs=2).to_json()) == Settings(epochs=2)
