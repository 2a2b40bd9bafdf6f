"""`bitreplay device` with an emulated board: code for a Cortex-M0+ in an RP2040's RAM, its serial port a pty."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from bitreplay import Learner
from bitreplay.device import Board, SerialPort
from tests.cli.conftest import shell  # noqa: F401
from tests.device.test_jpeg import by_libjpeg
from tests.mcu.images import build_image, camera_frame, pictures, write_demo
from tests.mcu.test_mcu import BOARDS, SMALL

CPU, NAMES, PATIENCE = "cortex-m0plus", ["cup", "pen", "cup", "löffel"], 120.0

pytestmark = [
    pytest.mark.skipif("BITREPLAY_MCU" not in os.environ, reason="make test-mcu builds and runs the images."),
    pytest.mark.skipif(
        shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None,
        reason="gcc-arm-none-eabi or qemu-system-arm is not installed: no board was emulated.",
    ),
]


@contextmanager
def emulated(image: Path, log: Path) -> Iterator[str]:
    """The path of the board's serial port."""
    command: list[str | Path] = ["qemu-system-arm", "-machine", BOARDS[CPU], "-kernel", image, "-display", "none"]
    command += ["-monitor", "none", "-serial", "pty", "-semihosting-config", "enable=on,target=native"]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            end = time.monotonic() + PATIENCE
            while not (found := re.search(r"redirected to (/dev/\S+)", log.read_text())):
                assert time.monotonic() < end and process.poll() is None, log.read_text()
                time.sleep(0.1)
            yield found[1]
        finally:
            process.kill()


def test_an_emulated_board_is_taught_and_asked_and_its_state_goes_both_ways(shell, tmp_path):  # noqa: F811
    desk = Learner.from_pretrained("react_tiny", **SMALL)
    image = build_image(write_demo(desk, "exact-small", 4), CPU, target="mcu_console")
    images = pictures()[: len(NAMES)]
    paths = [str(tmp_path / f"{k}.png") for k in range(len(images))]
    for path, picture in zip(paths, images, strict=True):
        Image.fromarray(picture).save(path)
    with emulated(image, tmp_path / "qemu.log") as port:
        for name, path, picture in zip(NAMES, paths, images, strict=True):
            code, out, err = shell("device", port, "teach", name, path)
            assert code == 0, err
            desk.learn(picture[None], [name])
        code, out, err = shell("device", port, "teach", "jug")  # by its camera
        assert code == 0, err
        desk.learn(by_libjpeg(camera_frame())[None], ["jug"])
        code, out, err = shell("device", port, "pull", str(tmp_path / "board.state"))
        assert code == 0, err
        pulled = Learner.load(tmp_path / "board.state")
        assert pulled.state_hash() == desk.state_hash()
        with SerialPort(port) as line:
            board = Board(line, PATIENCE)
            squares = [board.ask(picture).name for picture in images]
            assert squares == list(pulled.predict(images)), "the board and the desk answer alike"
            board.clear()
            assert board.classes() == {}
        code, out, err = shell("device", port, "push", str(tmp_path / "board.state"))
        assert code == 0 and "cup: 2 pictures" in out, err
