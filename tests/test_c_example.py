"""The examples of the learner in C are built without a warning, run, and share their states with Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from bitreplay import Learner
from bitreplay.engine.native import LIBRARY
from bitreplay.export import image_of
from tests import tiny

ROOT = Path(__file__).resolve().parents[1]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{ROOT / 'core' / 'include'}"]


def build(folder: Path, *command: str) -> Path:
    binary = folder / "learn"
    link = [str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-o", str(binary)]
    built = subprocess.run([*command, *STRICT, *link], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return binary


@pytest.fixture(scope="module")
def places(tmp_path_factory, tiny_model) -> tuple[Path, Path, list[Path]]:
    """The folder with model.bin, the binary, and pictures as PPM."""
    folder = tmp_path_factory.mktemp("c")
    (folder / "model.bin").write_bytes(image_of(Learner.from_pretrained(tiny_model, strategy="exact")))
    images, _ = tiny.pictures("red", "blue", each=3, side=20)
    for number, image in enumerate(images):
        (folder / f"{number}.ppm").write_bytes(b"P6\n20 20\n255\n" + image.tobytes())
    binary = build(folder, "cc", "-std=c11", str(ROOT / "examples" / "learn.c"))
    return folder, binary, [folder / f"{number}.ppm" for number in range(len(images))]


def said(binary: Path, folder: Path, *arguments: object) -> list[str]:
    command = [str(part) for part in (binary, folder / "model.bin", folder / "c.state", *arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_c_and_python_go_on_with_one_another_s_state(places, tiny_model):
    folder, binary, paths = places
    images, labels = tiny.pictures("red", "blue", each=3, side=20)
    said(binary, folder, "learn", "red", *paths[:3])
    found = said(binary, folder, "learn", "blue", *paths[3:5])[-1]
    python = Learner.from_pretrained(tiny_model, strategy="exact")
    python.learn(images[:3], labels[:3])
    python.learn(images[3:5], labels[3:5])
    assert found == python.state_hash()
    state = Learner.load(folder / "c.state", tiny_model)
    assert state.state_hash() == found
    state.learn(images[5:], labels[5:])
    state.save(folder / "c.state")
    answers = said(binary, folder, "predict", *paths)
    assert [line.rpartition(": ")[2] for line in answers[:-1]] == state.predict(images).tolist() == labels
    assert answers[-1] == state.state_hash()
    state.forget("red")
    assert said(binary, folder, "forget", "red") == [state.state_hash()]
    for name in ("c.state", "c.state.before"):
        assert Learner.load(folder / name, tiny_model).labels == ["blue"]


def test_a_photograph_gives_one_answer_on_desk_and_device(places, tiny_model, tmp_path):
    """A JPEG, the PPM that examples/to_ppm.py makes of it, and the program in C that reads this PPM."""
    folder, binary, paths = places
    said(binary, folder, "learn", "cyan", *paths[:1])
    Image.fromarray(tiny.pictures("green", each=1, side=33)[0][0]).save(tmp_path / "photo.jpg", quality=60)
    program = [sys.executable, str(ROOT / "examples" / "to_ppm.py"), str(tmp_path), str(tmp_path / "photo.jpg")]
    subprocess.run(program, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, stdout=subprocess.PIPE)
    learner = Learner.load(folder / "c.state", tiny_model)
    photo, raw = tmp_path / "photo.jpg", tmp_path / "photo.ppm"
    assert learner.encode([photo]).tobytes() == learner.encode([raw]).tobytes()
    learner.learn([photo], ["green"])
    assert said(binary, folder, "learn", "green", raw)[-1] == learner.state_hash()
    answers = said(binary, folder, "predict", raw, *paths)[:-1]
    assert [line.rpartition(": ")[2] for line in answers] == learner.predict([photo, *paths]).tolist()


def test_replay_in_c_and_in_python_goes_on_with_one_another_s_state(places, tiny_model, tmp_path):
    _, _, paths = places
    images, labels = tiny.pictures("red", "blue", each=3, side=20)
    python = Learner.from_pretrained(
        tiny_model, strategy="replay", batch_size=2, replay_batch_size=3, memory_per_class=2, min_steps=3
    )
    (tmp_path / "model.bin").write_bytes(image_of(python))
    binary = build(tmp_path, "cc", "-std=c11", str(ROOT / "examples" / "replay.c"))
    found = said(binary, tmp_path, "learn", "red", *paths[:3])[-1]
    python.learn(images[:3], labels[:3])
    assert found == python.state_hash()
    python = Learner.load(tmp_path / "c.state", tiny_model)
    python.learn(images[3:5], labels[3:5])
    python.save(tmp_path / "c.state")
    found = said(binary, tmp_path, "learn", "blue", paths[5])[-1]
    python.learn(images[5:], labels[5:])
    assert found == python.state_hash()
    answers = said(binary, tmp_path, "predict", *paths)
    assert [line.rpartition(": ")[2] for line in answers[:-1]] == python.predict(images).tolist()
    assert answers[-1] == python.state_hash()


@pytest.mark.parametrize(
    "state, picture, sentence",
    [(b"", b"P6 1 1 255\n123", "truncated"), (None, b"P5 1 1 255\n1", "PPM"), (None, b"P6 2 1 255\n123", "PPM")],
)
def test_what_cannot_be_read_is_said(places, state, picture, sentence):
    folder, binary, _ = places
    (folder / "bad.ppm").write_bytes(picture)
    if state is not None:
        (folder / "bad.state").write_bytes(state)
    command = [binary, folder / "model.bin", folder / ("bad.state" if state is not None else "none"), "learn", "a"]
    done = subprocess.run([*command, folder / "bad.ppm"], capture_output=True, text=True)
    assert done.returncode == 1 and sentence in done.stderr
    assert not (folder / "none").exists()


def test_the_headers_are_c99_and_the_example_in_c_plus_plus_runs(places, tmp_path):
    folder, _, _ = places
    (tmp_path / "empty.c").write_text(
        '#include "bitreplay_learner.h"\n#include "bitreplay_method.h"\nint main(void) { return 0; }\n'
    )
    build(tmp_path, "cc", "-std=c99", str(tmp_path / "empty.c"))
    binary = build(tmp_path, "c++", "-std=c++17", str(ROOT / "examples" / "learn.cc"))
    done = subprocess.run([binary, folder / "model.bin"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "night day\n"), done.stderr
