"""A network without the classes that it was trained on: the same features, in a smaller file."""

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay import modelfile
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.parts.feature_extractor import FeatureExtractor
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.headless import LABEL, headless
from bitreplay.torch.models import build
from bitreplay.torch.pretraining.feature_match import head_of
from tests.torch.convert.pieces import patches


def test_what_sums_are_made_of_stays_and_the_file_is_smaller(tmp_path):
    torch.manual_seed(0)
    model, images = build("react_tiny", 40, widths=(8, 16, 16, 16)).eval(), patches(8, 32)
    sizes, result = [], []
    for module, names in ((model, [str(k) for k in range(40)]), (headless(model), [LABEL])):
        graph, _ = convert(module, images, class_names=names)
        modelfile.save(graph, tmp_path / "x", {})
        sizes.append((tmp_path / "x").stat().st_size)
        result.append(FeatureExtractor(graph, default_feature_layers(graph), Bits()).extract(images))
    assert np.array_equal(result[0], result[1]) and sizes[1] < sizes[0]
    assert head_of(model).out_features == 40


def test_a_head_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="The head is of kind Sequential; expected a linear layer"):
        headless(nn.ModuleDict({"head": nn.Sequential()}))
