"""Pre-training on a small synthetic set: it learns, it resumes, it keeps to the clock, and its files come back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bitreplay.torch import tensorfile
from bitreplay.torch.arrays import Arrays
from bitreplay.torch.models import build
from bitreplay.torch.models.binarize import BinaryConv2d
from bitreplay.torch.pretraining.pretraining_loop import Pretraining
from bitreplay.torch.pretraining.recipe import default_recipe, make_optimizer
from bitreplay.torch.pretraining.report import Report, Step
from bitreplay.torch.pretraining.validate import reestimate_batchnorm
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.weights import export_parts, half_with_sign, load_weights

WIDTHS = (8, 8, 16, 16)
CPU = World(0, 1, torch.device("cpu"))


def two_colours(count: int, seed: int) -> Arrays:
    """Noise with more red (class 0) or more blue (class 1)."""
    noise = np.random.default_rng(seed).integers(0, 200, (count, 3, 64, 64))
    labels = np.arange(count) % 2
    noise[labels == 0, 0] += 40
    noise[labels == 1, 2] += 40
    return Arrays(torch.from_numpy(noise.astype(np.uint8)), torch.from_numpy(labels))


TRAIN, VAL = two_colours(64, 0), two_colours(40, 1)


class Clock:
    """Stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def make(name: str, out: Path, clock: Clock | None = None, reserve: float = 15.0, **changes: object) -> Pretraining:
    """A small run on the two colours that writes a checkpoint after every epoch."""
    torch.manual_seed(0)
    recipe = default_recipe(name, **{"minibatch": 16, "rate": 0.01, **changes})
    model = build(name, 2, widths=WIDTHS[:3] if name == "vgg_small" else WIDTHS)
    return Pretraining(
        recipe, model, TRAIN, VAL, out, CPU, checkpoint_seconds=0.0, reserve=reserve, clock=clock or Clock()
    )


def reports(run: Pretraining) -> list[Report]:
    return [event for event in run.walk() if isinstance(event, Report)]


def test_learns_in_two_stages(tmp_path: Path) -> None:
    run = make("react18", tmp_path / "r.safetensors", epochs=6, first_stage=0.5)
    result = reports(run)
    assert [r.stage for r in result] == [1, 1, 1, 2, 2, 2]
    assert [(r.epoch, r.expected) for r in result] == [(k, 6) for k in range(1, 7)]
    assert result[-1].rate < result[-3].rate
    assert result[2].loss < result[0].loss and result[2].accuracy > result[0].accuracy and result[5].accuracy > 75
    note = run.finish({"classes": 2, "options": {"widths": WIDTHS}})
    assert note["top1"] > 80
    assert not run.checkpoint.exists()
    again, loaded = load_weights(tmp_path / "r.safetensors")
    assert loaded["top1"] == note["top1"]
    for key, value in run.model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value), key


def test_a_step_is_told_after_every_minibatch(tmp_path: Path) -> None:
    events = list(make("vgg_small", tmp_path / "v", epochs=2, first_stage=0.5).walk())
    assert [type(event) for event in events] == 2 * (4 * [Step] + [Report])
    steps = [event for event in events if isinstance(event, Step)]
    assert [(s.epoch, s.step, s.steps, s.stage) for s in steps[3:5]] == [(1, 4, 4, 1), (2, 1, 4, 2)]
    assert steps[0].statistics.seen == 64 and 0 <= steps[0].statistics.accuracy() <= 100
    assert isinstance(events[-1], Report) and steps[-1].statistics.loss() == pytest.approx(events[-1].loss)


def test_teacher_learns_and_teaches(tmp_path: Path) -> None:
    run = make("teacher18", tmp_path / "t", epochs=3, rate=0.05)
    assert len(reports(run)) == 3
    assert run.finish({"classes": 2})["top1"] > 80
    recipe = default_recipe("bireal18", minibatch=16, rate=0.01, epochs=4, first_stage=0.0, distill=1.0)
    torch.manual_seed(0)
    student = Pretraining(recipe, build("bireal18", 2, widths=WIDTHS), TRAIN, VAL, tmp_path / "s", CPU, run.model)
    before = {key: value.clone() for key, value in run.model.state_dict().items()}
    assert len(reports(student)) == 4
    assert student.finish({"classes": 2})["top1"] > 80
    assert all(torch.equal(value, before[key]) for key, value in run.model.state_dict().items())


@pytest.mark.parametrize(("kind", "left"), [(Step, [3]), (Report, [])], ids=["in the last epoch", "behind it"])
def test_interrupted_run_ends_where_an_undisturbed_one_does(tmp_path: Path, kind: type, left: list[int]) -> None:
    """Also when it was killed while it finished: the rounding of the last epoch is in the loop again."""
    settings: dict[str, Any] = {"epochs": 3, "first_stage": 0.4, "rounding": 0.5}
    whole = make("bireal18", tmp_path / "whole", **settings)
    assert len(reports(whole)) == 3
    stopped = make("bireal18", tmp_path / "stopped", **settings).walk()
    while not (isinstance(event := next(stopped), kind) and event.epoch == 3):
        pass  # after two or three checkpoints
    resumed = make("bireal18", tmp_path / "stopped", **settings)
    assert [r.epoch for r in reports(resumed)] == left
    for key, value in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[key], value), key
    notes = [run.finish({"classes": 2, "options": {"widths": WIDTHS}}) for run in (whole, resumed)]
    assert notes[0] == notes[1] and notes[0]["top1_rounded"] is not None
    assert (tmp_path / "stopped").read_bytes() == (tmp_path / "whole").read_bytes()


def test_checkpoint_of_another_recipe_is_refused(tmp_path: Path) -> None:
    next(event for event in make("vgg_small", tmp_path / "x", epochs=2).walk() if isinstance(event, Report))
    with pytest.raises(ValueError, match="made with model vgg_small, not bireal18"):
        make("bireal18", tmp_path / "x", epochs=2)
    with pytest.raises(ValueError, match="made with rate 0.01, not 0.02: use the same settings"):
        make("vgg_small", tmp_path / "x", epochs=2, rate=0.02)
    assert make("vgg_small", tmp_path / "x", epochs=5).schedule.done == 1


def test_checkpoint_of_another_width_is_refused(tmp_path: Path) -> None:
    run = make("vgg_small", tmp_path / "x", epochs=2)
    next(event for event in run.walk() if isinstance(event, Report))
    with pytest.raises(ValueError, match="another number of classes"):
        Pretraining(run.recipe, build("vgg_small", 3, widths=WIDTHS[:3]), TRAIN, VAL, tmp_path / "x", CPU)


def test_time_limit_ends_the_run_and_the_decay(tmp_path: Path) -> None:
    """Four steps of a quarter second an epoch: of 6.5 s, 0.4 s kept back, six epochs fit, and the way is covered."""
    clock, result = Clock(), list[Report]()
    run = make("vgg_small", tmp_path / "x", clock, reserve=0.4, epochs=10_000, time_limit=6.5, first_stage=0.5)
    for event in run.walk():
        if isinstance(event, Step):
            clock.now += 0.25
        else:
            result.append(event)
    assert [r.seconds for r in result] == [1.0] * 6 and [r.elapsed for r in result] == [1, 2, 3, 4, 5, 6]
    assert [r.expected for r in result] == [10_000, 6, 6, 6, 6, 6]
    assert run.schedule.progress == pytest.approx(1.0)
    assert {r.stage for r in result} == {1, 2}
    assert result[-1].rate < 0.3 * run.recipe.rate


def test_decay_spares_latent_weights_in_the_second_stage() -> None:
    model = build("bireal18", 2, widths=WIDTHS)
    latent = {id(m.weight) for m in model.modules() if isinstance(m, BinaryConv2d)}
    for stage in (1, 2):
        optimizer = make_optimizer(model, default_recipe("bireal18"), stage)
        seen = [p for group in optimizer.param_groups for p in group["params"]]
        assert len(seen) == len(list(model.parameters()))
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                decays = parameter.dim() > 1 and not (stage == 2 and id(parameter) in latent)
                assert (group["weight_decay"] > 0) == decays


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epochs": 0}, "epochs is 0; expected a number from 1"),
        ({"first_stage": 1.5}, "first_stage is 1.5"),
        ({"temperature": 0.0}, "temperature is 0.0; expected a number from 0.01"),
        ({"match": 1.0}, "match is 1.0 and sets is 0; features are matched on fixed sets"),
        ({"sets": 2, "plain_end": 0.5}, "sets is 2, plain_end 0.5, plain_sets 0; expected plain_sets where both"),
        ({"plain_sets": 2}, "sets is 0, plain_end 0.0, plain_sets 2"),
        ({"minibtch": 3}, "A recipe has no minibtch"),
        ({"optimizer": "lion"}, "optimizer is 'lion'"),
    ],
)
def test_a_bad_setting_gives_one_sentence(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_optimizer(build("vgg_small", 2, widths=WIDTHS[:3]), default_recipe("vgg_small", **changes), 1)


def test_reestimated_statistics_are_the_plain_average() -> None:
    norm = torch.nn.BatchNorm2d(3)
    batches = [torch.randn(8, 3, 4, 4) + k for k in range(3)]
    reestimate_batchnorm(norm, batches, CPU)
    means = torch.stack([x.mean(dim=(0, 2, 3)) for x in batches]).mean(0)
    assert norm.running_mean is not None
    assert torch.allclose(norm.running_mean, means, atol=1e-6)
    assert norm.momentum == 0.1


def test_exported_parts_are_small_and_keep_every_sign(tmp_path: Path) -> None:
    model = build("react18", 2, widths=WIDTHS)
    convolution = next(m for m in model.modules() if isinstance(m, BinaryConv2d))
    convolution.weight.data.view(-1)[:4] = torch.tensor([-1e-12, 1e-12, -0.0, 0.0])
    note = {"model": "react18", "classes": 2, "options": {"widths": WIDTHS}}
    paths = export_parts(tmp_path, "react18", model, note, max_bytes=80_000, half=True)
    assert len(paths) > 1
    assert all(path.stat().st_size <= 80_000 for path in paths)
    again, _ = load_weights(paths[1])
    for a, b in zip(model.modules(), again.modules(), strict=True):
        if isinstance(a, BinaryConv2d) and isinstance(b, BinaryConv2d):
            assert torch.equal(a.signs(), b.signs())
    assert half_with_sign(torch.tensor([-1e-30, 1e9, 0.0])).tolist() == [-(2.0**-24), 65504.0, 0.0]


def test_a_file_that_is_cut_short_is_no_checkpoint(tmp_path: Path) -> None:
    run = make("vgg_small", tmp_path / "x", epochs=2)
    next(event for event in run.walk() if isinstance(event, Report))
    run.checkpoint.write_bytes(run.checkpoint.read_bytes()[:-1])
    with pytest.raises(ValueError, match="is damaged"):
        tensorfile.load(run.checkpoint)
    with pytest.raises(ValueError, match="is damaged"):
        make("vgg_small", tmp_path / "x", epochs=2)
