"""The commands of docs/pretraining.md, one after the other, on sixteen pictures and narrow networks."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from bitreplay.torch.distillation import distillation_options as distillation
from bitreplay.torch.models import TEACHERS
from bitreplay.torch.pretraining.pretrain import main
from bitreplay.torch.weights import load_weights

PAGE = Path(__file__).resolve().parents[3] / "docs" / "pretraining.md"
EVERY = [
    shlex.split(text.replace("\\\n", " "))[2:]
    for text in re.findall(r"^    (bitreplay pretrain (?:.*\\\n)*.*)$", PAGE.read_text(), re.MULTILINE)
]
WITHOUT_LABELS = [command for command in EVERY if set(distillation.TEACHERS) & set(command)]
COMMANDS = [command for command in EVERY if command not in WITHOUT_LABELS]
SMALL = shlex.split("--widths 8 8 8 8 --epochs 2 --minibatch 8 --held-out 4 --device cpu --json")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny-imagenet-200").mkdir()
    for split in ("train", "val"):
        images = np.random.default_rng(0).integers(0, 256, (20, 64, 64, 3)).astype(np.uint8)
        np.save(tmp_path / "tiny-imagenet-200" / f"{split}_images.npy", images)
        np.save(tmp_path / "tiny-imagenet-200" / f"{split}_labels.npy", np.arange(20) % 2)
    return tmp_path


def test_the_command_without_labels_has_the_options_that_it_names() -> None:
    command = distillation.parser().parse_args(WITHOUT_LABELS[0])
    assert (command.model, command.size, command.also) == ("quicknet", 160, [["react_tiny", "react_tiny.safetensors"]])


def test_every_command_of_the_page_makes_its_file(here: Path) -> None:
    assert [command[0] for command in COMMANDS] == ["teacher_wide", "react18", "react18_64", "quicknet"]
    answered_sets: dict[str, set[str]] = {}
    for command in COMMANDS:
        few = ["--sets", "2"] * ("--sets" in command) + ["--plain-sets", "1"] * ("--plain-sets" in command)
        if command[0] == "react18_64":
            shutil.rmtree(here / "teacher.safetensors.answers")  # it has no features
        note = main([*command, *SMALL, *few])
        network, saved_note = load_weights(here / command[command.index("--out") + 1])
        assert (
            saved_note["model"] == command[0] and saved_note["epochs"] == 2 and not hasattr(network.head, "projection")
        )
        assert (note["teacher_top1"] is None) == (command[0] in TEACHERS)
        answered_sets[command[0]] = {path.name for path in here.glob("teacher.safetensors.answers/*.safetensors")}
    names = {"blended_0.safetensors", "blended_1.safetensors"}
    assert answered_sets["react18"] == names and answered_sets["react18_64"] == answered_sets["quicknet"] == names | {
        "plain_0.safetensors"
    }
    assert load_weights(here / "react18_64.safetensors")[1]["before"]["recipe"]["model"] == "react18"
