"""What predict takes besides files: folders, stdin, a folder that is watched; and how it answers."""

import csv
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from bitreplay.cli.commands import predict as command
from bitreplay.cli.watching import arrivals
from tests import tiny


def write(place: Path, colour: str, seed: int = 3) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(tiny.pictures(colour, each=1, seed=seed)[0][0]).save(place)
    return place


def test_folders_are_walked_and_links_to_folders_are_not(shell, taught, tiny_model, tmp_path):
    for place, colour in (
        ("in/a.png", "red"),
        ("in/b/a.png", "green"),
        ("in/b/c/d.png", "red"),
        ("in/.h/x.png", "red"),
    ):
        write(tmp_path / place, colour)
    (tmp_path / "in" / "notes.txt").write_text("text")
    (tmp_path / "in" / "b" / "circle").symlink_to(tmp_path / "in", target_is_directory=True)
    code, out, err = shell("predict", "state", "in", "--model", tiny_model, "--json")
    result = json.loads(out)
    assert code == 0 and [(p["image"], p["label"]) for p in result["predictions"]] == [
        ("in/a.png", "red"), ("in/b/a.png", "green"), ("in/b/c/d.png", "red"),
    ]  # fmt: skip
    assert result["labels"] == taught.labels
    assert [sentence.split()[0] for sentence in result["skipped"]] == [
        "in/.h",
        "in/notes.txt",
    ] and "in/notes.txt" in err


def test_the_table_names_files_that_can_be_told_apart_and_the_answer_once(shell, taught, tiny_model, tmp_path):
    deep = "a-folder-with-a-long-name/and-another-one-that-is-no-shorter-than-it"
    for name in ("one", "two"):
        write(tmp_path / deep / f"photograph-taken-on-a-sunny-day-in-the-garden-number-{name}.png", "red")
    code, out, _ = shell("predict", "state", deep, "--model", tiny_model)
    body = [line for line in out.splitlines() if line.startswith("│")]
    cells = ["".join(line.split("│")[1].strip() for line in body)]
    assert code == 0 and "number-one.png" in cells[0] and "number-two.png" in cells[0] and "…" not in out
    assert "".join(out.split()).count(deep.replace("/", "")) <= 1
    assert sum(line.split("│")[2].strip() == "red" for line in body) == 2
    assert all("red" not in line.split("│")[3] for line in body)


def test_csv_has_a_row_a_picture(shell, taught, tiny_model, tmp_path):
    write(tmp_path / "in" / 'a, "b".png', "red")
    write(tmp_path / "in" / "c.png", "green")
    code, out, _ = shell("predict", "state", "in", "--model", tiny_model, "--csv", "--top", 2)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [(row["image"], row["label"]) for row in rows] == [
        ('in/a, "b".png', "red"), ("in/c.png", "green"),
    ]  # fmt: skip
    assert [row["likely_1"] for row in rows] == ["red", "green"]
    assert all(abs(float(row["probability_1"]) + float(row["probability_2"]) - 1) < 1e-4 for row in rows)


def test_a_picture_comes_through_stdin(shell, taught, tiny_model, tmp_path, monkeypatch):
    content = write(tmp_path / "a.png", "green").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    code, out, _ = shell("predict", "state", "-", "--model", tiny_model, "--json")
    (result,) = json.loads(out)["predictions"]
    assert code == 0 and result["image"] == "stdin" and result["label"] == "green"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"text")))
    code, out, err = shell("predict", "state", "-", "--model", tiny_model)
    assert code == 1 and out == "" and err.startswith("stdin cannot be read as a picture")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Expected either pictures and folders or --watch FOLDER"),
        (("a.png", "--watch", "."), "Expected either pictures and folders or --watch FOLDER"),
        (("a.png", "--csv", "--json"), "--csv and --json exclude each other"),
        (("--watch", "none"), "none is not a folder"),
    ],
)
def test_what_cannot_be_answered_is_refused(shell, taught, tiny_model, arguments, sentence):
    code, out, err = shell("predict", "state", *arguments, "--model", tiny_model)
    assert code == 1 and out == "" and sentence in err


def test_what_arrives_before_the_first_scan_is_new(tmp_path):
    """The sentence that it waits is printed after the call: whoever has read it may write."""
    arriving = arrivals(tmp_path, lambda: None)
    (tmp_path / "a.png").write_bytes(b"whole")
    assert next(arriving) == tmp_path / "a.png"


def test_arrivals_are_new_or_changed_and_whole(tmp_path):
    old = write(tmp_path / "old.png", "red")
    looks: list[str] = []

    def wait() -> None:
        looks.append("")
        match len(looks):
            case 1:
                write(tmp_path / "new.png", "red")
            case 2:  # still being written
                (tmp_path / "new.png").write_bytes(b"x" * 5000)
            case 5:
                old.write_bytes(b"changed")
            case 7:
                (tmp_path / "note.txt").write_text("text")
            case 10:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for path in arrivals(tmp_path, wait):
            looks[-1] += path.name
    assert looks == ["", "", "new.png", "", "", "old.png", "", "", "", ""]


def test_watching_answers_by_the_newest_state(shell, taught, tiny_model, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    looks = iter(range(100))

    def sleep(seconds: float) -> None:
        match next(looks):
            case 0:
                write(tmp_path / "in" / "a.png", "blue")
                (tmp_path / "in" / "b.png").write_bytes(b"text")
            case 2:
                taught.learn(*tiny.pictures("blue", each=6))
                taught.save("state")
                write(tmp_path / "in" / "c.png", "blue", seed=4)
            case 5:
                raise KeyboardInterrupt

    monkeypatch.setattr(command.time, "sleep", sleep)
    code, out, err = shell("predict", "state", "--watch", "in", "--model", tiny_model, "--json")
    first, second = map(json.loads, out.splitlines())
    assert code == 130 and first["image"] == "in/a.png" and first["label"] in ("red", "green")
    assert second["image"] == "in/c.png" and second["label"] == "blue"
    assert "in/b.png cannot be read as a picture" in err
