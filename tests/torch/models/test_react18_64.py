"""ReAct-18 at 64x64: behind its stem the network of 32x32; the engine, the twin and the learner in C agree on it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bitreplay import Learner, modelfile
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_whole
from bitreplay.engine.operations import Run
from bitreplay.export import image_of
from bitreplay.torch.convert import convert
from bitreplay.torch.models import build, input_size
from bitreplay.torch.twin.twin import Twin
from tests.core.c_learner import CLearner

WIDTHS = (64, 64, 72, 80)  # the stem's own width; the rest narrow


def pictures(count: int, side: int = 64) -> np.ndarray:
    """Random patches of 8x8 with noise, so that stems see edges."""
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 226, (count, side // 8, side // 8, 3)).repeat(8, axis=1).repeat(8, axis=2)
    return (coarse + rng.integers(0, 30, coarse.shape)).astype(np.uint8)


@pytest.fixture(scope="module")
def graph():
    torch.manual_seed(0)
    converted, _ = convert(build("react18_64", 5, widths=WIDTHS).eval(), pictures(16), class_names=list("abcde"))
    return converted


def test_only_the_stem_differs_from_32x32() -> None:
    small, large = build("react18", 5), build("react18_64", 5)
    assert (input_size("react18"), input_size("react18_64")) == (32, 64)
    shapes = {key: x.shape for key, x in small.state_dict().items()}
    other = {key: x.shape for key, x in large.state_dict().items()}
    assert {key for key in shapes if shapes[key] != other[key]} == {"stem.0.weight"} and set(shapes) == set(other)
    assert other["stem.0.weight"] == (64, 3, 5, 5)
    first = [model.get_submodule("stem")(torch.zeros(1, 3, side, side)).shape
             for model, side in ((small, 32), (large, 64))]  # fmt: skip
    assert first[0] == first[1] == (1, 64, 32, 32)


@pytest.mark.parametrize("path", native.available_isas())
def test_every_path_computes_the_codes_of_the_reference_and_the_logits_of_the_twin(graph, path, record_property):
    record_property("path", path)
    images, before = pictures(3), native.isa()
    backbone, whole = compile_backbone(graph, "add_12", Bits(), 3), compile_whole(graph, Bits(), 3)
    try:
        native.set_isa(path)
        codes: list[np.ndarray] = []
        logits: list[np.ndarray] = []
        for machine in (native.NativeMachine, native.SlowMachine):
            for program, read, result in ((backbone, "latents", codes), (whole, "logits", logits)):
                runner = machine(program)
                runner.write("images", images)
                runner.run("forward", Run(3))
                result.append(runner.read(read, 3))
    finally:
        native.set_isa(before)
    assert np.array_equal(codes[0], codes[1]) and np.array_equal(logits[0], logits[1])
    assert np.abs(logits[0] * 2.0**-16 - Twin(graph)(images).numpy()).max() <= 2.0**-15


def test_the_learner_in_c_reads_64x64(graph, tmp_path: Path) -> None:
    modelfile.save(graph, tmp_path / "m.safetensors", {"name": "react18_64"})
    python = Learner.from_pretrained(tmp_path / "m.safetensors", strategy="exact")
    c, images = CLearner(image_of(python), classes=16), pictures(4, 96)
    assert np.array_equal(np.array([c.extract(image) for image in images]), python.encode(images))
    for learner in (python, c):
        learner.learn(images, [1, 2, 1, 2])
    assert c.state_hash() == python.state_hash() and c.predict(images) == python.predict(images).tolist()
