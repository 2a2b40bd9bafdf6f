"""What a student learns from beside labels: blended views, a teacher's answers; and which weights it keeps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay.torch.arrays import Arrays, hold_out
from bitreplay.torch.models import build
from bitreplay.torch.pretraining import teacher_answers
from bitreplay.torch.pretraining.augmentation import Augmentation, draw
from bitreplay.torch.pretraining.average import RunningAverage
from bitreplay.torch.pretraining.pretraining_loop import Pretraining
from bitreplay.torch.pretraining.recipe import default_recipe
from bitreplay.torch.pretraining.report import Report
from bitreplay.torch.pretraining.teacher_answers import Answers, Kind, answers_of
from bitreplay.torch.pretraining.views import Views, view_for
from bitreplay.torch.pretraining.world import World

CPU = World(0, 1, torch.device("cpu"))
WIDTHS = (8, 8, 16, 16)


def noise(count: int, seed: int = 0) -> Arrays:
    images = np.random.default_rng(seed).integers(0, 256, (count, 3, 64, 64)).astype(np.uint8)
    return Arrays(torch.from_numpy(images), torch.arange(count) % 2)


TRAIN = noise(24)


def make(out: Path, teacher: nn.Module | None = None, **changes: Any) -> Pretraining:
    torch.manual_seed(0)
    recipe = default_recipe("react_tiny", **{"minibatch": 8, "epochs": 3, "rounding": 0.0, **changes})
    model = build("react_tiny", 2, widths=WIDTHS)
    return Pretraining(
        recipe, model, TRAIN, noise(6, 1), out, CPU, teacher,
        checkpoint_seconds=0.0, clock=lambda: 0.0, answers_at=answers_of(out.with_name("teacher")),
    )  # fmt: skip


def teacher() -> nn.Module:
    torch.manual_seed(1)
    return build("teacher_wide", 2, widths=WIDTHS).eval()


def test_a_share_of_the_views_is_blended_and_a_share_has_a_box_of_another() -> None:
    ends = torch.cat([torch.zeros(200, 3, 16, 16), torch.ones(200, 3, 16, 16)])
    view, share = Augmentation(mix=0.3, cut=0.5).blend(ends, draw(len(ends), torch.Generator().manual_seed(0)))
    other = torch.where(torch.arange(400) < 200, 1.0, -1.0)
    own = ends[:, 0, 0, 0]
    assert torch.allclose(view.mean(dim=(1, 2, 3)), own + other * share, atol=1e-5)
    flat = (view.amax(dim=(1, 2, 3)) - view.amin(dim=(1, 2, 3))) == 0
    blended, untouched, pasted = flat & (share > 0), share == 0, ~flat
    assert 90 <= blended.sum() <= 150 and 50 <= untouched.sum() <= 115 and 160 <= pasted.sum() <= 240
    assert set(view[pasted].unique().tolist()) == {0.0, 1.0}
    assert torch.equal(view[untouched], ends[untouched])


def test_held_out_images_are_apart_and_of_every_class() -> None:
    arrays = Arrays(torch.arange(100).view(-1, 1, 1, 1).expand(-1, 3, 1, 1), torch.arange(100) // 10)
    kept, held = hold_out(arrays, 10)
    assert (len(kept), len(held)) == (90, 10)
    assert sorted([*kept.images[:, 0, 0, 0].tolist(), *held.images[:, 0, 0, 0].tolist()]) == list(range(100))
    assert held.labels.tolist() == list(range(10))
    kept, held = hold_out(arrays, 0)
    assert (len(kept), len(held)) == (100, 0)


def test_the_average_is_that_of_the_last_weights_and_comes_and_goes() -> None:
    model = nn.Linear(1, 1, bias=False)
    average = RunningAverage(model, 3)
    for value in (1.0, 2.0, 6.0, 9.0):
        model.weight.data.fill_(value)
        average.update(model)
    by_hand = (1 + 2 + 6) / 3 * (2 / 3) + 9 / 3
    average.exchange(model)
    assert model.weight.item() == pytest.approx(by_hand)
    average.exchange(model)
    assert model.weight.item() == 9.0


def test_answers_belong_to_the_views_that_a_student_sees(tmp_path: Path) -> None:
    views = Views(TRAIN, Augmentation(mix=0.5, cut=0.5), 8, 3, CPU)
    judge = teacher()
    note, said = {"seed": 3, "classes": 2, "features": 0}, list[str]()
    kinds = {"blended": Kind(views, 2)}
    Answers(tmp_path / "a", kinds, note).ask(judge, said.append)
    answers = Answers(tmp_path / "a", kinds, note)
    answers.ask(judge, said.append)
    assert said == ["the teacher judges 2 sets of views"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "blended_0.safetensors", "blended_1.safetensors", "note.json",
    ]  # fmt: skip
    assert [tuple(answers.of_set("blended", k).shape) for k in (0, 1)] == [(3, 8, 2)] * 2
    turned = 0
    with torch.no_grad():
        for minibatch, answer in answers.minibatches("blended", 5):
            plain = next(m for m in views.minibatches(1) if torch.equal(m.labels, minibatch.labels))
            same = (minibatch.view == plain.view).flatten(1).all(1)
            turned += int((~same).sum())
            assert torch.equal(minibatch.view[~same], plain.view[~same].flip(3))
            assert torch.equal(answer, judge(view_for(judge, plain.view)).bfloat16())
    assert 0 < turned < 24
    with pytest.raises(ValueError, match="belongs to other views: seed 3, not 4"):
        Answers(tmp_path / "a", kinds, note | {"seed": 4})
    (tmp_path / "b").write_bytes(b"answers of an earlier version")
    with pytest.raises(ValueError, match="b is a file; expected a folder of answers, one file per set. Remove it."):
        Answers(tmp_path / "b", kinds, note)


def test_a_teacher_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"sets": 2, "distill": 1.0, "mix": 0.3}
    first = make(tmp_path / "one", teacher(), **settings)
    assert first.trainer.teacher is None
    losses = [event.loss for event in first.walk() if isinstance(event, Report)]
    first.finish({"classes": 2, "options": {"widths": WIDTHS}})
    monkeypatch.setattr(teacher_answers, "judge", None)
    second = make(tmp_path / "two", teacher(), **settings)
    assert losses == [event.loss for event in second.walk() if isinstance(event, Report)]
    answers = second.data.answers
    assert isinstance(answers, Answers) and answers.note["mix"] == 0.3
    with pytest.raises(ValueError, match="belongs to other views: mix 0.3, not 0.0"):
        make(tmp_path / "three", teacher(), sets=2)
    with pytest.raises(ValueError, match="2 sets of views need a teacher"):
        make(tmp_path / "four", sets=2)
    with pytest.raises(ValueError, match="The teacher has 3 classes; expected the 2 of the data."):
        make(tmp_path / "five", build("teacher_wide", 3, widths=WIDTHS))


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ((40.0, 50.0, 40.0), "last"),
        ((50.0, 50.0, 50.0), "average"),
        ((51.0, 50.0, 50.0), "running"),
        ((None, None, None), "average"),
    ],
)
def test_held_out_images_choose_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: tuple, kept: str
) -> None:
    run = make(tmp_path / "x", average=1.0, held_out=6, first_stage=0.0)
    list(run.walk())
    assert run.trainer.averaged is not None
    weights = (
        run.trainer.averaged.weights["head.weight"] if kept == "average" else run.model.get_parameter("head.weight")
    )
    weights = weights.detach().clone()
    statistics = {name: x.clone() for name, x in run.model.named_buffers() if name.endswith("running_mean")}
    said = iter(scores)
    monkeypatch.setattr(run, "held_out_top1", lambda: next(said))
    note = run.finish({"classes": 2, "options": {"widths": WIDTHS}})
    assert torch.equal(run.model.get_parameter("head.weight"), weights)
    same = all(torch.equal(dict(run.model.named_buffers())[name], x) for name, x in statistics.items())
    assert same == (kept == "running")
    assert (note["kept"], tuple(note["held_out"].values())) == (kept, scores)


def test_a_resumed_run_goes_on_with_its_average(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole = make(tmp_path / "a", average=2.0)
        list(whole.walk())
        cut = make(tmp_path / "b", average=2.0)
        reports = (event for event in cut.walk() if isinstance(event, Report))
        next(reports), next(reports)
        del cut, reports
        resumed = make(tmp_path / "b", average=2.0)
        list(resumed.walk())
    finally:
        torch.set_num_threads(threads)
    assert whole.trainer.averaged is not None and resumed.trainer.averaged is not None
    assert resumed.trainer.averaged.steps == whole.trainer.averaged.steps
    for name, weight in whole.trainer.averaged.weights.items():
        assert torch.equal(weight, resumed.trainer.averaged.weights[name]), name


def test_a_teacher_starts_small_and_ends_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    recipe = default_recipe("teacher_wide", epochs=4, minibatch=8, small_start=0.5, plain_end=0.25)
    model = build("teacher_wide", 2, widths=WIDTHS)
    run = Pretraining(recipe, model, TRAIN, noise(6, 1), tmp_path / "t", CPU, clock=lambda: 0.0)
    seen: list[tuple[int, bool]] = []
    step = run.trainer.step

    def watched(minibatch: Any, answer: Any, scale: float, statistics: Any) -> None:
        seen.append((0, minibatch.share is not None))
        step(minibatch, answer, scale, statistics)

    model.register_forward_pre_hook(
        lambda _, inputs: seen.__setitem__(-1, (inputs[0].shape[2], seen[-1][1])) if model.training else None
    )
    monkeypatch.setattr(run.trainer, "step", watched)
    list(run.walk())
    assert seen[::3] == [(48, True), (48, True), (64, True), (64, False)]
