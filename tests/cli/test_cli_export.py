"""bitreplay export: the folder that it writes builds, runs, and prints the hash that it promised."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay.engine.native import LIBRARY
from bitreplay.export import write_folder
from bitreplay.learner import Learner

ROOT = Path(__file__).resolve().parents[2]


REPLAY = ["--strategy", "replay", "--batch-size", 2, "--replay-batch-size", 3, "--memory-per-class", 4, "--samples", 5]


@pytest.mark.parametrize(
    "words", [["--digests", "--exact-forget"], ["--size", 20], REPLAY, [*REPLAY, "--bits", "8/8/16", "--size", 12]]
)
def test_the_exported_main_prints_the_promised_hash(words, tiny_model, tmp_path, shell):
    code, out, _ = shell("export", tiny_model, "--out", tmp_path, "--classes", 4, *words, "--json")
    assert code == 0
    printed = json.loads(out)
    assert printed["model_bin_sha256"] == hashlib.sha256((tmp_path / "model.bin").read_bytes()).hexdigest()
    sources = [str(tmp_path / name) for name in ("main.c", "model.c")]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'core' / 'include'}"]
    link = [str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-o", str(tmp_path / "main")]
    built = subprocess.run(["cc", *flags, *sources, *link], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, printed["main_prints"])


def test_operations_are_those_of_the_core(tmp_path):
    """Each has a symbol of that name; the operations of all models of the zoo."""
    text = (ROOT / "core" / "src" / "machine" / "operation_list.h").read_text()
    for model in ("react_tiny", "quicknet"):
        write_folder(Learner.from_pretrained(model), tmp_path, 16, "cortex-m7")
        header = (tmp_path / "operations.h").read_text()
        words = header.splitlines()[-1].split(") ", 1)[1].split()
        assert len(words) > 5 and all(word in text for word in words), words


def test_what_cannot_be_exported_is_said(tiny_model, tmp_path):
    refused: list[tuple[dict[str, Any], tuple[int, str], str]] = [
        ({"strategy": "naive"}, (16, "linux"), "strategies exact and replay, got naive"),
        ({"strategy": "replay", "augment": True}, (16, "linux"), "augment=False"),
        ({"strategy": "replay"}, (4096, "linux"), "from 1 to 2048"),
        ({"strategy": "exact"}, (0, "linux"), "from 1 to 65535"),
        ({"strategy": "exact"}, (16, "z80"), "target must be one of"),
    ]
    for settings, arguments, sentence in refused:
        with pytest.raises(ValueError, match=sentence):
            write_folder(Learner.from_pretrained(tiny_model, **settings), tmp_path / "none", *arguments)
    assert not (tmp_path / "none").exists()


def test_a_state_is_exported_with_its_model_and_settings(tmp_path, shell):
    learner = Learner.from_pretrained("react_tiny", n_components=8, unknown=0.25, size=24)
    for label in range(3):
        learner.learn(np.full((1, 8, 8, 3), 40 * label, np.uint8), [label])
    learner.save(tmp_path / "taught.state")
    code, out, err = shell("export", "taught.state", "--out", "device", "--classes", 3, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["model"], told["n_components"], told["size"], told["classes"]) == ("react_tiny", 8, 24, 3)
    words = ["--n-components", 8, "--unknown", 0.25, "--size", 24, "--classes", 3]
    assert shell("export", "react_tiny", *words, "--out", "other")[0] == 0
    assert Path("device/model.bin").read_bytes() == Path("other/model.bin").read_bytes()
    for words, sentence in (
        (["--size", 24, "--digests"], "leave out --size, --digests"),
        (["--classes", 2], "has 3 classes, got --classes 2"),
    ):
        code, _, err = shell("export", "taught.state", "--out", "none", *words)
        assert code == 1 and sentence in err and not Path("none").exists()
