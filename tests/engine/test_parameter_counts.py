"""Parameters of a small graph, node by node."""

import numpy as np

from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.engine.parameter_counts import parameter_counts, total_parameters


def small_graph() -> Graph:
    """One node of each kind that has a rule of its own."""

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
    return Graph((8, 8, 3), nodes, {}, {"norm": (8, 8, 70), "conv": (8, 8, 70)})


def test_every_kind_of_node_is_counted():
    counted = parameter_counts(small_graph())
    assert counted["stem"] == (1890, 0) and counted["conv.sums"] == (70 * 9 * 70, 0)
    assert counted["norm"] == (0, 4 * 70)
    assert counted["conv"] == (0, 0), "it only rounds sums"
    assert counted["plain"] == (0, 2 * 70), "it has no gamma and no beta"
    assert counted["sign"] == (0, 70) and counted["blur"] == (0, 9 * 140) and counted["head"] == (0, 141 * 4)
    assert total_parameters(small_graph()) == sum(map(sum, counted.values()))
    assert parameter_counts(small_graph(), n_classes=10)["head"] == (0, 141 * 10)
