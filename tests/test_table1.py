"""Table 1 from the shipped files: the counts made with Larq's own models and by hand, and the paper's figures."""

import numpy as np
import pytest

from bitreplay import zoo
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.table1 import PAPER, SETTING, Row, behind, table1, weights


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str], Row]:
    return {(row.model, row.replay_layer): row for row in table1({name: zoo.find(name).graph for name in zoo.names()})}


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
    assert row.to_json()["share"] == pytest.approx(binary / (binary + other))


def test_rows_stand_in_the_papers_order_and_those_that_differ_say_why(table):
    """The paper truncates its figures or rounds them, so each must be one of the two."""
    ours = [place for place in table if place not in PAPER]
    assert list(table) == [*PAPER, *ours] and {model for model, _ in ours} == set(zoo.names()) - set(SETTING)
    for row in (table[place] for place in PAPER):
        for figure, count in ((row.paper_total, row.total), (row.paper_binary, row.binary)):
            assert figure in (f"{count // 100_000 / 10}M", f"{count / 1e6:.1f}M"), row
        fits = row.paper_other in (f"{row.other // 1000}K", f"{round(row.other / 1000)}K")
        near = abs(100 * row.share - float(row.paper_share.rstrip("%"))) < 0.1
        assert (fits and near) != bool(row.remark), row


def test_a_graph_of_ones_own_is_counted_as_it_is():
    def norm(gamma: int, mean: int) -> dict:
        ones = {"gamma": gamma << 28, "beta": 0, "mean": mean, "inverse_sigma": 1 << 28}
        return {key: Fixed(np.full(70, value, np.int32), 28) for key, value in ones.items()}

    nodes = [
        Node("image", "image", (), {}, {"table": np.zeros((256, 3), np.int16)}),
        Node("stem", "integer_conv", ("image",), {}, {"weights": Fixed(np.zeros((70, 3, 3, 3), np.int32), 0)}),
        Node("norm", "batchnorm", ("stem",), {}, norm(2, 5)),
        Node("sign", "rsign", ("norm",), {}, {"threshold": Fixed(np.zeros(70, np.int32), 0)}),
        Node("conv.sums", "binary_conv", ("sign",), {},
             {"weights": np.zeros((70, 3, 3, 2), np.uint64), "scale": Fixed(np.ones(70, np.int32), 0)}),
        Node("conv", "batchnorm", ("conv.sums",), {}, norm(1, 0)),
        Node("plain", "batchnorm", ("conv",), {}, norm(1, 5)),
        Node("both", "concat", ("plain", "conv"), {}, {}),
        Node("blur", "blur_pool", ("both",), {}, {}),
        Node("head", "dense", ("blur",), {}, {"weights": Fixed(np.zeros((4, 140), np.int32), 0),
                                              "bias": Fixed(np.zeros(4, np.int32), 0)}),
    ]  # fmt: skip
    graph = Graph((8, 8, 3), nodes, {}, {"norm": (8, 8, 70), "conv": (8, 8, 70)})
    counted = weights(graph)
    assert counted["stem"] == (1890, 0) and counted["conv.sums"] == (70 * 9 * 70, 0)
    assert counted["norm"] == (0, 4 * 70)
    assert counted["conv"] == (0, 0), "it only rounds sums"
    assert counted["plain"] == (0, 2 * 70), "it has no gamma and no beta"
    assert counted["sign"] == (0, 70) and counted["blur"] == (0, 9 * 140) and counted["head"] == (0, 141 * 4)
    assert behind(graph, "conv", classes=10) == (0, 2 * 70 + 9 * 140 + 141 * 10)
    near, far = table1({"mine": graph})
    assert (near.replay_layer, far.replay_layer) == ("conv", "norm") and near.shape == (8, 8, 70)
    assert near.paper_total == near.remark == ""
