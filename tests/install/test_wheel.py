"""The wheel in a clean environment: learn 60 photographs, judge, serve, write the page; other Pythons; metadata."""

from __future__ import annotations

import json
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.install.clean import MISSING, Machine, other_pythons

INSTALL = """
python3 -m venv env
. env/bin/activate
pip install "bitreplay{extra}" --find-links dist
"""


def wheel_in(dist: Path) -> Path:
    (path,) = dist.glob("bitreplay-*-py3-none-manylinux*.whl")
    return path


def test_sixty_photographs_are_learned_judged_and_served_and_the_page_is_written(machine):
    assert all(machine.lacks(name) for name in MISSING)
    done = machine.run(
        INSTALL.format(extra="[web]")
        + """
        ! python3 -c "import torch" 2> /dev/null
        python3 -c "import bitreplay; print(bitreplay.__file__)"
        classes=Orange,Kaiser,Watermelon,Cantaloupe,Granny-Smith,Red-Delicious
        bitreplay data photographs photos --each 10 --classes $classes --json
        bitreplay learn scale.state photos/train --json
        bitreplay evaluate scale.state photos/test --json > judged.json
        bitreplay page site --json
        bitreplay serve scale.state --port 8431 > served.txt 2>&1 &
        for turn in $(seq 60); do curl -sf http://127.0.0.1:8431/ > /dev/null && break || sleep 0.5; done
        curl -sf http://127.0.0.1:8431/ | grep -c "<html"
        curl -sf -H "Content-Type: image/webp" --data-binary @photos/test/Orange/000.webp http://127.0.0.1:8431/api/predict
        kill $!
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert Path(lines[0]).is_relative_to(machine.work / "env")
    photographs, learned, page = (json.loads(line) for line in lines[1:4])
    assert photographs["train"] == learned["pictures"] == 60
    assert len(learned["classes"]) == 6
    assert json.loads((machine.work / "judged.json").read_text())["accuracy"] > 0.6, "guessing is right in one of six"
    assert page["files"] > 20 and (machine.work / "site" / "index.html").exists()
    assert json.loads(lines[-1])["answers"][0]["name"] in learned["classes"]


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_the_same_wheel_learns_to_the_same_state_with_other_pythons(version, tmp_path, dist):
    python = other_pythons().get(version)
    if python is None:
        pytest.skip(f"Python {version} is not here, or is the one that the other tests use.")
    machine = Machine(tmp_path, dist, python)
    done = machine.run(
        INSTALL.format(extra="")
        + """
        python3 -c "import sys; print('%d.%d' % sys.version_info[:2])"
        bitreplay data photographs photos --each 2 -q
        bitreplay learn scale.state photos/train --model react_tiny -q
        bitreplay info scale.state --json
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == version or version in lines
    assert json.loads(lines[-1])["hash"] == expected_hash()


def expected_hash() -> str:
    from bitreplay import Learner
    from bitreplay.data.groceries import groceries

    data = groceries().limit(2)
    learner = Learner.from_pretrained("react_tiny")
    learner.learn(data.train_images, [data.class_names[label] for label in data.train_labels])
    return learner.state_hash()


def test_the_wheel_is_small_and_its_metadata_whole(dist):
    wheel = wheel_in(dist)
    assert wheel.stat().st_size < 15e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(archive.read(metadata).decode())
    assert about["License-Expression"] == "Apache-2.0"
    assert set(about.get_all("License-File") or []) == {"LICENSE", "NOTICE"}
    assert about["Requires-Python"] == ">=3.10" and about["Keywords"] and about["Author"]
    classifiers = about.get_all("Classifier")
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)} <= set(classifiers or [])
    assert str(about.get_payload()).startswith("# bitreplay")
    assert {"bitreplay/page/js/bitreplay.wasm", "bitreplay/_lib/libbitreplay_core.so"} <= set(names)
    assert {"bitreplay/export/LICENSE", "bitreplay/export/NOTICE"} <= set(names), "packages for boards have them"
