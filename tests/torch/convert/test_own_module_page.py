"""The code of docs/models.md on converting a module of one's own, run as it stands there."""

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_sample_images

from bitreplay import Learner
from bitreplay.torch.arrays import scale_pixels

PAGE = Path(__file__).resolve().parents[3] / "docs" / "models.md"


def code() -> str:
    """The indented lines behind the heading."""
    section = PAGE.read_text().split("## A network of your own\n")[1].split("\n## ")[0]
    return textwrap.dedent("\n".join(re.findall(r"^(?: {4}.*|)$", section, re.MULTILINE)))


def test_the_page_makes_a_model_file_that_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    places = [(picture, 16 * k) for picture in load_sample_images().images for k in range(16)]
    images = np.stack([picture[at : at + 32, at : at + 32] for picture, at in places])
    namespace: dict[str, Any] = {"__name__": "page", "images": images, "names": ["china", "flower"]}
    exec(code(), namespace)
    graph, module = namespace["graph"], namespace["module"]
    assert graph.labels == ["china", "flower"] and graph.shapes == {"middle": (16, 16, 16)}
    with torch.no_grad():
        assert module(scale_pixels(torch.from_numpy(images).permute(0, 3, 1, 2))).shape == (32, 2)
    learner = Learner.from_pretrained(tmp_path / "mine.safetensors", memory_per_class=4)
    learner.learn(images, ["china"] * 16 + ["flower"] * 16)
    assert set(learner.predict(images)) <= {"china", "flower"}
