"""examples/learn.mjs runs in Node, and shares its states with Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bitreplay import Learner
from bitreplay.export import image_of
from tests import tiny
from tests.wasm.engines import FOLDER, ROOT, SETS, needs_wasm


def output_of(folder: Path, *words: object) -> list[str]:
    node = shutil.which("node")
    assert node is not None, "node is not installed"
    command = (
        ROOT / "examples" / "learn.mjs",
        FOLDER / SETS["wasm"],
        folder / "model.bin",
        folder / "js.state",
        *words,
    )
    done = subprocess.run([node, *map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_wasm
def test_node_and_python_go_on_with_one_another_s_state(tmp_path, tiny_model):
    python = Learner.from_pretrained(tiny_model, strategy="exact")
    (tmp_path / "model.bin").write_bytes(image_of(python))
    images, labels = tiny.pictures("red", "blue", each=3, side=20)
    paths = [tmp_path / f"{number}.ppm" for number in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        path.write_bytes(b"P6\n20 20\n255\n" + image.tobytes())
    python.learn(images[:3], labels[:3])
    assert output_of(tmp_path, "learn", "red", *paths[:3]) == [python.state_hash()]
    python = Learner.load(tmp_path / "js.state", tiny_model)
    python.learn(images[3:], labels[3:])
    python.save(tmp_path / "js.state")
    *answers, state_hash = output_of(tmp_path, "predict", *paths)
    shares = python.predict_proba(images).max(axis=1)
    expected = [
        f"{path}: {label} {100 * share:.1f} %" for path, label, share in zip(paths, labels, shares, strict=True)
    ]
    assert answers == expected and state_hash == python.state_hash()
