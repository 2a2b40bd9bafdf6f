"""Table 1 from the shipped files: the counts made with Larq's own models and by hand, and the paper's figures."""

from pathlib import Path

import pytest
import torch
from torch import fx, nn

from bitreplay import zoo
from bitreplay.torch.models import build
from bitreplay.torch.models.binarize import BinaryConv2d
from bitreplay.torch.models.layers import Blur, trace
from tests.engine.test_parameter_counts import small_graph
from tests.torch.replay_layers import replay_layer_tensors

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(autouse=True)
def experiments(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture
def table():
    from table1_counts import count_all

    return {
        (row.model, row.replay_layer): row for row in count_all({name: zoo.find(name).graph for name in zoo.names()})
    }


@pytest.mark.parametrize(
    ("model", "replay_layer", "shape", "total", "binary", "other"),
    [
        ("quicknet", "quant_conv2d_16", (7, 7, 256), 12_756_370, 9_568_256, 35_890),
        ("quicknet", "quant_conv2d_11", (14, 14, 128), 12_756_370, 11_960_320, 43_314),
        ("quicknet_large", "quant_conv2d_30", (7, 7, 256), 22_871_954, 14_286_848, 39_986),
        ("quicknet_large", "quant_conv2d_17", (14, 14, 128), 22_871_954, 21_397_504, 55_602),
        ("vgg_small", "conv_5", (8, 8, 512), 4_663_690, 2_359_296, 86_026),
        ("react18", "add_12", (4, 4, 512), 11_198_474, 7_077_888, 18_954),
        ("react18", "add_11", (8, 8, 256), 11_198_474, 8_388_608, 24_074),
        ("bireal18", "add_12", (4, 4, 512), 11_183_562, 7_077_888, 11_274),
        ("bireal18", "add_8", (8, 8, 256), 11_183_562, 10_158_080, 18_442),
    ],
)
def test_counts(table, model, replay_layer, shape, total, binary, other):
    row = table[model, replay_layer]
    assert (row.shape, row.total, row.binary, row.other) == (shape, total, binary, other)
    assert row.share == pytest.approx(binary / (binary + other))


def test_rows_stand_in_the_papers_order_and_those_that_differ_say_why(table):
    """The paper truncates its figures or rounds them, so each must be one of the two."""
    from table1_counts import PAPER, SETTING

    ours = [key for key in table if key not in PAPER]
    assert list(table) == [*PAPER, *ours] and {model for model, _ in ours} == set(zoo.names()) - set(SETTING)
    for row in (table[key] for key in PAPER):
        for figure, count in ((row.paper_total, row.total), (row.paper_binary, row.binary)):
            assert figure in (f"{count // 100_000 / 10}M", f"{count / 1e6:.1f}M"), row
        fits = row.paper_other in (f"{row.other // 1000}K", f"{round(row.other / 1000)}K")
        near = abs(100 * row.share - float(row.paper_share.rstrip("%"))) < 0.1
        assert (fits and near) != bool(row.remark), row


def convolution_weights(layer: nn.Module) -> int:
    return layer.weight.numel() if isinstance(layer, (nn.Conv2d, BinaryConv2d)) else 0


def other_weights(layer: nn.Module) -> int:
    if isinstance(layer, nn.BatchNorm2d):
        return layer.num_features * (4 if layer.affine else 2)
    if isinstance(layer, Blur):
        return layer.kernel.numel()
    return 0 if convolution_weights(layer) else sum(p.numel() for p in layer.parameters())


def layers_after(graph: fx.GraphModule, path: str) -> list[nn.Module]:
    """The layers whose output depends on the output of the layer at `path`; all of them for the empty path."""
    after: set[fx.Node] = set()
    layers: list[nn.Module] = []
    for node in graph.graph.nodes:
        if node.target == path or (not path and node.op == "placeholder"):
            after.add(node)
        elif after & set(node.all_input_nodes):
            after.add(node)
            if node.op == "call_module":
                layers.append(graph.get_submodule(str(node.target)))
    return layers


@pytest.mark.parametrize("name", ["bireal18", "react18", "vgg_small", "quicknet", "quicknet_large"])
def test_shipped_files_count_as_the_published_networks_do(name: str) -> None:
    """Table 1 is counted from graphs; here the modules are counted, with the paper's classes and image size."""
    from table1_counts import SETTING, count

    side, n_classes = SETTING[name]
    model = build(name, n_classes)
    graph, replay_layers = trace(model), model.replay_layers
    assert isinstance(replay_layers, dict)
    shapes = {
        replay_layer: x.shape for replay_layer, x in replay_layer_tensors(model, torch.zeros(1, 3, side, side)).items()
    }
    rows = count(name, zoo.find(name).graph)
    assert {row.replay_layer for row in rows} == set(replay_layers)
    for row in rows:
        behind = layers_after(graph, replay_layers[row.replay_layer])
        assert row.total == sum(convolution_weights(m) + other_weights(m) for m in layers_after(graph, ""))
        assert (row.binary, row.other) == (sum(map(convolution_weights, behind)), sum(map(other_weights, behind)))
        _, channels, height, width = shapes[row.replay_layer]
        assert row.shape == (height, width, channels)


def test_a_network_that_the_paper_does_not_have_is_counted_as_it_is():
    from table1_counts import behind, count_all

    graph = small_graph()
    assert behind(graph, "conv", n_classes=10) == (0, 2 * 70 + 9 * 140 + 141 * 10)
    near, far = count_all({"mine": graph})
    assert (near.replay_layer, far.replay_layer) == ("conv", "norm") and near.shape == (8, 8, 70)
    assert near.paper_total == near.remark == ""
