"""Files of trained weights: which files belong together, and what is no such file."""

from pathlib import Path
from typing import Any

import pytest
import torch

from bitreplay.torch import tensorfile
from bitreplay.torch.models import build
from bitreplay.torch.weights import class_names, digest_of, export_parts, files_of, load_weights, save_weights

NOTE: dict[str, Any] = {"model": "vgg_small", "classes": 2, "options": {"widths": [8, 8, 8]}}


@pytest.fixture
def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return build("vgg_small", 2, widths=[8, 8, 8])


@pytest.mark.parametrize("name", ["best-of-run.st", "1-of-2", "x.1-of-many.st", "one-of-2.st", "x.1-of-2"])
def test_only_numbered_parts_are_parts(tmp_path: Path, model: torch.nn.Module, name: str) -> None:
    save_weights(tmp_path / name, model, NOTE)
    again, _ = load_weights(tmp_path / name)
    assert all(torch.equal(value, again.state_dict()[key]) for key, value in model.state_dict().items())


def test_any_part_leads_to_all(tmp_path: Path, model: torch.nn.Module) -> None:
    paths = export_parts(tmp_path, "best-of-run.v2", model, NOTE, max_bytes=70_000)
    assert len(paths) > 1 and all(files_of(path) == paths for path in paths)
    again, _ = load_weights(paths[0])
    assert all(torch.equal(value, again.state_dict()[key]) for key, value in model.state_dict().items())
    before = digest_of(paths[0])
    assert digest_of(paths[-1]) == before
    paths[-1].write_bytes(paths[-1].read_bytes()[:-1])
    assert digest_of(paths[0]) != before


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": None}, "is not a file of trained weights: it does not say which model it holds"),
        ({"classes": 3}, "does not hold vgg_small with 3 classes: tensors are missing or have another shape"),
        ({"model": "vgg_large"}, "There is no model 'vgg_large'"),
        ({"options": {"widths": [8, 8]}}, "The widths of vgg_small are 8 8; expected 3"),
    ],
)
def test_what_does_not_fit_gives_one_sentence(
    tmp_path: Path, model: torch.nn.Module, changes: dict[str, Any], sentence: str
) -> None:
    note = {key: value for key, value in (NOTE | changes).items() if value is not None}
    tensorfile.save(tmp_path / "w", model.state_dict(), note)
    with pytest.raises(ValueError, match=sentence):
        load_weights(tmp_path / "w")


def test_the_trainings_own_names_come_first() -> None:
    own, result = ["cat", "dog"], ["ant", "bee"]
    assert class_names({"classes": 2, "class_names": own}, result) == own
    assert class_names({"classes": 2, "class_names": own[:1]}, result) == result
    assert class_names({"classes": 2}, [*result, "cow"]) == ["0", "1"]
