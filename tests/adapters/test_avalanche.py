"""The strategy on a benchmark of Avalanche's, judged by its own metrics. `make test-adapters` has the library."""

from importlib.util import find_spec

import numpy as np
import pytest

from bitreplay import Learner
from tests import tiny

if find_spec("avalanche") is None:
    pytest.skip("avalanche-lib is an extra (avalanche): `make test-adapters` has it", allow_module_level=True)

import torch  # noqa: E402

from tests.adapters import avalanche_stubs  # noqa: E402

avalanche_stubs.declare()

from avalanche.benchmarks import class_incremental_benchmark  # noqa: E402
from avalanche.benchmarks.utils import as_classification_dataset  # noqa: E402
from avalanche.evaluation.metrics import accuracy_metrics, forgetting_metrics  # noqa: E402
from avalanche.training.plugins import EvaluationPlugin  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402

from bitreplay.adapters.avalanche import LOG_ZERO, BitreplayStrategy, as_bytes  # noqa: E402

COLOURS = tuple(tiny.COLOURS)
TRAIN, TEST = tiny.pictures(*COLOURS, each=8), tiny.pictures(*COLOURS, each=5, seed=1)


def dataset(images, labels, floats):
    tensor = torch.from_numpy(images).permute(0, 3, 1, 2)
    made = TensorDataset(tensor / 255 if floats else tensor, torch.tensor([COLOURS.index(label) for label in labels]))
    vars(made)["targets"] = made.tensors[1]
    return as_classification_dataset(made)


def benchmark(floats):
    sets = {"train": dataset(*TRAIN, floats), "test": dataset(*TEST, floats)}
    return class_incremental_benchmark(sets, num_experiences=2, seed=3)


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("strategy", ["exact", "replay"])
def test_avalanche_measures_what_the_learner_measures(tiny_model, strategy, floats):
    stream = benchmark(floats)
    evaluator = EvaluationPlugin(
        accuracy_metrics(experience=True, stream=True), forgetting_metrics(stream=True), loggers=[]
    )
    learner = Learner.from_pretrained(tiny_model, strategy=strategy)
    adapted = BitreplayStrategy(learner=learner, evaluator=evaluator, eval_mb_size=7)
    names = np.array([COLOURS.index(label) for label in TEST[1]])
    for number, experience in enumerate(stream.train_stream):
        adapted.train(experience)
        found = adapted.eval(stream.test_stream)
        accuracy = next(value for key, value in found.items() if key.startswith("Top1_Acc_Stream/eval_phase/test"))
        assert accuracy == pytest.approx(learner.evaluate(TEST[0], names).accuracy)
        assert learner.experiences == number + 1
    assert accuracy > 0.85
    if strategy == "exact":  # Avalanche shuffles, and sums do not know an order
        alone = learned_alone(tiny_model, stream)
        assert np.array_equal(alone.predict_proba(TEST[0]), learner.predict_proba(TEST[0]))


def learned_alone(tiny_model, stream):
    """The same pictures, experience by experience, without Avalanche."""
    learner = Learner.from_pretrained(tiny_model)
    images, labels = TRAIN[0], np.array([COLOURS.index(label) for label in TRAIN[1]])
    for experience in stream.train_stream:
        chosen = np.isin(labels, list(experience.classes_in_this_experience))
        learner.learn(images[chosen], labels[chosen])
    return learner


def test_classes_that_were_not_learned_are_never_answered(tiny_model):
    learner = Learner.from_pretrained(tiny_model)
    adapted = BitreplayStrategy(learner=learner, evaluator=None)
    images = torch.from_numpy(TEST[0]).permute(0, 3, 1, 2)
    assert (adapted.model(images) == LOG_ZERO).all(), "nothing is learned"
    learner.learn(TRAIN[0][:16], [2] * 8 + [5] * 8)
    found = adapted.model(images)
    assert found.shape == (20, 6) and set(found.argmax(dim=1).tolist()) <= {2, 5}
    assert np.allclose(found[:, [2, 5]].exp(), learner.predict_proba(TEST[0]), atol=1e-6)


def test_floats_that_were_no_bytes_are_refused():
    every = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16).repeat(1, 3, 1, 1)
    assert np.array_equal(as_bytes(every / 255), as_bytes(every))
    for wrong in (every / 255 - 0.5, every / 254, every.float()):
        with pytest.raises(ValueError, match="without Normalize"):
            as_bytes(wrong)
