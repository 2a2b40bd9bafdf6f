"""bitreplay convert and pretrain from the command line, with a small model and a small folder of pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from bitreplay import modelfile


def bitreplay(*arguments: str | Path | int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bitreplay", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def pictures(folder: Path) -> Path:
    """Two classes of real patches, sky and flower."""
    for name, photograph in zip(("china", "flower"), load_sample_images().images, strict=True):
        (folder / name).mkdir(parents=True)
        for k in range(12):
            patch = photograph[20 * k : 20 * k + 32, 20 * k : 20 * k + 32]
            Image.fromarray(patch).save(folder / name / f"{k}.png")
    return folder


def test_weights_become_a_model_file_that_predicts(tmp_path: Path) -> None:
    data, weights, model = pictures(tmp_path / "data"), tmp_path / "w.st", tmp_path / "small.safetensors"
    trained = bitreplay("pretrain", "bireal18", "--data", data, "--out", weights, "--epochs", 1, "--minibatch", 8,
                        "--widths", 8, 8, 16, 16, "--compile", "off", "--device", "cpu")  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    converted = bitreplay("convert", weights, "--data", data, "--out", model, "--images", 16, "--json")
    assert converted.returncode == 0, converted.stderr
    said = json.loads(converted.stdout)
    graph, about = modelfile.load(model)
    assert said["digest"] == modelfile.digest(graph) and said["levels"] == ["add_12", "add_8"]
    assert about["training"]["classes"] == 2 and not about["conversion"]["reestimated"]

    from bitreplay import Learner

    learner = Learner.from_pretrained(model, per_class=4)
    images = np.stack([np.asarray(Image.open(path)) for path in sorted(data.glob("*/*.png"))])
    names = [path.parent.name for path in sorted(data.glob("*/*.png"))]
    learner.learn(images, names)
    assert set(learner.predict(images)) <= {"china", "flower"}


def test_missing_weights_are_refused_in_a_sentence(tmp_path: Path) -> None:
    refused = bitreplay("convert", tmp_path / "none.st", "--data", tmp_path, "--out", tmp_path / "m.safetensors")
    assert refused.returncode == 1 and "none.st" in refused.stderr and refused.stderr.count("\n") == 1
