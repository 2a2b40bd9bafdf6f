"""The program itself, in processes of its own: its files, its words, a kill, and two processes under torchrun."""

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bitreplay.torch import tensorfile
from bitreplay.torch.pretraining import trainer
from bitreplay.torch.pretraining.pretrain import main, pretrain, program
from bitreplay.torch.pretraining.pretraining_loop import Pretraining
from bitreplay.torch.weights import load_weights

PROGRAM = [sys.executable, "-m", "bitreplay.torch.pretraining.pretrain"]
SMALL = ["--widths", "8", "8", "8", "--minibatch", "8", "--device", "cpu"]

# Runs the program. Each process writes a hash of its final weights and fails if a thread of the group of processes is
# still there when the interpreter ends.
WITH_CHECKS = """
import hashlib, pathlib, sys
from bitreplay.torch.pretraining.pretrain import main
from bitreplay.torch.pretraining.pretraining_loop import Pretraining

finish = Pretraining.finish

def finish_and_tell(self, note):
    note = finish(self, note)
    weights = b"".join(x.cpu().numpy().tobytes() for x in self.model.state_dict().values())
    self.out.with_name(f"rank-{self.world.rank}").write_text(hashlib.sha256(weights).hexdigest())
    return note

Pretraining.finish = finish_and_tell
main()
names = [task.read_text().strip() for task in pathlib.Path("/proc/self/task").glob("*/comm")]
sys.exit(", ".join(name for name in names if "gloo" in name) or None)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two classes, 16 images a split."""
    folder = tmp_path / "data"
    folder.mkdir()
    for split in ("train", "val"):
        images = np.random.default_rng(0).integers(0, 200, (16, 64, 64, 3))
        images[::2, :, :, 0] += 50
        np.save(folder / f"{split}_images.npy", images.astype(np.uint8))
        np.save(folder / f"{split}_labels.npy", np.arange(16) % 2)
    return folder


def test_writes_its_files_and_says_what_it_did(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "v.safetensors"
    command = ["vgg_small", "--data", str(data), "--out", str(out), "--epochs", "2", *SMALL]
    main([*command, "--export", str(tmp_path / "parts")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["epoch", "1/2"], ["epoch", "2/2"]]
    assert "top-1" in lines[2] and len(lines) == 3
    _, note = load_weights(out)
    assert note["model"] == "vgg_small" and note["epochs"] == 2 and note["class_names"] == ["0", "1"]
    assert note["options"] == {"widths": [8, 8, 8]} and note["data"] == "data"
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["vgg_small.1-of-1.safetensors"]
    assert not (tmp_path / "v.safetensors.checkpoint").exists()
    main([*command, "--json", "--init", str(out)])
    again = json.loads(capsys.readouterr().out)
    assert again["model"] == "vgg_small" and again["epochs"] == 2


def test_weights_of_another_kind_are_no_start(data: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epochs": 1, "minibatch": 8, "device": "cpu", "quiet": True}
    pretrain("vgg_small", data, tmp_path / "v", widths=[8, 8, 8], **settings)
    with pytest.raises(ValueError, match="holds vgg_small with 2 classes"):
        pretrain("vgg_small", data, tmp_path / "w", widths=[8, 8, 16], init=tmp_path / "v", **settings)


def test_goes_on_after_a_kill(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "v"
    checkpoint = tmp_path / "v.checkpoint"
    command = ["vgg_small", "--data", str(data), "--out", str(out), "--checkpoint-seconds", "0", *SMALL]
    endless = subprocess.Popen([*PROGRAM, *command, "--epochs", "1000000"], stdout=subprocess.DEVNULL)
    try:
        while not checkpoint.exists():
            assert endless.poll() is None, "the run ended before its first checkpoint"
            time.sleep(0.05)
    finally:
        endless.send_signal(signal.SIGKILL)
        endless.wait()
    assert endless.returncode == -signal.SIGKILL and not out.exists()
    tensors, note = tensorfile.load(checkpoint)
    done = note["done"]
    assert done >= 1
    main([*command, "--epochs", str(done + 2)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"resumed after epoch {done}"
    assert [line.split()[1] for line in lines[1:3]] == [f"{done + k}/{done + 2}" for k in (1, 2)]
    model, note = load_weights(out)
    assert note["epochs"] == done + 2
    assert not torch.equal(model.state_dict()["head.weight"], tensors["model/head.weight"])


def test_a_fresh_start_leaves_the_checkpoint_aside(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensorfile.save(tmp_path / "v.checkpoint", {}, {"recipe": {"model": "react18"}})
    settings: dict[str, Any] = {"widths": [8, 8, 8], "epochs": 1, "minibatch": 8, "device": "cpu"}
    with pytest.raises(ValueError, match="react18, not vgg_small"):
        pretrain("vgg_small", data, tmp_path / "v", **settings)
    pretrain("vgg_small", data, tmp_path / "v", fresh=True, **settings)
    assert "epoch 1/1" in capsys.readouterr().out


def test_a_checkpoint_of_another_origin_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: dict[str, Any] = {"widths": [8, 8, 8], "epochs": 1, "minibatch": 8, "device": "cpu", "quiet": True}
    for name, seed in (("first", 1), ("second", 2)):
        pretrain("vgg_small", data, tmp_path / name, seed=seed, **settings)
    settings |= {"teacher": tmp_path / "first", "checkpoint_seconds": 0}

    def killed(run: Pretraining, note: dict[str, Any]) -> dict[str, Any]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Pretraining, "finish", killed)
        pretrain("vgg_small", data, tmp_path / "v", **settings)
    with pytest.raises(ValueError, match=r"v.checkpoint was made with teacher_sha256 \w{12}, not None: use the same"):
        pretrain("vgg_small", data, tmp_path / "v", **settings | {"teacher": None})
    with pytest.raises(ValueError, match=r"teacher_sha256 (\w{12}), not (?!\1)\w{12}:"):
        pretrain("vgg_small", data, tmp_path / "v", **settings | {"teacher": tmp_path / "second"})
    with pytest.raises(ValueError, match=r"made with init_sha256 None, not \w{12}:"):
        pretrain("vgg_small", data, tmp_path / "v", init=tmp_path / "second", **settings)
    shutil.copytree(data, tmp_path / "other")
    with pytest.raises(ValueError, match="made with data data, not other:"):
        pretrain("vgg_small", tmp_path / "other", tmp_path / "v", **settings)
    for part in ("images", "labels"):
        np.save(data / f"train_{part}.npy", np.load(data / f"train_{part}.npy")[:12])
    with pytest.raises(ValueError, match="made with images 16, not 12:"):
        pretrain("vgg_small", data, tmp_path / "v", **settings)


REFUSED = {
    "few widths": (["--widths", "8", "8"], "The widths of vgg_small are 8 8; expected 3 integers of at least 4."),
    "narrow": (["--widths", "8", "0", "8"], "The widths of vgg_small are 8 0 8; expected 3 integers of at least 4."),
    "device": (["--device", "foo"], "The device is 'foo'; expected cpu, cuda or cuda:NUMBER."),
    "temperature": (["--temperature", "0"], "temperature is 0.0; expected a number from 0.01 to 1000."),
    "out": (["--out", "."], ". is a folder; expected a file to write."),
    "export": (["--export", __file__], f"{__file__} is a file; expected a folder for the parts."),
    "loss": ([], "The loss is nan in epoch 1: a lower rate may help."),
    "teacher": (["--teacher", "none"], "[Errno 2] No such file or directory: 'none'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_one_sentence(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options, sentence = REFUSED[name]
    command = ["vgg_small", "--data", str(data), "--out", str(tmp_path / "v"), "--epochs", "1", *SMALL, *options]
    monkeypatch.setattr(sys, "argv", ["pretrain", *command])
    monkeypatch.setattr(trainer, "pretraining_loss", lambda logits, *others, **options: logits.sum() * math.nan)
    assert program() == 1
    assert capsys.readouterr().err == f"{sentence}\n"


def test_an_empty_array_is_refused(data: Path, tmp_path: Path) -> None:
    for name in ("val_labels.npy", "train_images.npy"):
        (data / name).write_bytes(b"")
        with pytest.raises(ValueError, match=f"{name} cannot be read as an array: it is empty"):
            pretrain("vgg_small", data, tmp_path / "v", device="cpu", quiet=True)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are listed by name on Linux alone")
def test_two_processes_train_one_model(data: Path, tmp_path: Path) -> None:
    """Both see other images and hold the same weights; both end and leave no thread; process 0 alone prints, writes."""
    (tmp_path / "program.py").write_text(WITH_CHECKS)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(tmp_path / "program.py"), "vgg_small", "--data", str(data), "--out", str(tmp_path / "v"), *SMALL]
    result = subprocess.run(
        [*command, "--epochs", "2", "--first-stage", "0.5"], capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["epoch", "1/2"], ["epoch", "2/2"]] and len(lines) == 3
    model, note = load_weights(tmp_path / "v")
    assert note["epochs"] == 2
    written = b"".join(x.numpy().tobytes() for x in model.state_dict().values())
    hashes = [(tmp_path / f"rank-{rank}").read_text() for rank in (0, 1)]
    assert hashes == 2 * [hashlib.sha256(written).hexdigest()]
    assert all(torch.isfinite(p).all() for p in model.parameters())
