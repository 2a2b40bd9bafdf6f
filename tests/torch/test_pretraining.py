"""Pre-training on a small synthetic set: it learns, it resumes, it keeps to the clock, and its files come back."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from bitreplay.torch import tensorfile
from bitreplay.torch.arrays import Arrays
from bitreplay.torch.binarize import BinaryConv2d
from bitreplay.torch.models import build
from bitreplay.torch.pretraining import Pretraining, Report
from bitreplay.torch.recipe import default_recipe, make_optimizer
from bitreplay.torch.validate import reestimate_batchnorm
from bitreplay.torch.weights import export_parts, half_with_sign, load_weights
from bitreplay.torch.world import World

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


def make(name: str, out: Path, **changes: object) -> Pretraining:
    torch.manual_seed(0)
    recipe = default_recipe(name, **{"minibatch": 16, "rate": 0.01, **changes})
    return Pretraining(recipe, build(name, 2, widths=WIDTHS), TRAIN, VAL, out, CPU)


def test_learns_in_two_stages(tmp_path: Path) -> None:
    run = make("react18", tmp_path / "r.safetensors", epochs=6, first_stage=0.5)
    reports = list(run.epochs())
    assert [r.stage for r in reports] == [1, 1, 1, 2, 2, 2]
    assert reports[-1].rate < reports[-3].rate
    note = run.finish({"classes": 2, "options": {"widths": WIDTHS}})
    assert note["top1"] > 80
    again, loaded = load_weights(tmp_path / "r.safetensors")
    assert loaded["top1"] == note["top1"]
    for key, value in run.model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value), key


def test_teacher_learns_and_teaches(tmp_path: Path) -> None:
    run = make("teacher18", tmp_path / "t", epochs=3, rate=0.05)
    assert len(list(run.epochs())) == 3
    assert run.finish({"classes": 2})["top1"] > 80
    recipe = default_recipe("bireal18", minibatch=16, rate=0.01, epochs=4, first_stage=0.0, distill=1.0)
    torch.manual_seed(0)
    student = Pretraining(recipe, build("bireal18", 2, widths=WIDTHS), TRAIN, VAL, tmp_path / "s", CPU, run.model)
    before = {key: value.clone() for key, value in run.model.state_dict().items()}
    assert len(list(student.epochs())) == 4
    assert student.finish({"classes": 2})["top1"] > 80
    assert all(torch.equal(value, before[key]) for key, value in run.model.state_dict().items())


def test_killed_run_ends_where_an_undisturbed_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitreplay.torch.pretraining.CHECKPOINT_SECONDS", 0.0)
    whole = make("bireal18", tmp_path / "whole", epochs=4, first_stage=0.5)
    assert len(list(whole.epochs())) == 4
    killed = make("bireal18", tmp_path / "killed", epochs=4, first_stage=0.5).epochs()
    for _ in range(3):
        next(killed)
    resumed = make("bireal18", tmp_path / "killed", epochs=4, first_stage=0.5)
    assert [r.epoch for r in resumed.epochs()] == [4]
    for key, value in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[key], value), key


def test_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    tensorfile.save(tmp_path / "x.checkpoint", {}, {"recipe": {"model": "react18"}})
    with pytest.raises(ValueError, match="belongs to react18, not to bireal18"):
        make("bireal18", tmp_path / "x")


def test_time_limit_ends_the_run_and_the_decay(tmp_path: Path) -> None:
    run = make("bireal18", tmp_path / "x", epochs=10_000, time_limit=5.0, first_stage=0.5)
    run.schedule.reserve = 0.5
    reports: list[Report] = list(run.epochs())
    assert 3 <= len(reports) < 1000
    assert run.elapsed() < 7.0
    assert run.schedule.progress == pytest.approx(1.0)
    assert {r.stage for r in reports} == {1, 2}
    assert reports[-1].rate < 0.1 * run.recipe.rate


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
    paths = export_parts(tmp_path, "react18", model, note, most_bytes=80_000)
    assert len(paths) > 1
    assert all(path.stat().st_size <= 80_000 for path in paths)
    again, _ = load_weights(paths[1])
    for a, b in zip(model.modules(), again.modules(), strict=True):
        if isinstance(a, BinaryConv2d) and isinstance(b, BinaryConv2d):
            assert torch.equal(a.signs(), b.signs())
    assert half_with_sign(torch.tensor([-1e-30, 1e9, 0.0])).tolist() == [-(2.0**-24), 65504.0, 0.0]


def test_program_writes_its_files_and_ends_in_json(tmp_path: Path) -> None:
    for split, arrays in (("train", TRAIN), ("val", VAL)):
        np.save(tmp_path / f"{split}_images.npy", arrays.images[:8].permute(0, 2, 3, 1).numpy())
        np.save(tmp_path / f"{split}_labels.npy", arrays.labels[:8].numpy())
    command = [sys.executable, "-m", "bitreplay.torch.pretrain", "vgg_small", "--data", str(tmp_path), "--out"]
    command += [
        str(tmp_path / "v.safetensors"),
        "--epochs",
        "1",
        "--minibatch",
        "4",
        "--export",
        str(tmp_path / "parts"),
    ]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0].startswith("epoch 1/1")
    note = json.loads(lines[-1])
    assert note["model"] == "vgg_small" and note["epochs"] == 1
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == note["parts"]
    assert all(path.stat().st_size <= 15 * 2**20 for path in (tmp_path / "parts").iterdir())


def test_two_processes_train_one_model(tmp_path: Path) -> None:
    """Under torchrun with gloo: both processes end, process 0 alone prints and writes."""
    for split, arrays in (("train", TRAIN), ("val", VAL)):
        np.save(tmp_path / f"{split}_images.npy", arrays.images[:16].permute(0, 2, 3, 1).numpy())
        np.save(tmp_path / f"{split}_labels.npy", arrays.labels[:16].numpy())
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "0"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0", "-m", "bitreplay.torch.pretrain"]
    command += ["vgg_small", "--device", "cpu", "--data", str(tmp_path), "--out", str(tmp_path / "v"), "--epochs", "2"]
    command += ["--minibatch", "8", "--first-stage", "0.5"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith(("epoch", "{"))]
    assert [line.split()[1] for line in lines[:2]] == ["1/2", "2/2"] and len(lines) == 3
    assert json.loads(lines[2])["epochs"] == 2
    model, _ = load_weights(tmp_path / "v")
    assert all(torch.isfinite(p).all() for p in model.parameters())
