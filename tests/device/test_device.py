"""`bitreplay device` with a board behind a pseudo-terminal: it learns what Python learns, and states go both ways."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

from bitreplay import Learner
from bitreplay.device import Board, BoardError, SerialPort
from bitreplay.export import image_of
from tests.device.boards import desk_board
from tests.device.compiling import ROOT, compiled, needs_compiler
from tests.device.test_jpeg import FULL, by_libjpeg, jpeg_of, photograph

pytestmark = needs_compiler
FRAME = (160, 120)  # QQVGA


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    main = ROOT / "examples/boards/desk/main.c"
    return compiled(folder / "desk", main, "console.c", "flash_slots.c", "frame.c", "jpeg.c")


@pytest.fixture
def desk(tiny_model) -> Learner:
    return Learner.from_pretrained(tiny_model, strategy="exact")


@pytest.fixture
def files(tmp_path, desk) -> list[Path]:
    """model.bin, and a name for the flash."""
    (tmp_path / "model.bin").write_bytes(image_of(desk))
    return [tmp_path / "model.bin", tmp_path / "state.flash"]


def pictures(count: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (count, 40, 56, 3), np.uint8)


def saved(folder: Path, images: np.ndarray) -> list[str]:
    paths = [folder / f"{k}.png" for k in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image).save(path)
    return [str(path) for path in paths]


def test_it_is_taught_asked_pulled_and_the_desk_predicts_the_same(program, files, desk, shell, tmp_path):
    images = pictures(9)
    paths = saved(tmp_path, images)
    with desk_board(program, *files) as port:
        for name, rows in (("cup", [0, 1, 2]), ("köffel \N{TEAPOT}", [3, 4]), ("pen", [5])):
            code, out, err = shell("device", port, "teach", name, *(paths[row] for row in rows))
            assert code == 0 and f"of {name} taught" in out, err
            for row in rows:
                desk.learn(images[row : row + 1], [name])
        code, out, _ = shell("device", port, "classes", "--json")
        found = json.loads(out)
        assert code == 0 and found["classes"] == {"cup": 3, "köffel \N{TEAPOT}": 2, "pen": 1}
        assert found["hash"] == desk.state_hash()
        code, out, _ = shell("device", port, "ask", *paths, "--json")
        answers = json.loads(out)
        assert [row["label"] for row in answers] == list(desk.predict(images))
        shares = desk.predict_proba(images).max(axis=1)
        assert np.allclose([row["share"] for row in answers], shares, atol=0.001)

        code, out, err = shell("device", port, "pull", str(tmp_path / "board.state"))
        assert code == 0, err
        pulled = Learner.load(tmp_path / "board.state", desk.model.path)
        assert pulled.state_hash() == desk.state_hash()
        code, out, _ = shell(
            "predict", str(tmp_path / "board.state"), *paths, "--json", "--model", str(desk.model.path)
        )
        assert code == 0 and [row["label"] for row in json.loads(out)["predictions"]] == [
            row["label"] for row in answers
        ]

        assert shell("device", port, "forget", "pen")[0] == 0
        desk.forget("pen")
        code, _, err = shell("device", port, "pull", str(tmp_path / "board.state"))
        assert code == 1, "another state is there"
        pulled.learn(images[7:8], ["spoon"])
        pulled.save(tmp_path / "board.state")
        code, out, err = shell("device", port, "push", str(tmp_path / "board.state"))
        assert code == 0 and "spoon: 1 picture" in out, err
    with desk_board(program, *files) as port:  # started anew: push was saved in its flash
        code, out, _ = shell("device", port, "--json")
        assert json.loads(out)["hash"] == pulled.state_hash()


def test_the_camera_of_a_board_is_cut_to_a_square(program, files, desk, tmp_path):
    grey = np.random.default_rng(4).integers(0, 256, (2, FRAME[1], FRAME[0]), np.uint8)
    frame = tmp_path / "frame.grey"
    with desk_board(program, *files, f"{FRAME[0]}x{FRAME[1]}", frame) as port, SerialPort(port) as line:
        board = Board(line, 30)
        assert board.has_camera and board.saves and board.side == desk.strategy.side
        with pytest.raises(BoardError, match="The board refused teach: "):
            board.teach("dark")  # the camera has no picture yet
        for image, name in zip(grey, ("one", "two"), strict=True):
            frame.write_bytes(image.tobytes())
            board.teach(name)
            desk.learn(np.repeat(image[None, ..., None], 3, axis=-1), [name])
        assert board.state_hash() == desk.state_hash()
        assert board.ask().name == desk.predict(np.repeat(grey[1][None, ..., None], 3, axis=-1))[0]


def test_a_camera_that_sends_jpeg_teaches_the_means_of_its_blocks(program, files, desk, tmp_path):
    frame = tmp_path / "frame.jpg"
    with desk_board(program, *files, "jpeg", frame) as port, SerialPort(port) as line:
        board = Board(line, 30)
        for shift, name in ((0, "one"), (40, "two")):
            image = ImageChops.offset(photograph(), shift)
            frame.write_bytes(jpeg_of(image, quality=80, subsampling=FULL))
            board.teach(name)
            desk.learn(by_libjpeg(frame.read_bytes())[None], [name])
        assert board.state_hash() == desk.state_hash()
        frame.write_bytes(frame.read_bytes()[:900])
        with pytest.raises(BoardError, match="The board refused teach: "):
            board.teach("two")
        assert board.state_hash() == desk.state_hash()


def test_what_a_board_refuses_and_what_is_no_board(program, files, shell, tmp_path):
    with desk_board(program, *files) as port, SerialPort(port) as line:
        board = Board(line, 30)
        with pytest.raises(BoardError, match="The board refused ask: "):
            board.ask(np.zeros((8, 8, 3), np.uint8))
        with pytest.raises(BoardError, match="The board has no camera: name a picture."):
            board.ask()
        for sent in (b"picture 600 600", b"picture 8", b"picture 0 8", b"picture 99999999999 1", b"push x", b"teach"):
            line.write(sent + b"\n")
            assert line.read_line(30).startswith(b"#error "), sent
        with pytest.raises(BoardError, match="The board refused push: "):
            board.push(b"no state at all" * 40)
        with pytest.raises(ValueError, match="without control characters"):
            board.teach("a\nb", np.zeros((8, 8, 3), np.uint8))
        line.write(b"x" * 5000 + b"\nnonsense\n\x00\xff\n")
        line.drop(0.3)
        assert board.teach("fine", np.zeros((8, 8, 3), np.uint8)) == 1, "it still listens"
    for words, says in (
        (["/dev/null", "classes"], "/dev/null is not a serial port."),
        ([str(tmp_path / "none"), "classes"], "cannot be opened: No such file"),
        (["/dev/null", "dance"], "action must be one of classes, teach"),
        (["/dev/null", "teach"], "teach needs the name of a class."),
        (["/dev/null", "forget", "a", "b"], "forget does not take 'b'."),
        (["/dev/null", "classes", "--speed", "7"], "7 is not a speed of serial ports"),
    ):
        code, out, err = shell("device", *words)
        assert code == 1 and out == "" and says in err


class Noise:
    """Between a desk and a board: one byte in so many from the desk is changed."""

    def __init__(self, port: str, every: int) -> None:
        self.near, far = os.openpty()
        self.path, self.far, self.every, self.count, self.changed = os.ttyname(far), far, every, 0, 0
        self.board = SerialPort(port)
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self.to_board, self.to_desk)]
        for thread in self.threads:
            thread.start()

    def to_board(self) -> None:
        while content := bytearray(os.read(self.near, 4096)):
            for k in range(len(content)):
                self.count += 1
                if len(content) > 64 and self.count % self.every == 0:  # of blocks, not of commands
                    content[k] ^= 0x20
                    self.changed += 1
            self.board.write(bytes(content))

    def to_desk(self) -> None:
        while True:
            try:
                os.write(self.near, self.board.read(1, 60))
            except (TimeoutError, ValueError, OSError):
                return


def test_a_block_that_arrives_damaged_is_asked_for_again(program, files, desk):
    image = np.random.default_rng(6).integers(0, 256, (desk.strategy.side, desk.strategy.side, 3), np.uint8)
    with desk_board(program, *files) as port:
        noise = Noise(port, image.size + 137)
        board = Board(SerialPort(noise.path), 30)
        for _ in range(4):
            board.teach("thing", image)
            desk.learn(image[None], ["thing"])
        assert noise.changed >= 1, "nothing was damaged"
        assert board.state_hash() == desk.state_hash()
