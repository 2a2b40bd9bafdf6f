"""A module takes over the weights of a model file, and converted again it is the same network."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay import zoo
from bitreplay.engine.graph import Fixed
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.headless import LABEL, headless
from bitreplay.torch.convert.restore import restore
from bitreplay.torch.models import build
from tests.torch.convert.pieces import patches

SMALL: dict[str, dict[str, Any]] = {
    "quicknet": {"widths": (16, 16, 32, 32), "size": 64, "top": 48},
    "react_tiny": {"widths": (8, 16, 16, 16)},
    "bireal18": {"widths": (8, 16, 16, 16)},
    "vgg_small": {"widths": (8, 8, 8)},
}


def stirred(name: str, **options: Any) -> nn.Module:
    """A network whose statistics, factors and offsets differ from those of a fresh one."""
    torch.manual_seed(1)
    module = build(name, 3, **options)
    with torch.no_grad():
        for key, tensor in module.state_dict().items():
            if key.endswith("running_var"):
                tensor.uniform_(0.5, 2)
            elif tensor.dim() == 1:
                tensor.add_(torch.rand_like(tensor) * 0.2)
    return module.eval()


@pytest.mark.parametrize("name", SMALL)
def test_converted_restored_and_converted_again_every_array_before_the_head_is_the_same(name):
    first = stirred(name, **SMALL[name])
    images = patches(4, SMALL[name].get("size", 32))
    graph, _ = convert(first, images, class_names="abc")
    torch.manual_seed(2)
    module = build(name, 3, **SMALL[name])
    assert restore(module, graph) == ["head.bias", "head.weight"]
    again, _ = convert(module, images, class_names="abc")
    for node, other in zip(graph.nodes[:-1], again.nodes[:-1], strict=True):
        assert (node.name, node.attributes, set(node.arrays)) == (other.name, other.attributes, set(other.arrays))
        for key, array in node.arrays.items():
            if isinstance(array, Fixed):
                unit = max(2.0 ** -min(array.shift, 24), float(np.abs(array.values).max() * 2.0 ** (-array.shift - 22)))
                theirs = other.arrays[key]
                assert isinstance(theirs, Fixed)
                distance = array.values * 2.0**-array.shift - theirs.values * 2.0**-theirs.shift
                assert np.abs(distance).max() <= unit, (node.name, key)
            else:
                assert np.array_equal(array, np.asarray(other.arrays[key])), (node.name, key)


def test_layers_of_another_width_stay_and_are_named():
    options = SMALL["quicknet"]
    graph, _ = convert(headless(stirred("quicknet", **options)), patches(4, 64), class_names=[LABEL])
    wider = build("quicknet", 5, **(options | {"top": 64}))
    before = {key: x.clone() for key, x in wider.state_dict().items()}
    missing = restore(wider, graph)
    assert missing == ["head.bias", "head.weight", "top.1.weight", "top.2.bias", "top.2.weight"]
    after = wider.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in missing)
    assert not torch.equal(before["sections.0.0.conv.weight"], after["sections.0.0.conv.weight"])


def test_a_shipped_network_comes_back_whole_but_for_its_head():
    model = zoo.find("quicknet@2")
    module = build("quicknet", 10, size=160)
    assert restore(module, model.graph) == ["head.bias", "head.weight"]
    latent = module.get_parameter("sections.3.3.conv.weight").abs()
    assert latent.min() == latent.max() > 0
