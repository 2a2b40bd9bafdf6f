"""experiments/protocol.py: a row a run, the same row after a cut, and a twin that is given the same samples."""

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from bitreplay.data.cifar import CIFAR10_MD5

SCRIPT = Path(__file__).resolve().parents[1] / "experiments" / "protocol.py"


@pytest.fixture
def protocol(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    spec = importlib.util.spec_from_file_location("protocol", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def data(tmp_path):
    """Ten classes, each of one brightness; 4 training images a class, in files of CIFAR-10's layout."""
    folder, rng = tmp_path / "set", np.random.default_rng(0)
    folder.mkdir()
    for name in CIFAR10_MD5:
        labels = rng.permutation(10)
        noise = rng.integers(0, 12, (10, 3072))
        records = np.concatenate([labels[:, None], 25 * labels[:, None] + noise], axis=1)
        (folder / name).write_bytes(records.astype(np.uint8).tobytes())
    return folder


@pytest.fixture
def run(protocol, data, tiny_model, tmp_path, monkeypatch):
    def call(*arguments: str) -> dict[str, str]:
        common = ["--model", str(tiny_model), "--data", str(data), "--results", str(tmp_path / "rows.csv")]
        monkeypatch.setattr(sys, "argv", ["protocol.py", *common, "--per-class", "3", *arguments])
        protocol.main()
        with (tmp_path / "rows.csv").open() as file:
            return list(csv.DictReader(file))[-1]

    return call


def test_a_run_makes_a_row(run):
    row = run("--seed", "1")
    assert (row["model"], row["strategy"], row["bits"], row["seed"]) == ("tiny0", "replay", "8/1/16", "1")
    assert len(row["after"].split()) == 5 and row["after"].split()[-1] == row["final"]
    assert int(row["replay_bytes"]) == 10 * 3 * 2 * 2 * 8 and row["augment"] == "yes" and row["path"]
    assert run("--seed", "1")["hash"] == row["hash"] != run("--seed", "2")["hash"]


@pytest.mark.parametrize("strategy, experiences", [("cwr", 5), ("naive", 5), ("joint", 1)])
def test_baselines_store_nothing(run, strategy, experiences):
    row = run("--strategy", strategy)
    assert row["strategy"] == strategy and row["replay_bytes"] == "0" and len(row["after"].split()) == experiences


def test_a_run_that_was_cut_off_makes_the_same_row(run, protocol, tmp_path, monkeypatch):
    whole = run()
    add, folder = protocol.Progress.add, str(tmp_path / "folder")

    def cut(self, entry):
        add(self, entry)
        if len(self.done) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(protocol.Progress, "add", cut)
        run("--folder", folder)
    after = run("--folder", folder)
    assert (after["hash"], after["after"]) == (whole["hash"], whole["after"])
    with pytest.raises(SystemExit, match="holds another run"):
        run("--folder", folder, "--seed", "5")


def test_the_float_twin_is_given_the_same_samples(run, protocol, monkeypatch):
    pytest.importorskip("torch")
    from bitreplay.tail import Tail
    from bitreplay.torch.float_learner import FloatStepper

    seen: dict[str, list[bytes]] = {}
    for kind in (Tail, FloatStepper):
        original, steps = kind.step, seen.setdefault(kind.__name__, [])

        def step(self, codes, labels, rate, original=original, steps=steps):
            steps.append(codes.tobytes() + labels.tobytes())
            return original(self, codes, labels, rate)

        monkeypatch.setattr(kind, "step", step)
    for bits in ("8/1/16", "float"):
        run("--bits", bits)
    assert seen["Tail"] == seen["FloatStepper"] and len(seen["Tail"]) == 5 * 40


def test_it_needs_numpy_alone():
    """On a host with nothing else installed the integer runs work: no other package is imported."""
    import subprocess

    code = (
        "import runpy, sys\n"
        f"sys.argv = ['protocol.py', '--help']\n"
        f"sys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        "try:\n"
        f"    runpy.run_path({str(SCRIPT)!r}, run_name='__main__')\n"
        "except SystemExit:\n"
        "    pass\n"
        "print(sorted({'PIL', 'typer', 'rich', 'torch', 'safetensors'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "[]"
