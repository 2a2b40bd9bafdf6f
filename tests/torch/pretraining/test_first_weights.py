"""ReAct-18 at 64x64 starts from the weights of 32x32: the stem is spread, all else is the same."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bitreplay.torch.models import build
from bitreplay.torch.pretraining.first_weights import spread, start_from
from bitreplay.torch.resizing import resize_view
from bitreplay.torch.weights import load_weights, save_weights

WIDTHS = [8, 8, 16, 16]
OPTIONS: dict[str, Any] = {"widths": WIDTHS}
PICTURES = resize_view(torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(0)) * 2 - 1, 32)  # smooth


@pytest.fixture
def file(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    note = {"model": "react18", "classes": 3, "options": OPTIONS, "epochs": 5, "top1": 51.0}
    save_weights(tmp_path / "r", build("react18", 3, widths=WIDTHS), note)
    return tmp_path / "r"


def stem(model: nn.Module, pictures: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model.eval().get_submodule("stem")(pictures)


def test_everything_but_the_stem_is_taken_over(file: Path) -> None:
    small, _ = load_weights(file)
    large, before = start_from(file, "react18_64", 3, OPTIONS)
    assert before["epochs"] == 5 and before["top1"] == 51.0 and large.input_size == 64
    taken, given = large.state_dict(), small.state_dict()
    assert {key for key in taken if not torch.equal(taken[key], given[key])} == {"stem.0.weight"}


def test_a_tap_is_divided_among_those_it_covers() -> None:
    kernel = torch.zeros(1, 1, 3, 3)
    kernel[0, 0, 0, 1] = 12.0
    rows, columns = torch.tensor([8.0, 4.0, 0.0, 0.0, 0.0]), torch.tensor([0.0, 0.25, 0.5, 0.25, 0.0])
    assert torch.allclose(spread(kernel)[0, 0], rows[:, None] * columns)


def test_the_first_map_is_the_same_on_flat_pictures_and_nearly_so_on_smooth_ones(file: Path) -> None:
    """The middle of a 5x5 window of stride 2 lies half a small pixel from that of the 3x3 window, so edges differ."""
    small, _ = load_weights(file)
    large, _ = start_from(file, "react18_64", 3, OPTIONS)
    flat = PICTURES[:, :, :1, :1]
    first, second = (stem(model, flat.expand(-1, -1, side, side)) for model, side in ((small, 32), (large, 64)))
    assert torch.allclose(first[..., 1:-1, 1:-1], second[..., 1:-1, 1:-1], atol=1e-5)
    first, second = stem(small, PICTURES), stem(large, resize_view(PICTURES, 64))
    assert torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1] > 0.98
    fresh = stem(build("react18_64", 3, widths=WIDTHS), resize_view(PICTURES, 64))
    assert torch.corrcoef(torch.stack([first.flatten(), fresh.flatten()]))[0, 1].abs() < 0.5


@pytest.mark.parametrize(
    ("model", "classes", "options"),
    [("react18_64", 4, OPTIONS), ("react18_64", 3, {}), ("bireal18", 3, OPTIONS), ("react_tiny", 3, OPTIONS)],
)
def test_other_networks_are_no_start(file: Path, model: str, classes: int, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="holds react18 with 3 classes"):
        start_from(file, model, classes, options)


def test_weights_of_64x64_do_not_start_32x32(file: Path, tmp_path: Path) -> None:
    large, _ = start_from(file, "react18_64", 3, OPTIONS)
    save_weights(tmp_path / "l", large, {"model": "react18_64", "classes": 3, "options": OPTIONS})
    again, _ = start_from(tmp_path / "l", "react18_64", 3, OPTIONS)
    assert torch.equal(again.state_dict()["stem.0.weight"], large.state_dict()["stem.0.weight"])
    with pytest.raises(ValueError, match="holds react18_64 with 3 classes"):
        start_from(tmp_path / "l", "react18", 3, OPTIONS)
