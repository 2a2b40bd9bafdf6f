"""The front of the command line: help, version, completion, options that every command has."""

import os
import re
import subprocess
import sys

import pytest
from PIL import Image

import bitreplay
from bitreplay import cli
from bitreplay.cli.common_options import threads_of
from bitreplay.torch.pretraining.options import NETWORKS
from tests import tiny


def test_the_version_is_said(shell):
    code, out, _ = shell("--version")
    assert code == 0 and out == f"bitreplay {bitreplay.__version__}\n"


def test_the_list_of_commands_is_not_cut_off(shell):
    code, out, _ = shell("--help")
    out = out.partition("Commands:")[2]
    listed = re.findall(r"^  ([a-z]+)  ", out, re.MULTILINE)
    assert code == 0 and "..." not in out and listed == [*cli.COMMANDS, "data", "fleet"]


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_help_that_is_not_cut_off(shell, command):
    code, out, _ = shell(command, "--help")
    assert code == 0 and not {"…", "\\"} & set(out) and not re.search(r"[a-z]\.\.\.$", out, re.MULTILINE)
    if command != "pretrain":
        assert "--quiet" in out and "--threads" in out


def test_help_names_the_defaults_of_settings(shell):
    words = " ".join(shell("learn", "--help")[1].split())
    settings = bitreplay.Settings()
    for option, default in (
        ("--bits", settings.bits),
        ("--latent-bits", settings.latent_bits),
        ("--memory-per-class", settings.memory_per_class),
        ("--epochs", settings.epochs),
        ("--seed", settings.seed),
    ):
        printed = words.partition(f"{option} ")[2].partition(" --")[0]
        assert f"[default: ({default})]" in printed, option


def test_a_command_loads_no_other(tmp_path):
    code = (
        "import sys; sys.argv = ['bitreplay', 'predict', '--help']\n"
        "from bitreplay.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*(name.rpartition('.')[2] for name in sys.modules if name.startswith('bitreplay.cli.commands.')),\n"
        "      *({'torch', 'matplotlib', 'http.client', 'sklearn'} & set(sys.modules)))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1]
    assert printed.split() == ["predict"]


def test_pretrain_explains_itself_without_torch():
    code = (
        "import sys; sys.argv = ['bitreplay', 'pretrain', '--help']; sys.modules['torch'] = None\n"
        "from bitreplay.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert done.returncode == 0 and "--checkpoint-seconds" in done.stdout, done.stderr


def test_pretrain_names_the_networks_that_there_are():
    models = pytest.importorskip("bitreplay.torch.models", reason="torch is an extra")
    assert list(NETWORKS) == [*models.MODELS, *models.TEACHERS]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell_name):
    """As the script of --show-completion asks, which each shell runs."""
    words = {"COMP_WORDS": "bitreplay pre", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "bitreplay pre"}
    environment = os.environ | words | {
        "_BITREPLAY_COMPLETE": f"complete_{shell_name}", "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "bitreplay"], env=environment, text=True, capture_output=True)
    assert "predict" in done.stdout and "pretrain" in done.stdout and "rename" not in done.stdout, done.stderr


def test_quiet_leaves_the_answer_alone(shell, tiny_model, tmp_path):
    (tmp_path / "in" / "red").mkdir(parents=True)
    for number, image in enumerate(tiny.pictures("red", each=4)[0]):
        Image.fromarray(image).save(tmp_path / "in" / "red" / f"{number}.png")
    (tmp_path / "in" / "red" / "note.txt").write_text("text")
    code, out, err = shell("learn", "state", "in", "--model", tiny_model, "--quiet")
    assert code == 0 and "Learned 4 pictures" in out and err == ""
    code, out, err = shell("learn", "state", "in", "--model", tiny_model)
    assert code == 0 and "note.txt" in err, "the next command is not quiet"


def test_threads_reach_the_network(shell, tiny_model, tmp_path, monkeypatch):
    from bitreplay.engine import native

    monkeypatch.setenv("BITREPLAY_THREADS", "1")
    seen: list[int] = []
    original = native.default_threads

    def watched() -> int:
        seen.append(original())
        return seen[-1]

    monkeypatch.setattr(native, "default_threads", watched)
    (tmp_path / "in" / "red").mkdir(parents=True)
    Image.fromarray(tiny.pictures("red", each=1)[0][0]).save(tmp_path / "in" / "red" / "1.png")
    assert shell("learn", "state", "in", "--model", tiny_model, "--threads", 3)[0] == 0
    assert set(seen) == {3}
    code, _, err = shell("learn", "state", "in", "--model", tiny_model, "--threads", 0)
    assert code == 2 and "--threads" in err
    assert os.environ["BITREPLAY_THREADS"] == "1", "what a command is told holds for it alone"


@pytest.mark.parametrize("have, taken", [(1, 1), (2, 2), (64, 4)])
def test_learning_takes_the_cores_that_there_are(have, taken, monkeypatch):
    monkeypatch.delenv("BITREPLAY_THREADS", raising=False)
    monkeypatch.setattr("bitreplay.core.cores.usable", lambda: have)
    for command, expected in (("learn", str(taken)), ("predict", None)):
        with threads_of(command, None):
            assert os.environ.get("BITREPLAY_THREADS") == expected
    assert "BITREPLAY_THREADS" not in os.environ
    monkeypatch.setenv("BITREPLAY_THREADS", "3")
    with threads_of("learn", None):
        assert os.environ["BITREPLAY_THREADS"] == "3"
