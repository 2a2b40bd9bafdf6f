"""The lines of Python and of the shell in README.md and docs/ are run, page by page, as a reader would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image

import bitreplay
from bitreplay.data.dataset import Dataset
from tests import tiny

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.ipynb"))]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WITH_PYTHON = [
    page for page in PAGES if page.parent.name != "start" and BLOCK.search(page.read_text())
]  # `make test-install` has those


def given() -> dict[str, Any]:
    """What a reader has: some pictures of two classes, a data set."""
    images, labels = tiny.pictures("red", "green", each=2, side=40)
    ten = np.random.default_rng(0).integers(0, 256, (10, 32, 32, 3), np.uint8)
    data = Dataset(ten, np.arange(10), ten, np.arange(10), tuple("abcdefghij"))
    return {
        "images": images,
        "labels": [{"red": "kiwi", "green": "apple"}[label] for label in labels],
        "pictures": images[:1],
        "data": data,
    }


def test_the_pages_have_lines_to_run():
    assert {"README.md", "learner.md"} <= {page.name for page in WITH_PYTHON}


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_lines_of_python_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photographs(tmp_path, "new-fruit")
    known = given()
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, str(page), "exec"), known)
    assert (tmp_path / "scale.state").exists() and known["learner"].labels


def test_modules_that_docs_name_are_there_after_importing_the_package():
    code = "import bitreplay; print(bitreplay.statefile.Lock.__name__, bitreplay.scenario.new_classes.__name__)"
    known = os.environ | {"PYTHONPATH": str(Path(bitreplay.__file__).parents[1])}
    assert subprocess.check_output([sys.executable, "-c", code], env=known, text=True) == "Lock new_classes\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bitreplay.nothing


def test_a_shell_can_complete_names_that_are_imported_later():
    code = "import bitreplay; print({'Learner', 'labelled', 'follow', 'scenario'} - set(dir(bitreplay)))"
    known = os.environ | {"PYTHONPATH": str(Path(bitreplay.__file__).parents[1])}
    assert subprocess.check_output([sys.executable, "-c", code], env=known, text=True) == "set()\n"


def test_options_that_pages_name_are_there():
    """Of every command, wherever a page writes it down; `pretrain` reads its own."""
    from bitreplay.cli import COMMANDS
    from bitreplay.cli.application import application_for

    whole: Any = typer.main.get_command(application_for([]))
    known = {name: {word for option in whole.commands[name].params for word in (*option.opts, *option.secondary_opts)}
             for name in COMMANDS if name != "pretrain"}  # fmt: skip
    seen = 0
    for page in PAGES:
        for line in re.findall(r"\bbitreplay ([^`\n#\"\\]*)", page.read_text().replace("\\\n", " ")):
            command, *words = line.split() or [""]
            if command in known:
                named = {word for word in words if re.fullmatch(r"--[a-z-]+", word)}
                assert named <= known[command] | {"--help"}, f"{page.name}: bitreplay {line}"
                seen += len(named)
    assert seen > 50


def photographs(place: Path, folder: str) -> None:
    """Pictures with the names that pages use."""
    images, _ = tiny.pictures("red", "green", each=1, side=40)
    for name, image in zip(("kiwi", "apple"), np.asarray(images), strict=True):
        (place / folder / name).mkdir(parents=True)
        Image.fromarray(image).save(place / folder / name / "1.png")
        Image.fromarray(image).save(place / "photo.jpg")


def test_commands_of_your_pictures_run(tmp_path):
    photographs(tmp_path, "photos")
    (block,) = SHELL.findall((ROOT / "docs" / "your-pictures.md").read_text())
    known = os.environ | {"PYTHONPATH": str(Path(bitreplay.__file__).parents[1])}
    for line in block.splitlines():
        command = [sys.executable, "-m", *line.split()]
        done = subprocess.run(command, cwd=tmp_path, env=known, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "kiwi" in done.stdout and "apple" in done.stdout


def test_commands_of_the_page_on_c_build_a_program_that_prints_its_hash(tmp_path):
    (block,) = SHELL.findall((ROOT / "docs" / "c.md").read_text())
    (tmp_path / "core").symlink_to(ROOT / "core")
    first, *others = block.splitlines()
    known = os.environ | {"PYTHONPATH": str(Path(bitreplay.__file__).parents[1])}
    assert first.startswith("bitreplay export ")
    lines = "\n".join([f'"$PYTHON" -m {first}', *others]).replace("$(python ", '$("$PYTHON" ')
    command = ["bash", "-e", "-c", lines]
    done = subprocess.run(command, cwd=tmp_path, env=known | {"PYTHON": sys.executable}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "device" / "export.json").read_text())["main_prints"]
    assert done.stdout.splitlines()[-1] == told


def test_commands_of_the_readme_run(tmp_path):
    """Those on a state, in their order, on pictures with the names that they use."""
    photographs(tmp_path, "new-fruit")
    photographs(tmp_path, "other-day")
    lines = re.findall(r"^    bitreplay (\w+ scale\.state[^#\n]*)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["learn", "predict", "evaluate", "forget", "info"]
    known = os.environ | {"PYTHONPATH": str(Path(bitreplay.__file__).parents[1])}
    for line in lines:
        command = [sys.executable, "-m", "bitreplay", *line.split()]
        done = subprocess.run(command, cwd=tmp_path, env=known, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "apple" in done.stdout and "kiwi" not in done.stdout
