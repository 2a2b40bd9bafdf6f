"""The parts of pre-training one by one: files, resizing, augmentation, schedule, loss, choice of a compiler."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay.data.pictures.resize import resize as resize_picture
from bitreplay.torch import tensorfile
from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.pretraining import fastest
from bitreplay.torch.pretraining.augmentation import Augmentation, draw
from bitreplay.torch.pretraining.fastest import FastestForward
from bitreplay.torch.pretraining.loss import pretraining_loss
from bitreplay.torch.pretraining.schedule import Schedule, rate_factor, stage_of
from bitreplay.torch.pretraining.world import resolve_device
from bitreplay.torch.resizing import resize, resize_view

PIXELS = torch.randint(0, 256, (2, 3, 8, 8), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)


def test_tensor_file_round_trip(tmp_path: Path) -> None:
    tensors = {
        "a": torch.randn(3, 4).t(),
        "scalar": torch.tensor(7),
        "none": torch.empty(0, 2),
        "h": torch.ones(2, dtype=torch.float16),
    }
    tensorfile.save(tmp_path / "x", tensors, {"k": [1, 2]})
    loaded, note = tensorfile.load(tmp_path / "x")
    assert note == {"k": [1, 2]} and list(loaded) == list(tensors)
    for key, value in tensors.items():
        assert loaded[key].dtype == value.dtype and torch.equal(loaded[key], value)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_safetensors_reads_our_files(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    tensorfile.save(tmp_path / "x", {"a": torch.arange(6).view(2, 3)}, {})
    assert torch.equal(load_file(tmp_path / "x")["a"], torch.arange(6).view(2, 3))


@pytest.mark.parametrize("cut", [0, 4, 20, -1])
def test_truncated_tensor_file_gives_one_sentence(tmp_path: Path, cut: int) -> None:
    tensorfile.save(tmp_path / "x", {"a": torch.ones(5)}, {})
    data = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(data[:cut])
    with pytest.raises(ValueError, match="is not a tensor file|is damaged"):
        tensorfile.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"dtype": "F8_E4M3"}, "has a tensor 'a' of type 'F8_E4M3'; expected one of F32, F16"),
        ({"shape": None}, "is damaged: its header does not describe tensor 'a'"),
        ({"data_offsets": [0]}, "is damaged: its header does not describe tensor 'a'"),
        ({"shape": [-5], "data_offsets": [20, 0]}, "is damaged: tensor 'a' has shape"),
    ],
)
def test_a_header_that_does_not_fit_gives_one_sentence(tmp_path: Path, entry: dict[str, object], sentence: str) -> None:
    good: dict[str, object] = {"dtype": "F32", "shape": [5], "data_offsets": [0, 20]}
    header = json.dumps({"__metadata__": {"note": "{}"}, "a": good | entry}).encode()
    (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header + bytes(20))
    with pytest.raises(ValueError, match=sentence):
        tensorfile.load(tmp_path / "x")


def test_cuda_without_a_number_is_the_processs_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    wanted = {None: "cuda:1", "cuda": "cuda:1", "cuda:0": "cuda:0", "cpu": "cpu"}
    assert {asked: str(resolve_device(asked, 1)) for asked in wanted} == wanted
    with pytest.raises(ValueError, match="The device is cuda:2, but PyTorch finds 2 GPUs"):
        resolve_device("cuda:2", 0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert str(resolve_device(None, 1)) == "cpu"
    with pytest.raises(ValueError, match="The device is cuda:0, but PyTorch finds 0 GPUs"):
        resolve_device("cuda", 0)
    with pytest.raises(ValueError, match="The device is 'foo'; expected cpu"):
        resolve_device("foo", 0)


@pytest.mark.parametrize("side", [4, 5, 8, 12, 16])
def test_resizing_is_the_image_door_bit_for_bit(side: int) -> None:
    door = np.stack([resize_picture(picture, side) for picture in PIXELS.permute(0, 2, 3, 1).numpy()])
    assert np.array_equal(resize(PIXELS, side).permute(0, 2, 3, 1).numpy(), door)


def test_large_white_pictures_stay_white() -> None:
    """Sums beyond 32 bits: 255 * 2500 * 2500."""
    white = torch.full((1, 1, 2500, 2500), 255, dtype=torch.uint8)
    assert resize(white, 3).eq(255).all() and resize(white[..., :9, :9], 1100).eq(255).all()


@pytest.mark.parametrize("side", [4, 5, 8, 12, 16])
def test_resized_views_agree_to_rounding(side: int) -> None:
    difference = resize_view(PIXELS.double(), side) - resize(PIXELS, side).double()
    assert difference.abs().max() <= 0.5 + 1e-9


def test_resized_views_are_torch_s_own_means_and_bilinear() -> None:
    view = torch.rand(2, 3, 8, 8)
    assert torch.allclose(resize_view(view, 4), nn.functional.avg_pool2d(view, 2), atol=1e-6)
    larger = nn.functional.interpolate(view, size=(20, 20), mode="bilinear", align_corners=False)
    assert torch.allclose(resize_view(view, 20), larger, atol=1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(resize_view(view, 4), resize_view(view.clone(), 4))
        assert resize_view(view, 4).dtype == torch.float32


def test_pixels_scale_to_plus_minus_one() -> None:
    assert scale_pixels(torch.tensor([0, 255], dtype=torch.uint8)).tolist() == [-1.0, 1.0]


def test_cropping_keeps_a_flat_image_and_jitter_changes_it() -> None:
    flat = torch.tensor([10, 100, 200], dtype=torch.uint8).view(1, 3, 1, 1).expand(50, 3, 16, 16)
    cropped = Augmentation(least_area=0.1, jitter=0.0)(flat, draw(len(flat), torch.Generator().manual_seed(3)))
    assert torch.allclose(cropped, scale_pixels(flat), atol=1e-5)
    recoloured = Augmentation(least_area=0.1, jitter=0.2)(flat, draw(len(flat), torch.Generator().manual_seed(3)))
    shift = (recoloured - scale_pixels(flat)).abs().mean(dim=(1, 2, 3))
    assert (shift > 0.001).all() and (shift < 0.5).all()


def test_flip_happens_to_about_half_of_the_images() -> None:
    ramp = torch.arange(0, 160, 10, dtype=torch.uint8).view(1, 1, 1, 16).expand(200, 3, 16, 16)
    view = Augmentation(least_area=0.5, jitter=0.2)(ramp, draw(len(ramp), torch.Generator().manual_seed(0)))
    flipped = (view[:, 0, 8, 0] > view[:, 0, 8, -1]).sum().item()
    assert 70 < flipped < 130
    assert view.min() >= -1 and view.max() <= 1
    again = Augmentation(least_area=0.5, jitter=0.2)(ramp, draw(len(ramp), torch.Generator().manual_seed(0)))
    assert torch.equal(view, again)


def test_schedule_of_fixed_epochs_is_linear() -> None:
    schedule = Schedule(4)
    for k in range(4):
        assert schedule.progress == pytest.approx(k / 4)
        schedule.finish_epoch(schedule.step_size(0.0), 1.0)
    assert schedule.progress == pytest.approx(1.0) and schedule.step_size(0.0) == 0


def test_schedule_follows_the_clock() -> None:
    """Epochs of 5 s that become 10 s half way, the first slow: the way is covered in time, never backwards."""
    schedule, clock = Schedule(1000, time_limit=200, reserve=10), 0.0
    covered: list[float] = []
    while (step := schedule.step_size(clock)) > 0:
        seconds = 20.0 if not covered else 5.0 if clock < 100 else 10.0
        clock += seconds
        covered.append(step)
        schedule.finish_epoch(step, seconds)
    assert schedule.progress == pytest.approx(1.0)
    assert 180 <= clock <= 190
    assert min(covered) > 0


def test_stages_and_rates() -> None:
    assert stage_of(0.0, 0.25) == (1, 0.0)
    assert stage_of(0.25, 0.25) == (2, 0.0)
    assert stage_of(0.0, 0.0) == (2, 0.0)
    assert stage_of(1.0, 0.25) == (2, 1.0)
    for shape in ("linear", "cosine"):
        assert rate_factor(shape, 0.0) < 0.1
        assert rate_factor(shape, 0.5) == pytest.approx(0.5)
        assert rate_factor(shape, 1.0) == pytest.approx(0.0)


def test_loss_is_the_stated_mixture() -> None:
    logits = torch.tensor([[2.0, 0.0], [0.0, 0.0]])
    labels = torch.tensor([0, 1])
    options: dict[str, Any] = {"smoothing": 0.0, "distill": 0.25, "temperature": 2.0}
    hard = (math.log(1 + math.exp(-2.0)) + math.log(2)) / 2
    assert pretraining_loss(logits, labels, None, **options).item() == pytest.approx(hard)
    assert pretraining_loss(logits, labels, logits, **options).item() == pytest.approx(0.75 * hard)
    p = 1 / (1 + math.exp(-1.0))
    divergence = (p * math.log(p / 0.5) + (1 - p) * math.log((1 - p) / 0.5)) / 2
    other = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
    blended: dict[str, Any] = {"others": labels.flip(0), "share": torch.tensor([0.5, 0.0])}
    both = (math.log(1 + math.exp(-2.0)) + 1 + math.log(2)) / 2  # the first view is half of class 1, which costs 2 more
    assert pretraining_loss(logits, labels, None, **options, **blended).item() == pytest.approx(both)
    soft = pretraining_loss(other, labels, logits, **options).item()
    assert soft == pytest.approx(0.75 * math.log(2) + 0.25 * 4 * divergence, rel=1e-5)


@pytest.mark.parametrize(("slow", "expected"), [("eager", True), ("compiled", False)])
def test_the_faster_way_stays(monkeypatch: pytest.MonkeyPatch, slow: str, expected: bool) -> None:
    monkeypatch.setattr(torch, "compile", lambda module, dynamic: lambda x: module(x))
    module, messages, clock = nn.Identity(), list[str](), [0.0]
    monkeypatch.setattr(FastestForward, "now", staticmethod(lambda: clock[0]))
    forward = FastestForward([module], "auto", messages.append)
    for _ in range(2 * (fastest.WARM + fastest.TIMED)):
        clock[0] += 2.0 if (slow == "compiled") == forward.compiled else 1.0
        forward.tick()
    assert forward.compiled == expected and len(messages) == 1


def test_a_compiler_that_fails_is_left_aside() -> None:
    messages: list[str] = []
    forward = FastestForward([nn.Identity()], "on", messages.append)
    assert forward.compiled
    forward.give_up(RuntimeError("no compiler\nlong story"))
    assert not forward.compiled and messages == ["compilation failed, going on without it: RuntimeError: no compiler"]
