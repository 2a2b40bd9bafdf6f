"""ReActTiny keeps the sizes that it was made for."""

from pathlib import Path

import numpy as np
import torch

from bitreplay import modelfile
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone
from bitreplay.torch.convert import convert
from bitreplay.torch.models import build


def test_a_file_of_350_kb_and_one_image_in_170_kb(tmp_path: Path) -> None:
    torch.manual_seed(0)
    images = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3)).astype(np.uint8)
    names = [f"n{number:08d}" for number in range(200)]
    graph, about = convert(build("react_tiny", 200).eval(), images, class_names=names)
    modelfile.save(graph, tmp_path / "tiny", about)
    assert (tmp_path / "tiny").stat().st_size <= 350_000 - 10_000  # room for what a file says of itself
    assert native.footprint(compile_backbone(graph, "add_11", Bits(), 1), 1).arena <= 170_000
