"""examples/raspberry-pi/teach.py, its buttons keys and its camera a folder: it learns, is stopped, and goes on."""

from __future__ import annotations

import configparser
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner
from tests.device.compiling import ROOT

FOLDER = ROOT / "examples/raspberry-pi"
PATIENCE = 60.0  # seconds: the machine may be busy


class Pi:
    """The program, and what it prints."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.frames, self.count = folder / "frames", 0
        self.frames.mkdir(exist_ok=True)
        words: list[str | Path] = [
            sys.executable,
            FOLDER / "teach.py",
            folder / "pi.state",
            "--keys",
            "--frames",
            self.frames,
        ]
        words += ["--class", "dark thing=d", "--class", "light=l", "--model", model]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def see(self, image: np.ndarray) -> None:
        """A file in the place of another, as cameras write them."""
        self.count += 1
        Image.fromarray(image).save(self.frames.parent / "new.png")
        os.replace(self.frames.parent / "new.png", self.frames / "now.png")

    def press(self, key: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{key}\n")
        self.process.stdin.flush()

    def says(self, text: str) -> None:
        """Sooner or later; each line counts once."""
        end = time.monotonic() + PATIENCE
        while text not in self.lines:
            assert time.monotonic() < end and (self.process.poll() is None or self.reader.is_alive()), self.lines
            time.sleep(0.02)
        self.lines.remove(text)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0
        self.reader.join(PATIENCE)


def test_it_learns_by_keys_and_goes_on_after_a_stop(tiny_model, tmp_path):
    rng = np.random.default_rng(8)
    dark, light, other = (rng.integers(low, low + 60, (48, 64, 3), np.uint8) for low in (0, 190, 170))
    own = Learner.from_pretrained(tiny_model, strategy="exact")
    pi = Pi(tmp_path, tiny_model)
    pi.says("Knows nothing yet.")
    for image, key, name in ((dark, "d", "dark thing"), (light, "l", "light")):
        pi.see(image)
        pi.press(key)
        pi.says(f"Taught {name}.")
        own.learn(image[None], [name])
    assert list(own.predict(np.stack([dark, light]))) == ["dark thing", "light"]
    pi.says("Sees light.")
    pi.see(dark)
    pi.says("Sees dark thing.")
    pi.says("Saved.")
    assert Learner.load(tmp_path / "pi.state", tiny_model).state_hash() == own.state_hash()
    pi.see(other)
    pi.press("?")  # no class has it
    pi.press("l")
    pi.says("Taught light.")
    pi.stop()
    pi.says("Saved.")
    own.learn(other[None], ["light"])
    assert Learner.load(tmp_path / "pi.state", tiny_model).state_hash() == own.state_hash()


def test_its_service_names_a_program_and_options_that_are_there():
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(FOLDER / "bitreplay-teach.service")
    words = parser["Service"]["ExecStart"].split()
    assert words[1].endswith("examples/raspberry-pi/teach.py")
    assert parser["Service"]["Restart"] == "on-failure" and parser["Install"]["WantedBy"] == "multi-user.target"
    text = subprocess.check_output([sys.executable, FOLDER / "teach.py", "--help"], text=True)
    assert all(word in text for word in words[2:] if word.startswith("--"))


def test_without_a_camera_it_says_so(tmp_path):
    words = [sys.executable, FOLDER / "teach.py", tmp_path / "x.state", "--keys", "--class", "a=a"]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PATH": ""})
    if done.returncode == 0:
        pytest.skip("This machine has a camera.")
    assert done.stderr.startswith("No camera: ") and done.stderr.count("\n") == 1
