"""bitreplay convert and pretrain from the command line, with a small model and a small folder of pictures."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from bitreplay import cli, modelfile

NOTE = {"model": "vgg_small", "classes": 2, "class_names": ["first", "second"], "options": {"widths": [8, 8, 8]}}


def bitreplay(*arguments: str | Path | int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bitreplay", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def pictures(folder: Path) -> Path:
    """Two classes of real patches, sky and flower."""
    for name, photograph in zip(("china", "flower"), load_sample_images().images, strict=True):
        (folder / name).mkdir(parents=True)
        for k in range(12):
            patch = photograph[20 * k : 20 * k + 32, 20 * k : 20 * k + 32]
            Image.fromarray(patch).save(folder / name / f"{k}.png")
    return folder


def test_weights_become_a_model_file_that_predicts(tmp_path: Path) -> None:
    data, weights, model = pictures(tmp_path / "data"), tmp_path / "w.st", tmp_path / "small.safetensors"
    trained = bitreplay("pretrain", "bireal18", "--data", data, "--out", weights, "--epochs", 1, "--minibatch", 8,
                        "--widths", 8, 8, 16, 16, "--compile", "off", "--device", "cpu")  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    converted = bitreplay("convert", weights, "--data", data, "--out", model, "--images", 16, "--json")
    assert converted.returncode == 0, converted.stderr
    printed = json.loads(converted.stdout)
    graph, about = modelfile.load(model)
    assert printed["digest"] == modelfile.digest(graph) and printed["replay_layers"] == ["add_12", "add_8"]
    assert about["training"]["classes"] == 2 and not about["conversion"]["reestimated"]

    from bitreplay import Learner

    learner = Learner.from_pretrained(model, memory_per_class=4)
    images = np.stack([np.asarray(Image.open(path)) for path in sorted(data.glob("*/*.png"))])
    names = [path.parent.name for path in sorted(data.glob("*/*.png"))]
    learner.learn(images, names)
    assert set(learner.predict(images)) <= {"china", "flower"}


def test_missing_weights_are_refused_in_a_sentence(tmp_path: Path) -> None:
    refused = bitreplay("convert", tmp_path / "none.st", "--data", tmp_path, "--out", tmp_path / "m.safetensors")
    assert refused.returncode == 1 and "none.st" in refused.stderr and refused.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small weights `w.st`, a checkpoint and pictures in `data`."""
    from bitreplay.torch import tensorfile
    from bitreplay.torch.models import build
    from bitreplay.torch.weights import save_weights

    folder = tmp_path_factory.mktemp("convert")
    pictures(folder / "data")
    save_weights(folder / "w.st", build("vgg_small", 2, widths=[8, 8, 8]), NOTE)
    tensorfile.save(folder / "w.st.checkpoint", {}, {"recipe": {"model": "vgg_small"}, "done": 1})
    return folder


def run_here(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path | int) -> int:
    """The command in this process, since importing torch takes long; its exit code."""
    monkeypatch.setattr(sys, "argv", ["bitreplay", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_classes_keep_the_names_of_the_training(places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calibration pictures happen to have as many classes, of other names."""
    out = tmp_path / "m.safetensors"
    assert run_here(monkeypatch, "convert", places / "w.st", "--data", places / "data", "--out", out) == 0
    assert modelfile.load(out)[0].labels == ["first", "second"]


def test_the_licence_is_the_one_that_was_said(places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """We do not know whose weights these are."""
    out = tmp_path / "m.safetensors"
    command: list[Any] = ["convert", places / "w.st", "--data", places / "data", "--out"]
    assert run_here(monkeypatch, *command, out) == 0
    assert modelfile.load(out)[1]["licence"] == "unknown"
    assert run_here(monkeypatch, *command, out, "--licence", "CC-BY-4.0") == 0
    assert modelfile.load(out)[1]["licence"] == "CC-BY-4.0"


def test_size_and_class_names_are_arguments(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bitreplay.torch.models import build
    from bitreplay.torch.weights import save_weights

    note = {"model": "bireal18", "classes": 2, "options": {"widths": [4, 4, 8, 8]}}
    save_weights(tmp_path / "b.st", build("bireal18", 2, widths=[4, 4, 8, 8]), note)
    (tmp_path / "names.txt").write_text("Apfel\nBirne\n")
    (tmp_path / "three.txt").write_text("a\nb\nc\n")
    (tmp_path / "none.txt").write_text("")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    out = tmp_path / "m.safetensors"
    command: list[Any] = [
        "convert",
        tmp_path / "b.st",
        "--data",
        places / "data",
        "--out",
        out,
        "--images",
        4,
        "--size",
        48,
    ]
    assert run_here(monkeypatch, *command, "--class-names", tmp_path / "names.txt") == 0
    graph, _ = modelfile.load(out)
    assert graph.input_shape == (48, 48, 3) and graph.labels == ["Apfel", "Birne"]
    assert graph.shapes["add_12"] == (6, 6, 8)
    capsys.readouterr()
    for name, sentence in (
        ("three.txt", "There are 3 class names for a head of 2 classes."),
        ("none.txt", "is empty; expected class names, one per line."),
        ("bytes.txt", "is not a text file; expected class names, one per line."),
    ):
        assert run_here(monkeypatch, *command, "--class-names", tmp_path / name) == 1
        printed = capsys.readouterr().err
        assert printed.endswith(f"{sentence}\n") and printed.count("\n") == 1


def test_ranges_of_further_sizes_go_into_the_file(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bitreplay.torch.models import build
    from bitreplay.torch.weights import save_weights

    note = {"model": "bireal18", "classes": 2, "options": {"widths": [4, 4, 8, 8]}}
    save_weights(tmp_path / "b.st", build("bireal18", 2, widths=[4, 4, 8, 8]), note)
    out = tmp_path / "m.safetensors"
    command: list[Any] = ["convert", tmp_path / "b.st", "--data", places / "data", "--out", out, "--images", 4]
    assert run_here(monkeypatch, *command, "--size", 32, "--sizes", "48, 32,64") == 0
    graph, about = modelfile.load(out)
    assert sorted(graph.ranges_at) == [48, 64] and about["conversion"]["range_sizes"] == [32, 48, 64]
    capsys.readouterr()
    assert run_here(monkeypatch, "info", out, "--json") == 0
    assert json.loads(capsys.readouterr().out)["calibrated_at"] == [32, 48, 64]
    for text, sentence in (("48,x", "--sizes has x; expected numbers from 8 to 512, such as 128,160,224."),
                           ("50", "There are ranges for the size 50, which the graph cannot have.")):  # fmt: skip
        assert run_here(monkeypatch, *command, "--sizes", text) == 1
        assert capsys.readouterr().err == f"{sentence}\n"


@pytest.mark.parametrize("kind", ["flat", "groceries", "few", "divided"])
def test_data_may_be_any_pictures(kind: str, places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flat folder, a set by name, class folders of one picture each, and train/ beside val/."""
    sources = sorted((places / "data").glob("*/*.png"))
    folders = {"flat": ["."], "few": ["a", "b", "c"], "divided": ["train/a", "train/b", "val/a"], "groceries": []}[kind]
    for folder in folders:
        (tmp_path / "pictures" / folder).mkdir(parents=True)
        for source in sources[: 1 if kind == "few" else 5]:
            (tmp_path / "pictures" / folder / source.name).write_bytes(source.read_bytes())
    data = kind if kind == "groceries" else tmp_path / "pictures"
    out = tmp_path / "m.safetensors"
    assert run_here(monkeypatch, "convert", places / "w.st", "--data", data, "--out", out, "--images", 7) == 0
    graph, about = modelfile.load(out)
    wanted = {"flat": 5, "few": 3, "divided": 7, "groceries": 7}[kind]
    assert about["conversion"]["calibration_images"] == wanted and graph.labels == ["first", "second"]


REFUSED: dict[str, tuple[str, list[str], str]] = {
    "size": ("w.st", ["--size", "0"], "--size is 0; expected a number from 8 to 1024."),
    "no data": (
        "w.st",
        ["--data", "nowhere"],
        "There is no nowhere: expected a folder of pictures, a .npz file, or one of groceries, cifar10, cifar100, "
        "core50, tiny-imagenet.",
    ),
    "names": ("w.st", ["--class-names", "nowhere.txt"], "No such file or directory: 'nowhere.txt'"),
    "no images": ("w.st", ["--images", "0"], "--images is 0; expected at least 1."),
    "outside": ("w.st", ["--outside", "0.6"], "outside is 0.6; expected a share from 0 to below 0.5."),
    "code": ("w.st", ["--latent-bits", "3"], "latent_bits is 3; expected one of 1, 2, 4, 8, 16, 32."),
    "folder": ("w.st", ["--out", "."], ". is a folder; expected a file to write."),
    "checkpoint": ("w.st.checkpoint", [], "is not a file of trained weights: it does not say which model it holds."),
    "h5py": ("w.st", ["--larq"], "Reading Keras files needs h5py: pip install 'bitreplay[larq]'."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_one_sentence(
    name: str, places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, options, sentence = REFUSED[name]
    monkeypatch.setitem(sys.modules, "h5py", None)
    for module in ("larq_weights", "keras_file"):
        monkeypatch.delitem(sys.modules, f"bitreplay.torch.convert.{module}", raising=False)
    command: list[Any] = [
        "convert",
        places / file,
        "--data",
        places / "data",
        "--out",
        tmp_path / "m.safetensors",
        *options,
    ]
    assert run_here(monkeypatch, *command) == 1
    printed = capsys.readouterr().err
    assert printed.endswith(f"{sentence}\n") and printed.count("\n") == 1


def test_a_loss_that_diverges_is_one_sentence(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bitreplay.torch.pretraining import trainer

    monkeypatch.setattr(trainer, "pretraining_loss", lambda logits, *others, **options: logits.sum() * math.nan)
    command: list[Any] = [
        "pretrain",
        "vgg_small",
        "--data",
        places / "data",
        "--out",
        tmp_path / "v",
        "--widths",
        8,
        8,
        8,
    ]
    assert run_here(monkeypatch, *command, "--device", "cpu", "--minibatch", 8, "--epochs", 1, "--json") == 1
    assert capsys.readouterr().err == "The loss is nan in epoch 1: a lower rate may help.\n"
