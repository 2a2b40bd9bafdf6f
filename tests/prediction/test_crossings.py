"""An answer of `exact` is one call of the network and one of the discriminant: nothing crosses into C twice."""

from __future__ import annotations

from typing import Any

import pytest

from bitreplay import Learner
from bitreplay.engine import native, native_discriminant, native_sums
from tests import tiny

IMAGES, COLOURS = tiny.pictures(*tiny.COLOURS, each=4, seed=3)


class Counted:
    """The core, with the names of the functions that are called."""

    def __init__(self, core: Any) -> None:
        self.core, self.calls = core, list[str]()

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.core, name)

        def called(*arguments: Any) -> Any:
            self.calls.append(name)
            return function(*arguments)

        return called


@pytest.fixture
def core(monkeypatch) -> Counted:
    counted = Counted(native.library())
    for module in (native, native_sums, native_discriminant):
        monkeypatch.setattr(module, "library", lambda: counted)
    return counted


@pytest.mark.parametrize(
    "ask",
    [
        lambda learner: learner.predict(IMAGES[:1]),
        lambda learner: learner.predict(IMAGES[:1], unknown=0.05),
        lambda learner: learner.predict_proba(IMAGES[:1]),
    ],
    ids=["predict", "unknown", "probabilities"],
)
def test_one_picture_crosses_into_the_core_once_for_its_answer(core, tiny_model, ask):
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(IMAGES, COLOURS)
    first = ask(learner)
    assert "br_discriminant_solve" in core.calls  # all that follows from the pictures, made for the first answer
    core.calls.clear()
    assert (ask(learner) == first).all()
    assert core.calls == ["br_run", "br_discriminant_answer"]
