"""A Raspberry Pi that learns by its buttons: hold one while the camera sees the thing; it answers all the time.

    python teach.py scale.state --class kiwi=17 --class apple=27            GPIO 17 teaches kiwi, GPIO 27 apple
    python teach.py scale.state --class kiwi=k --class apple=a --keys       keys and Enter instead of buttons

The camera is the first that is there: picamera2, OpenCV's first one, or the program rpicam-still (libcamera-still);
`--frames FOLDER` takes the newest picture of a folder instead. A state is saved when nothing was taught for a second,
and when the program is stopped: power may fail at any moment. bitreplay-teach.service runs it from the start on.
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bitreplay import Learner
from bitreplay.data.pictures.picture import decode, read

SIZE = (640, 480)
SAVE_AFTER = 1.0  # seconds

Camera = Callable[[], np.ndarray]


def picamera() -> Camera:
    from picamera2 import Picamera2

    camera = Picamera2()
    camera.configure(camera.create_still_configuration(main={"size": SIZE, "format": "BGR888"}))  # red first
    camera.start()
    return lambda: camera.capture_array()


def opencv() -> Camera:
    import cv2

    camera = cv2.VideoCapture(0)
    if not camera.isOpened():
        raise OSError("OpenCV finds no camera")
    return lambda: cv2.cvtColor(camera.read()[1], cv2.COLOR_BGR2RGB)


def still_program() -> Camera:
    program = shutil.which("rpicam-still") or shutil.which("libcamera-still")
    if program is None:
        raise OSError("there is neither rpicam-still nor libcamera-still")
    words = [program, "-n", "-t", "1", "--width", str(SIZE[0]), "--height", str(SIZE[1]), "-o", "-"]
    return lambda: decode(subprocess.run(words, check=True, capture_output=True).stdout, "the camera's picture")


def folder_camera(folder: Path) -> Camera:
    return lambda: read(max(folder.iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name)))


def first_camera() -> Camera:
    reasons = []
    for start in (picamera, opencv, still_program):
        try:
            return start()
        except (ImportError, OSError, RuntimeError, IndexError) as error:
            reasons.append(str(error))
    raise SystemExit(f"No camera: {'; '.join(reasons)}.")


class Keys:
    """Lines of standard input: a class's key teaches it once."""

    def __init__(self, classes: dict[str, str]) -> None:
        self.names = {key: name for name, key in classes.items()}
        self.waiting = ""

    def pressed(self, seconds: float) -> str | None:
        if not self.waiting and select.select([sys.stdin], [], [], seconds)[0]:
            self.waiting = os.read(sys.stdin.fileno(), 1024).decode()
            if not self.waiting:
                raise KeyboardInterrupt  # the keyboard is gone
        key, self.waiting = self.waiting[:1], self.waiting[1:]
        return self.names.get(key)


class Buttons:
    """Between a pin and ground."""

    def __init__(self, classes: dict[str, str]) -> None:
        from gpiozero import Button

        self.buttons = {name: Button(int(pin)) for name, pin in classes.items()}

    def pressed(self, seconds: float) -> str | None:
        time.sleep(seconds)
        return next((name for name, button in self.buttons.items() if button.is_pressed), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", type=Path)
    parser.add_argument("--class", dest="classes", action="append", required=True, metavar="NAME=PIN")
    parser.add_argument("--keys", action="store_true")
    parser.add_argument("--frames", type=Path)
    parser.add_argument("--model", default="quicknet")
    arguments = parser.parse_args()
    classes = dict(word.rsplit("=", 1) for word in arguments.classes)
    camera = folder_camera(arguments.frames) if arguments.frames else first_camera()
    hand = Keys(classes) if arguments.keys else Buttons(classes)
    if arguments.state.exists():
        learner = Learner.load(arguments.state, arguments.model)
    else:
        learner = Learner.from_pretrained(arguments.model, strategy="exact")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # systemd stops it as Ctrl-C does
    print(f"Knows {', '.join(map(str, learner.labels)) or 'nothing yet'}.", flush=True)
    run(learner, arguments.state, camera, hand)


def run(learner: Learner, state: Path, camera: Camera, hand: Keys | Buttons) -> None:
    taught, said = 0.0, None
    try:
        while True:
            name = hand.pressed(0.05)
            if name is not None:
                learner.learn(camera()[None], [name])
                taught, said = time.monotonic(), None
                print(f"Taught {name}.", flush=True)
            elif taught and time.monotonic() - taught > SAVE_AFTER:
                learner.save(state)
                taught = 0.0
                print("Saved.", flush=True)
            elif len(learner.labels) > 1:
                (answer,) = learner.predict(camera()[None])
                if answer != said:
                    said = answer
                    print(f"Sees {answer}.", flush=True)
    except KeyboardInterrupt:
        if taught:
            learner.save(state)
            print("Saved.", flush=True)


if __name__ == "__main__":
    main()
