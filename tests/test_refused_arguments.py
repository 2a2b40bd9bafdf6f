"""Odd values at every door of the library: a right answer or one sentence, and nothing has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay import Bits, Learner, LearningStopped, Settings
from bitreplay.arguments import as_integer, path_of, short_repr
from tests import tiny

IMAGES, LABELS = tiny.pictures("red", "green", each=3)
FULL = np.zeros((2, 8, 8, 3))
ODD: list[Any] = [
    None, 0, -1, 1.5, float("nan"), float("inf"), True, 1 << 70, 1 + 0j, "", "x", "\0", "/", "a" * 5000, b"x", [], (),
    {}, [1], ["a", 2], [None], [[1]], {"a"}, object(), iter([1]), Path("/"), np.int8(3), np.float32("nan"),
    np.bool_(True),
    np.str_("red"), np.datetime64("2024-01-01"), np.array(1), np.array([]), np.array([[1]]), np.array([1 + 1j]),
    np.array([1, "a", None], object), np.array(["a", "b"]), FULL, np.full_like(FULL, np.nan), FULL.astype(np.int64),
    FULL.astype(np.uint8), FULL[:0].astype(np.uint8), FULL[:, :0].astype(np.uint8), FULL[..., :2].astype(np.uint8),
    np.zeros((1, 20000, 1, 3), np.uint8), np.ma.masked_array(FULL.astype(np.uint8)), [IMAGES[0], None],
    [IMAGES[0], IMAGES],
]  # fmt: skip


@pytest.fixture(scope="module")
def known(tiny_model, tmp_path_factory):
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=5, min_steps=2, epochs=1)
    learner.learn(IMAGES, LABELS)
    learner.save(tmp_path_factory.mktemp("door") / "state")
    return learner


DOORS = {
    "learn pictures": lambda learner, odd, folder: learner.learn(odd, "red"),
    "learn labels": lambda learner, odd, folder: learner.learn(IMAGES, odd),
    "learn a label": lambda learner, odd, folder: learner.learn(IMAGES[0], [odd]),
    "progress": lambda learner, odd, folder: learner.learn(IMAGES, "red", progress=odd),
    "cancel": lambda learner, odd, folder: learner.learn(IMAGES, "red", cancel=odd),
    "time limit": lambda learner, odd, folder: learner.learn(IMAGES, "red", time_limit=odd),
    "learn codes": lambda learner, odd, folder: learner.learn_encoded(odd, "red"),
    "predict": lambda learner, odd, folder: learner.predict(odd),
    "unknown": lambda learner, odd, folder: learner.predict(IMAGES, unknown=odd),
    "predict codes": lambda learner, odd, folder: learner.predict_encoded(odd),
    "probabilities": lambda learner, odd, folder: learner.predict_proba(odd),
    "evaluate pictures": lambda learner, odd, folder: learner.evaluate(odd, "red"),
    "evaluate labels": lambda learner, odd, folder: learner.evaluate(IMAGES, odd),
    "evaluate codes": lambda learner, odd, folder: learner.evaluate_encoded(odd, "red"),
    "latent bits": lambda learner, odd, folder: learner.encode(odd),
    "rename": lambda learner, odd, folder: learner.rename(odd, "blue"),
    "rename to": lambda learner, odd, folder: learner.rename("red", odd),
    "forget": lambda learner, odd, folder: learner.forget(odd),
    "forget a sample": lambda learner, odd, folder: learner.forget(sample=odd),
    "model": lambda learner, odd, folder: Learner.from_pretrained(odd),
    "load": lambda learner, odd, folder: Learner.load(odd),
    "load a model": lambda learner, odd, folder: Learner.load(folder / "state", odd),
    "rollback": lambda learner, odd, folder: Learner.rollback(odd),
    "save": lambda learner, odd, folder: learner.save(odd),
}


def refused_in_a_sentence(error: Exception) -> None:
    text = str(error)
    assert isinstance(error, ValueError | OSError), (type(error), text)
    assert "\n" not in text and 0 < len(text) < 6000 and "Traceback" not in text, text


@pytest.mark.parametrize("name", DOORS)
def test_odd_values_at_the_doors_of_a_learner(known, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, answers = known.state(), known.predict_proba(IMAGES)
    known.save(tmp_path / "state", overwrite=True)
    refused = 0
    for odd in ODD:
        try:
            DOORS[name](known, odd, tmp_path)
        except LearningStopped:
            assert name == "time limit"
        except Exception as error:
            refused_in_a_sentence(error)
            refused += 1
            assert known.state_hash() == known.strategy.state().hash() == before.hash(), (name, odd)
            assert np.array_equal(known.predict_proba(IMAGES), answers), (name, odd)
        known.restore(before)
    assert refused >= 10


@pytest.mark.parametrize("name", Settings.__dataclass_fields__)
def test_odd_values_for_a_setting(tiny_model, name):
    for odd in ODD:
        try:
            learner = Learner.from_pretrained(tiny_model, **{name: odd})
        except Exception as error:
            refused_in_a_sentence(error)
            continue
        kept = (
            {} if name != "micro_batch_size" else {"micro_batch_size": learner.settings.micro_batch_size}
        )  # which states do not keep
        same = Settings.of(**learner.settings.to_dict(), **kept)
        assert same == learner.settings and type(getattr(same, name)) is type(getattr(learner.settings, name))


def test_odd_values_for_bit_widths(tiny_model):
    for odd in ODD:
        for place in range(3):
            widths = [8, 1, 16]
            widths[place] = odd
            try:
                found = Settings(bits=Bits(*widths)).bits
            except Exception as error:
                assert isinstance(error, ValueError)
            else:
                assert str(found) in ("8/1/16",) and all(type(q) is int for q in vars(found).values())


def test_numpy_s_whole_numbers_serve_as_well_as_python_s(tiny_model):
    settings = Settings(memory_per_class=np.int64(7), seed=np.uint64(2**64 - 1), latent_bits=np.int8(2))
    assert settings == Settings(memory_per_class=7, seed=2**64 - 1, latent_bits=2) and type(settings.seed) is int
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=np.int32(4))
    learner.learn(IMAGES, np.int16(5))
    assert learner.labels == [5] and learner.forget(sample=np.int64(learner.stored()[0].ids[0]))


def test_what_is_told_is_short_and_on_one_line():
    assert short_repr(3) == "3" and short_repr(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert len(short_repr("x" * 1000)) == 60 and short_repr("x" * 1000).endswith("...")
    assert [as_integer(value) for value in (3, np.uint8(4), True, np.bool_(True), 1.0, "1", np.array(1))] == [
        3, 4, None, None, None, None, None]  # fmt: skip
    assert path_of("a/b", "It") == Path("a/b")
    with pytest.raises(ValueError, match=r"It must be a path, got b'x' \(bytes\)"):
        path_of(b"x", "It")
