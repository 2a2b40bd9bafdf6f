"""The program itself, in processes of its own: its files, its words, a kill, and two processes under torchrun."""

import json
import os
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
from bitreplay.torch.pretrain import main, pretrain
from bitreplay.torch.weights import load_weights

PROGRAM = [sys.executable, "-m", "bitreplay.torch.pretrain"]
SMALL = ["--widths", "8", "8", "8", "--minibatch", "8", "--device", "cpu"]

# Runs the program and fails if a thread of the group of processes is still there when the interpreter ends.
WITH_THREAD_CHECK = """
import pathlib, sys
from bitreplay.torch.pretrain import main
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


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are listed by name on Linux alone")
def test_two_processes_train_one_model(data: Path, tmp_path: Path) -> None:
    """Both processes end and leave no thread behind; process 0 alone prints and writes."""
    (tmp_path / "program.py").write_text(WITH_THREAD_CHECK)
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
    assert all(torch.isfinite(p).all() for p in model.parameters())
