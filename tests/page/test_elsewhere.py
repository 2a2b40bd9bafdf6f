"""The lines that the page offers to copy, as they stand there, with the file that it downloads: all give one answer."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.device.boards import desk_board
from tests.device.compiling import ROOT, compile_all, needs_compiler
from tests.page.browser import FOLDER, Page, chromium, needs_page, served

pytestmark = needs_page
NETWORK = "efficientnet_tiny 128"  # which boards have room for
TITLES = ["In a terminal", "In Python", "In your own page", "On a board"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with the downloaded state and photo.jpg, and the lines by their titles."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with (
        served() as address,
        chromium(accept_downloads=True, permissions=["clipboard-read", "clipboard-write"]) as context,
    ):
        page = Page(context, address)
        page.own.select_option("#model", NETWORK)
        page.own.wait_for_function("name => localStorage.getItem('model') === name", arg=NETWORK)
        page.teach("Orange")
        page.teach("Watermelon")
        page.own.click("#share")
        with page.own.expect_download() as download:
            page.own.click("#share-file")
        download.value.save_as(folder / download.value.suggested_filename)
        lines = {}
        for part in page.own.locator("#elsewhere > div").all():
            part.locator("button").click()
            part.locator("button:text('Copied.')").wait_for()
            title = part.locator("span").inner_text().partition(":")[0]
            lines[title] = page.own.evaluate("navigator.clipboard.readText()")
            assert lines[title] == part.locator("code").text_content()
        assert page.errors == []
    (row, *_) = groceries().test_images[::55]
    Image.fromarray(row).save(folder / "photo.jpg", "png")  # every decoder gives the same pixels
    assert list(lines) == TITLES
    return folder, lines


@pytest.fixture(scope="module")
def answer(shared) -> str:
    (state,) = shared[0].glob("*.state")
    learner = bitreplay.Learner.load(state)
    assert learner.labels == ["Orange", "Watermelon"]
    return str(learner.predict(groceries().test_images[:1])[0])


def command(line: str) -> list[str]:
    name, *words = shlex.split(line)
    assert name == "bitreplay"
    return [sys.executable, "-m", "bitreplay", *words]


def test_in_a_terminal(shared, answer):
    folder, lines = shared
    install, predict, serve = lines["In a terminal"].split("\n")
    assert install == 'pip install "bitreplay[web]"'
    assert "\nweb = [" in (ROOT / "pyproject.toml").read_text()
    found = json.loads(subprocess.check_output([*command(predict), "--json"], cwd=folder, text=True))
    assert found["predictions"][0]["label"] == answer
    with subprocess.Popen([*command(serve), "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert any(re.search(r"http://127\.0\.0\.1:\d+", line) for line in process.stdout)
        finally:
            process.terminate()


def test_in_python(shared, answer):
    folder, lines = shared
    printed = subprocess.check_output([sys.executable, "-c", lines["In Python"]], cwd=folder, text=True)
    assert printed.strip() == answer


def test_in_your_own_page(shared, answer, tmp_path, monkeypatch):
    folder, lines = shared
    html = lines["In your own page"]
    network = re.findall(r"^ +http://localhost:\d+/(\S+) -->$", html, re.MULTILINE)[0]
    (state,) = folder.glob("*.state")
    assert f'"{state.name}"' in html and f'openInWorker("{network}")' in html
    for path in (state, FOLDER / network):
        shutil.copy(path, tmp_path)
    package = json.loads((ROOT / "js" / "package.json").read_text())
    own = tmp_path / "node_modules" / "bitreplay"  # as npm unpacks it
    own.mkdir(parents=True)
    for path in (ROOT / "js").iterdir():
        if path.is_file() and any(fnmatch.fnmatch(path.name, pattern) for pattern in package["files"]):
            shutil.copy(path, own)
    (tmp_path / "index.html").write_text(html)
    monkeypatch.setattr("tests.page.browser.FOLDER", tmp_path)
    with served() as address, chromium() as context:
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_function("() => Boolean(document.getElementById('photo').onchange)")
        page.set_input_files("#photo", str(folder / "photo.jpg"))
        page.wait_for_function("document.getElementById('answer').value")
        assert page.evaluate("document.getElementById('answer').value") == answer
        assert errors == []


@needs_compiler
def test_on_a_board(shared, answer, tmp_path):
    """The sketch that the lines name, compiled with the exported library, runs here in place of a board."""
    folder, lines = shared
    install, export, comment, push, ask = lines["On a board"].split("\n")
    assert install == "pip install bitreplay" and "example Teach" in comment
    subprocess.run(command(export), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    library, stubs = folder / "bitreplay", ROOT / "tests/device/stubs"
    flags = ["-O0", "-I", str(library / "src")]
    cxx = ["g++", "-std=gnu++17", *flags]
    objects = compile_all(library, tmp_path / "o", ["gcc", "-std=gnu11", *flags], cxx)
    sketch = library / "examples/Teach/Teach.ino"
    program = tmp_path / "board"
    words = [*cxx, "-I", str(stubs), "-include", "Arduino.h", "-x", "c++", str(sketch), str(stubs / "desk.cc")]
    subprocess.run([*words, "-x", "none", *map(str, objects), "-o", str(program)], check=True)
    with desk_board(program) as port:
        assert push.count("/dev/ttyACM0") == ask.count("/dev/ttyACM0") == 1
        pushed, asked = (
            subprocess.run(command(line.replace("/dev/ttyACM0", port)), cwd=folder, capture_output=True, text=True)
            for line in (push, ask)
        )
        assert pushed.returncode == 0 and "Orange: 20 pictures" in pushed.stdout, pushed.stderr
        assert asked.returncode == 0 and answer in asked.stdout, asked.stderr
