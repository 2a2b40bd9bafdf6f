"""Features of the teacher beside its logits: told, matched, forgotten in the file; plain sets of views at the end."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.models import build
from bitreplay.torch.pretraining import teacher_answers
from bitreplay.torch.pretraining.feature_match import (
    ProjectingHead,
    add_projection,
    drop_projection,
    feature_loss,
    logits_and_features,
)
from bitreplay.torch.pretraining.pretraining_loop import Pretraining
from bitreplay.torch.pretraining.recipe import default_recipe
from bitreplay.torch.pretraining.report import Report
from bitreplay.torch.pretraining.teacher_answers import answers_of
from bitreplay.torch.weights import load_weights
from tests.torch.pretraining.test_pretraining import CPU, TRAIN, VAL, WIDTHS
from tests.torch.pretraining.test_teacher_answers import teacher

MATCHED: dict[str, Any] = {"sets": 2, "plain_sets": 1, "plain_end": 0.5, "match": 1.0, "mix": 0.3}


def make(out: Path, **changes: Any) -> Pretraining:
    torch.manual_seed(0)
    settings = {
        "minibatch": 16,
        "epochs": 4,
        "rate": 0.01,
        "first_stage": 0.0,
        "rounding": 0.25,
        **MATCHED,
        **changes,
    }
    recipe, model = default_recipe("react_tiny", **settings), build("react_tiny", 2, widths=WIDTHS)
    return Pretraining(
        recipe, model, TRAIN, VAL, out, CPU, teacher(),
        checkpoint_seconds=0.0, clock=lambda: 0.0, answers_at=answers_of(out.with_name("teacher")),
    )  # fmt: skip


def losses(run: Pretraining) -> list[float]:
    return [event.loss for event in run.walk() if isinstance(event, Report)]


def test_the_loss_is_one_less_the_cosine() -> None:
    projected = torch.tensor([[3.0, 0.0], [1.0, 1.0], [0.0, -2.0]])
    wanted = torch.tensor([[5.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert feature_loss(projected, wanted).item() == pytest.approx((0 + 1 - math.sqrt(0.5) + 2) / 3)


def test_a_teacher_tells_what_enters_its_head() -> None:
    judge, view = teacher(), scale_pixels(TRAIN.images[:4])
    with torch.no_grad():
        both, logits = logits_and_features(judge, view), judge(view)
        assert both.shape == (4, 2 + WIDTHS[-1]) and torch.equal(both[:, :2], logits)
        assert torch.allclose(judge.get_submodule("head")(both[:, 2:]), logits)
    assert not judge.get_submodule("head")._forward_pre_hooks


def test_a_projection_comes_in_training_and_goes_without_a_trace() -> None:
    model = build("react_tiny", 2, widths=WIDTHS)
    names, head = list(model.state_dict()), model.get_submodule("head")
    x = scale_pixels(VAL.images[:3, :, ::2, ::2])
    add_projection(model, 7)
    assert isinstance(model.get_submodule("head"), ProjectingHead)
    assert model.train()(x).shape == (3, 9) and model.eval()(x).shape == (3, 2)
    for _ in range(2):
        drop_projection(model)
        assert list(model.state_dict()) == names and model.get_submodule("head") is head


def test_features_are_matched_better_and_the_file_has_the_network_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make(tmp_path / "one", distill=0.0, label_smoothing=0.0)
    result = losses(run)
    assert result[-1] < result[0]
    note = run.finish({"classes": 2, "options": {"widths": WIDTHS}})
    assert note["recipe"]["match"] == 1.0 and note["recipe"]["plain_sets"] == 1
    network, _ = load_weights(tmp_path / "one")
    assert isinstance(network.get_submodule("head"), nn.Linear)
    trained_weights = run.model.state_dict()
    assert (
        list(network.state_dict()) == list(trained_weights) == list(build("react_tiny", 2, widths=WIDTHS).state_dict())
    )
    assert all(torch.equal(value, trained_weights[key]) for key, value in network.state_dict().items())
    monkeypatch.setattr(teacher_answers, "judge", None)
    assert losses(make(tmp_path / "two", distill=0.0, label_smoothing=0.0)) == result, "answers are read again"
    plain = make(tmp_path / "three", match=0.0)
    assert plain.data.answers is not None and plain.data.answers.of_set("plain", 0).shape == (4, 16, 2)


def test_the_matched_loss_goes_down_by_itself(tmp_path: Path) -> None:
    """Labels and logits aside: the weight of the match is a thousand times theirs."""
    result = losses(make(tmp_path / "one", match=1000.0, epochs=6, rounding=0.0))
    assert result[-1] < 0.9 * result[0]


def test_blended_sets_come_first_and_plain_ones_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, seen = make(tmp_path / "one"), list[tuple[bool, int]]()
    step = run.trainer.step

    def watched(minibatch: Any, answer: Any, scale: float, statistics: Any) -> None:
        seen.append((minibatch.share is not None, answer.shape[1]))
        step(minibatch, answer, scale, statistics)

    monkeypatch.setattr(run.trainer, "step", watched)
    list(run.walk())
    assert seen[::4] == [(True, 18), (True, 18), (False, 18), (False, 18)]
    answers = run.data.answers
    assert answers is not None and run.data.middle is not None
    by_hand = torch.cat([answer for _, answer in answers.minibatches("blended", 0)])[:, 2:].float().mean(0)
    assert torch.allclose(run.data.middle, by_hand, atol=1e-5)


def test_answers_without_features_are_no_use_to_a_match(tmp_path: Path) -> None:
    make(tmp_path / "one", match=0.0)
    with pytest.raises(ValueError, match=r"teacher.answers belongs to other views: features 0, not 16. Remove it"):
        make(tmp_path / "two")


def test_a_resumed_run_goes_on_with_its_projection(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole = make(tmp_path / "a", average=1.0)
        losses(whole)
        cut = (event for event in make(tmp_path / "b", average=1.0).walk() if isinstance(event, Report))
        next(cut), next(cut)
        resumed = make(tmp_path / "b", average=1.0)
        assert len(losses(resumed)) == 2
        for key, value in whole.model.state_dict().items():
            assert torch.equal(value, resumed.model.state_dict()[key]), key
        for run in (whole, resumed):
            run.finish({"classes": 2, "options": {"widths": WIDTHS}})
    finally:
        torch.set_num_threads(threads)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
