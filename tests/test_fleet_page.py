"""docs/fleet.md: its commands, run as they stand on photographs of the groceries set."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from bitreplay import Learner, zoo
from bitreplay.cli import main
from bitreplay.cli.reading import SkippedFiles, read_labelled
from bitreplay.data.archives import files
from bitreplay.data.groceries import ARCHIVE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "fleet.md"
PHOTOS = {  # where the page has them: the class in the archive, and which of its pictures
    "factory/Orange": ("Orange", range(4)), "factory/Golden-Delicious": ("Golden-Delicious", range(4)),
    "shop1/Kaiser": ("Kaiser", range(3)), "shop1/Golden": ("Golden-Delicious", range(4, 8)),
    "shop2/Kaiser": ("Kaiser", range(3, 6)), "shop2/Orange": ("Orange", range(4, 7)), "new": ("Kaiser", range(6, 9)),
    "summer/Kaiser": ("Kaiser", range(3)), "winter/Kaiser": ("Kaiser", range(3, 5)),
    "winter/Orange": ("Orange", range(2)),
}  # fmt: skip


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [line.split() for block in blocks for line in block.splitlines()]


def write_photographs(folder: Path) -> None:
    found: dict[str, list[bytes]] = {}
    for name, content in files(ARCHIVE, ".webp"):
        part, label = name.split("/")[-3:-1]
        if part == "train":
            found.setdefault(label, []).append(content)
    for place, (label, numbers) in PHOTOS.items():
        (folder / place).mkdir(parents=True)
        for number, chosen in enumerate(numbers):
            (folder / place / f"{number:03}.webp").write_bytes(found[label][chosen])


@pytest.fixture
def ran(tmp_path, monkeypatch, capsys):
    """What each command printed."""
    monkeypatch.chdir(tmp_path)
    write_photographs(tmp_path / "photos")
    printed = []
    for program, *arguments in commands():
        if program == "cp":
            shutil.copy(*arguments)
            continue
        assert program == "bitreplay"
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        written = capsys.readouterr()
        assert not end.value.code, (arguments, written.err)
        printed.append((arguments[0], written.out, written.err))
    return printed


def test_the_commands_of_the_page_end_in_the_states_that_it_says(ran, tmp_path):
    assert [name for name, *_ in ran] == (
        ["learn"] * 3 + ["merge", "info", "predict"] + ["learn"] * 2 + ["merge"] * 2 + ["unlearn"] * 2
        + ["fleet", "learn", "fleet", "learn"] + ["fleet"] * 5
    )  # fmt: skip
    assert not any("warning" in err for _, _, err in ran)
    chain, shop2 = Learner.load("chain.state"), Learner.load("shop2.state")
    assert chain.labels == ["Golden-Delicious", "Kaiser", "Orange"]
    one_device = Learner.from_pretrained(zoo.DEFAULT, feature_layers="head", digests=True)
    (tmp_path / "photos/shop2/Kaiser/002.webp").unlink()
    images, labels = [], []
    for place in ("shop2", "shop1", "factory"):
        some, names, _ = read_labelled(tmp_path / "photos" / place, None, one_device.strategy.side, SkippedFiles(False))
        images.append(some)
        labels += ["Golden-Delicious" if name == "Golden" else name for name in names]
    one_device.learn(np.concatenate(images), labels)
    assert one_device.state_hash() == chain.state_hash()
    assert shop2.state_hash() == Learner.rollback("shop2.state").state_hash()
    with pytest.raises(ValueError, match="never learned as 'Orange'"):
        chain.unlearn(images[1][:1], "Orange")
    spring, summer = Learner.load("spring.state"), Learner.load("summer.state")
    assert spring.state_hash() == summer.state_hash() and spring.labels == ["Kaiser"]
    assert Learner.load("scale17.state").state_hash() == Learner.load("merged.state").state_hash()
    assert "scale-17 has release 1, 0 messages on their way and 0 pictures not sent." in ran[-1][1]
    assert Learner.load("scale.state").labels == ["Kaiser", "Orange"] and spring.state().bytes < 40_000
