"""`predict` without options is read without typer: it answers, fails and ends as typer's does, and loads little."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from PIL import Image

from bitreplay import Learner
from bitreplay.cli import fast_predict, show
from bitreplay.engine import native_discriminant, native_sums
from tests import tiny

HEAVY = {
    "asyncio", "bitreplay.cli.application", "bitreplay.strategies.gradient", "click", "email", "numpy.random",
    "PIL.GifImagePlugin", "PIL.TiffImagePlugin", "pydantic", "random", "rich", "tempfile", "typer", "zipfile",
}  # fmt: skip
IN_THE_WAY = (
    "import sys; from bitreplay.__main__ import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
)


@pytest.fixture
def begun(taught, tmp_path):
    for number, image in enumerate(tiny.pictures("red", "green", each=2, seed=5)[0]):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
        (tmp_path / "in" / "deeper").mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "in" / "deeper" / f"{number}.png")
    (tmp_path / "text.png").write_text("no picture")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ["state", "0.png"]), (0, ["state", "0.png", "1.png", "--json"]), (0, ["--csv", "state", "0.png"]),
        (0, ["state", "in"]), (1, ["state", "."]), (1, ["state", "text.png"]), (1, ["state", "none.png"]),
        (1, ["none", "0.png"]), (1, ["0.png", "state"]), (1, ["", "0.png"]),
    ],
)  # fmt: skip
def test_it_is_what_typer_makes_of_the_same_words(shell, begun, tiny_model, monkeypatch, code, words):
    words = ["predict", *words, "--model", str(tiny_model)]
    assert fast_predict.parse(words) is not None
    result = shell(*words)
    monkeypatch.setattr(fast_predict, "parse", lambda words: None)
    assert result == shell(*words) and result[0] == code


@pytest.mark.parametrize(
    "words",
    [
        [], ["predict"], ["predict", "state"], ["predict", "--help"], ["predict", "state", "0.png", "--top", "2"],
        ["predict", "state", "--watch", "."], ["predict", "state", "0.png", "--csv", "--json"], ["info", "state", "x"],
        ["predict", "state", "--", "-x.png"], ["predict", "state", "0.png", "--model"], ["predict", "state", "-q", "x"],
        ["predict", "state", "0.png", "--model", "--json"], ["predict", "state", "x", "--model", "a", "--model", "b"],
    ],
)  # fmt: skip
def test_everything_else_is_typer_s(words):
    assert fast_predict.parse(words) is None


@pytest.mark.parametrize("options", [["--json"], []])
def test_little_is_loaded(begun, tiny_model, options):
    words = ["predict", "state", "0.png", "--model", str(tiny_model), *options]
    environment = {name: value for name, value in os.environ.items() if name not in show.TERMINAL}
    done = subprocess.run([sys.executable, "-c", IN_THE_WAY, *words], text=True, capture_output=True, env=environment)
    assert done.returncode == 0 and (json.loads(done.stdout)["predictions"] if options else "0.png" in done.stdout)
    loaded = set(done.stderr.split())
    assert "numpy" in loaded and loaded & HEAVY == set()


def test_the_covariance_is_factored_once_and_an_answer_is_one_call(begun, tiny_model, monkeypatch):
    """For names, probabilities, "unknown" and confusions together."""
    calls: list[str] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            function = getattr(core, name)

            def called(*given: Any) -> Any:
                calls.append(name)
                return function(*given)

            return called

    core = native_sums.library()
    for module in (native_sums, native_discriminant):
        monkeypatch.setattr(module, "library", Watched)
    learner, pictures = Learner.load("state", tiny_model), tiny.pictures("red", each=2, seed=7)[0]
    latents = learner.encode(pictures)
    calls.clear()
    learner.predict_encoded(latents)
    learner.predict_encoded(latents, unknown=0.1)
    learner.predict_proba_encoded(latents)
    learner.confusions()
    assert [name for name in calls if not name.endswith(("_bytes", "_place"))] == [
        "br_discriminant_solve", "br_discriminant_answer", "br_discriminant_expect",
        "br_discriminant_answer", "br_discriminant_answer",
    ]  # fmt: skip
    calls.clear()
    learner.predict_proba_encoded(latents[:1])
    assert calls == ["br_discriminant_answer"]
