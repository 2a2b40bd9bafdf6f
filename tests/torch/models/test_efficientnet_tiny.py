"""EfficientNet-Tiny begins as the first half of EfficientNet-Lite0."""

import inspect

import pytest
import torch

from bitreplay.torch.distillation.distill import make_student
from bitreplay.torch.models.efficientnet_lite import EfficientNetLite0, widths_of
from bitreplay.torch.models.efficientnet_tiny import EfficientNetTiny, strongest
from bitreplay.torch.weights import save_weights

LITE0 = (8, 8, 8, 16, 16, 24, 24, 40, 48)


def settled_lite0() -> EfficientNetLite0:
    torch.manual_seed(0)
    model = EfficientNetLite0(5, widths=LITE0)
    model.train()(torch.rand(8, 3, 64, 64) * 2 - 1)
    return model.eval()


def tops(model: EfficientNetLite0, view: torch.Tensor) -> torch.Tensor:
    """Means of the inner channels of the bottleneck that is the top of the smaller network."""
    seen: list[torch.Tensor] = []
    inner = model.get_submodule("blocks.8.clip_depthwise")
    handle = inner.register_forward_hook(lambda module, inputs, output: seen.append(output))
    model(view)
    handle.remove()
    return seen[0].mean((2, 3))


def test_with_every_inner_channel_it_is_the_first_half_of_lite0() -> None:
    lite0, view = settled_lite0(), torch.rand(3, 3, 64, 64) * 2 - 1
    tiny = EfficientNetTiny(5, widths=(8, 8, 8, 16, 16, 96))
    tiny.load_state_dict(tiny.state_dict() | tiny.inherited(lite0.state_dict()))
    with torch.no_grad():
        torch.testing.assert_close(tiny.eval().features(view), tops(lite0, view))


def test_fewer_inner_channels_are_the_strongest_ones() -> None:
    lite0 = settled_lite0()
    with torch.no_grad():  # of the others nothing comes through
        for block in (6, 7, 8):
            lite0.get_parameter(f"blocks.{block}.project.0.weight")[:, 40:] *= 1e-12
    tiny, view = EfficientNetTiny(5, widths=(8, 8, 8, 16, 16, 40)), torch.rand(3, 3, 64, 64) * 2 - 1
    tiny.load_state_dict(tiny.state_dict() | tiny.inherited(lite0.state_dict()))
    with torch.no_grad():
        torch.testing.assert_close(tiny.eval().features(view), tops(lite0, view)[:, :40])


def test_strength_is_scale_times_weight_behind() -> None:
    weights = {
        "b.project.0.weight": torch.tensor([[1.0, 3.0, 0.5, 1.0]]).reshape(1, 4, 1, 1),
        "b.depthwise.1.weight": torch.tensor([1.0, -1.0, 8.0, 0.1]),
    }
    assert strongest(weights, "b", 2).tolist() == [1, 2]


def test_a_student_inherits_from_a_file_of_lite0_and_from_nothing_else(tmp_path) -> None:
    lite0 = EfficientNetLite0(1000)
    save_weights(tmp_path / "lite0.safetensors", lite0, {"model": "efficientnet_lite0", "classes": 1000})
    student = make_student("efficientnet_tiny", tmp_path / "out", tmp_path / "lite0.safetensors")
    assert torch.equal(student.model.state_dict()["stem.0.weight"], lite0.state_dict()["stem.0.weight"])
    assert student.before is not None and student.before["fresh"] == ["head.bias", "head.weight"]
    with pytest.raises(ValueError, match="holds efficientnet_lite0, not quicknet"):
        make_student("quicknet", tmp_path / "out", tmp_path / "lite0.safetensors")


def test_its_widths_are_those_of_lite0_up_to_the_fourth_stage() -> None:
    widths = inspect.signature(EfficientNetTiny).parameters["widths"].default
    assert widths[:5] == widths_of("efficientnet-lite0")[:5]
