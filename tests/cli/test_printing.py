"""Answers that cannot be printed, names that a terminal does not have, Ctrl-C: as the shell starts them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bitreplay
from bitreplay import Learner
from tests import tiny
from tests.cli.test_cli import write_pictures

SOURCE = Path(bitreplay.__file__).parents[1]
COMMANDS = {
    "learn": "learn state pictures",
    "forget": "forget state red",
    "rename": "rename state red cherry",
    "rollback": "rollback state",
}


@pytest.fixture
def folder(tmp_path, tiny_model):
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=4, min_steps=1, epochs=1)
    for colour in ("red", "green"):
        learner.learn(*tiny.pictures(colour, each=2))
        learner.save(tmp_path / "state")
    write_pictures(tmp_path / "pictures", "blue", each=2)
    return tmp_path


def bash(folder: Path, model: Path, command: str, after: str = "", **environment: str) -> subprocess.CompletedProcess:
    line = f"set -o pipefail; {sys.executable} -m bitreplay {command} --model {model} {after}"
    known = os.environ | {"PYTHONPATH": str(SOURCE)} | environment
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    return subprocess.run(["bash", "-c", line], cwd=folder, env=known, capture_output=True, encoding=encoding)


@pytest.mark.parametrize("after", [">/dev/full", "| true", ">&-", ">/dev/full 2>&1", ">&- 2>&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_done_is_done_though_nobody_hears_of_it(folder, tiny_model, command, after):
    old = Learner.load(folder / "state", tiny_model).state_hash()
    done = bash(folder, tiny_model, COMMANDS[command], after)
    assert done.returncode == 0, done
    assert Learner.load(folder / "state", tiny_model).state_hash() != old
    if after in (">/dev/full", ">&-"):
        saved = "state is rolled back." if command == "rollback" else "state is saved."
        why = "No space left on device" if "full" in after else "stdout is closed"
        assert done.stderr.strip() == f"{saved} The result cannot be printed: {why}."


@pytest.mark.parametrize("json_too", ["", "--json"])
def test_an_answer_that_was_the_whole_purpose_is_missed(folder, tiny_model, json_too):
    for after, why in ((">/dev/full", "No space left on device"), (">&-", "stdout is closed")):
        done = bash(folder, tiny_model, f"predict state pictures/blue {json_too}", after)
        assert (done.returncode, done.stderr) == (1, f"The result cannot be printed: {why}.\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp437"])
def test_names_that_the_encoding_lacks_are_escaped(folder, tiny_model, encoding):
    for command in ("rename state red 'äpfel 🍎'", "forget state green", "predict state pictures/blue"):
        done = bash(folder, tiny_model, command, PYTHONIOENCODING=encoding)
        assert done.returncode == 0 and done.stderr == "", done
        assert ("äpfel" if encoding != "ascii" else "\\xe4pfel") in done.stdout
        assert ("\\U0001f34e" in done.stdout) == (encoding != "utf-8")
    assert Learner.load(folder / "state", tiny_model).labels == ["äpfel 🍎"]


def test_a_folder_whose_name_is_no_text_is_refused_in_text(folder, tiny_model):
    (folder / "pictures" / "blue").rename(folder / "pictures" / os.fsdecode(b"caf\xe9"))
    done = bash(folder, tiny_model, "learn state pictures")
    assert done.returncode == 1 and "'caf\\udce9'" in done.stderr and "not UTF-8" in " ".join(done.stderr.split())


def takes_ctrl_c():
    """A shell that starts a job in the background has it ignore Ctrl-C, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_while_modules_are_loaded_ends_the_process_at_once(tmp_path):
    (tmp_path / "typer.py").write_text("print('loading', flush=True)\nimport time\ntime.sleep(60)\n")
    known = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"}
    command = [sys.executable, "-m", "bitreplay", "models"]
    with subprocess.Popen(
        command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=takes_ctrl_c
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "loading\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate()[1] == "Stopped by Ctrl-C.\n" and child.returncode == 130


def test_ctrl_c_while_a_state_is_saved_comes_too_late(folder, tiny_model):
    """The first fsync of the save sends it."""
    code = (
        "import os, signal, sys\nfrom bitreplay import cli\nsync = os.fsync\n"
        "def fsync(file):\n    os.kill(os.getpid(), signal.SIGINT)\n    return sync(file)\n"
        f"os.fsync = fsync\n"
        f"sys.argv = ['bitreplay', 'rename', 'state', 'red', 'cherry', '--model', {str(tiny_model)!r}]\n"
        "cli.main()\n"
    )
    known = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=known, capture_output=True, text=True, preexec_fn=takes_ctrl_c
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("red is now cherry.")


def test_ctrl_c_before_the_save_leaves_the_old_state(folder, tiny_model):
    before = (folder / "state").read_bytes()
    code = (
        "import os, signal, sys\nfrom bitreplay import Learner, cli\n"
        "Learner.learn_encoded = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\n"
        f"sys.argv = ['bitreplay', 'learn', 'state', 'pictures', '--model', {str(tiny_model)!r}]\ncli.main()\n"
    )
    known = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=known, capture_output=True, text=True, preexec_fn=takes_ctrl_c
    )
    assert (done.returncode, done.stderr) == (130, "Stopped by Ctrl-C; nothing was saved.\n")
    assert (folder / "state").read_bytes() == before


def test_one_is_said_as_one(folder, tiny_model):
    write_pictures(folder / "one", "white", each=1)
    done = bash(folder, tiny_model, "learn first one --learning-rate 0.3")
    assert done.stdout.startswith("Learned 1 picture in ") and " 1 class is known; " in " ".join(done.stdout.split())
    done = bash(folder, tiny_model, "rollback state")
    assert done.stdout == "state is back at 1 experience. Known classes: red.\n"


def test_info_and_models_lead_with_what_is_asked_for(folder, tiny_model):
    def keys(command):
        done = subprocess.run(
            [sys.executable, "-m", "bitreplay", *command, "--json"], cwd=folder, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        return json.loads(done.stdout)

    assert list(keys(["info", "state"]))[0] == "classes" and list(keys(["info", "state"]))[-2] == "model_checksum"
    assert list(keys(["info", str(tiny_model)]))[:3] == ["name", "input", "bytes"]
    assert list(keys(["models"])["models"][0])[:4] == ["name", "input", "bytes", "weights"]
