"""experiments/photograph_sets.py on made-up repositories: its divisions, near copies, and digests by another way."""

import hashlib
import io
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(autouse=True)
def experiments(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture
def committed(tmp_path):
    """A function that commits files and returns the commit."""

    def call(files):
        folder = tmp_path / "work"
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "pictures"], check=True)
        (tmp_path / "clones").mkdir(exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--bare", str(folder), str(tmp_path / "clones" / "it.git")], check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True, text=True).stdout.strip()

    return call


def laid_out(tmp_path, commit, division):
    from photograph_sets import Source, lay_out

    lay_out(Source("owner/it", commit, division), tmp_path / "clones", tmp_path / "set")
    return {file.relative_to(tmp_path / "set").as_posix(): file.read_bytes() for file in files_of(tmp_path / "set")}


def files_of(folder):
    return sorted(file for file in folder.rglob("*") if file.is_file())


def png(seed, brighter=0):
    """Coarse noise; `brighter` adds to every pixel, which changes neither hash."""
    coarse = np.random.default_rng(seed).integers(0, 200, (9, 9, 3), np.uint8) + np.uint8(brighter)
    out = io.BytesIO()
    Image.fromarray(np.repeat(np.repeat(coarse, 8, axis=0), 8, axis=1)).save(out, "PNG")
    return out.getvalue()


def test_by_lists_leaves_the_background_out(tmp_path, committed):
    from photograph_sets import by_lists

    files = {f"101_ObjectCategories/{name}": name.encode() for name in ("ant/1.jpg", "ant/2.jpg", "BACKGROUND_G/1.jpg")}
    lists = {"train.txt": b"BACKGROUND_G/1.jpg\nant/2.jpg\n", "test.txt": b"ant/1.jpg\n"}
    found = laid_out(tmp_path, committed(files | lists), by_lists)
    assert found == {"train/ant/2.jpg": b"ant/2.jpg", "test/ant/1.jpg": b"ant/1.jpg"}


def test_by_folders_takes_pictures_of_the_pinned_commit_alone(tmp_path, committed):
    from photograph_sets import by_folders

    commit = committed({"f/train/1/b.jpg": b"b", "f/test/1/a.JPG": b"a", "f/valid/1/c.jpg": b"c", "f/train/.DS": b"d"})
    subprocess.run(["rm", "-rf", str(tmp_path / "clones" / "it.git")], check=True)
    committed({"f/train/1/later.jpg": b"e", "f/train/1/b.jpg": b"changed"})
    found = laid_out(tmp_path, commit, lambda clone: by_folders(clone, "f/train/", "f/test/"))
    assert found == {"train/1/b.jpg": b"b", "test/1/a.JPG": b"a"}


def test_by_parts_names_classes_by_the_innermost_folder(tmp_path, committed):
    from photograph_sets import by_parts

    names = ("d/train/Fruit/Apple/Fuji/1.jpg", "d/train/Fruit/Fig/1.jpg", "d/val/Fruit/Fig/2.jpg", "d/test/Fig/3.jpg")
    commit = committed({name: name.encode() for name in names})
    found = laid_out(tmp_path, commit, lambda clone: by_parts(clone, {"train": "d/train/", "test": "d/val/"}))
    assert set(found) == {"train/Fuji/1.jpg", "train/Fig/1.jpg", "test/Fig/2.jpg"}


def test_by_tracks_no_track_is_both_learned_and_asked(tmp_path, committed):
    from photograph_sets import by_tracks

    folder = "GTSRB/Final_Training/Images/00007"
    frames = {f"{folder}/{track:05}_{frame:05}.ppm": b"P6" for track in range(6) for frame in range(2)}
    commit = committed(frames | {f"{folder}/GT-00007.csv": b"", "GTSRB/Final_Test/Images/00000.ppm": b"P6"})
    found = set(laid_out(tmp_path, commit, by_tracks))
    asked = {f"test/00007/{track:05}_{frame:05}.ppm" for track in (2, 5) for frame in range(2)}
    learned = {f"train/00007/{track:05}_{frame:05}.ppm" for track in (0, 1, 3, 4) for frame in range(2)}
    assert found == asked | learned


def test_by_digits_every_fourth_of_a_class_is_asked(tmp_path, committed):
    from photograph_sets import by_digits

    commit = committed(
        {f"Dataset/{digit}/IMG_{n}.JPG": b"x" for digit in "03" for n in range(5)} | {"Examples/1.JPG": b"y"}
    )
    found = set(laid_out(tmp_path, commit, by_digits))
    assert {name for name in found if name.startswith("test")} == {f"test/{digit}/IMG_3.JPG" for digit in "03"}
    assert len(found) == 10


def test_by_labels_every_fourth_of_a_class_is_for_the_test(tmp_path, committed):
    from photograph_sets import by_labels

    labels = {"0007": "cup", "0001": "cup", "0003": "fork", "0002": "cup", "0009": "cup", "0010": "cup"}
    table = "Id,label\n" + "".join(f"{number},{label}\n" for number, label in labels.items())
    commit = committed({f"images/{number}.jpg": number.encode() for number in labels} | {"train.csv": table.encode()})
    found = laid_out(tmp_path, commit, by_labels)
    learned = {f"train/{labels[number]}/{number}.jpg" for number in ("0001", "0002", "0007", "0010", "0003")}
    assert set(found) == learned | {"test/cup/0009.jpg"}


def test_near_copies_and_absent_files_are_left_out(tmp_path, committed, monkeypatch):
    import photograph_sets

    monkeypatch.setattr(photograph_sets, "ABSENT", tmp_path / "absent.txt")
    photograph_sets.ABSENT.write_text("train/apple/gone.png\n")
    files = {f"train/apple/{seed}.png": png(seed) for seed in range(4)} | {
        "train/apple/gone.png": png(7),
        "train/apple/2b.png": png(2, brighter=20),
        "train/pear/8.png": png(8),
        "train/pear/9.png": png(1, brighter=3),  # an apple's copy
        "test/pear/6.png": png(6),
    }
    found = laid_out(tmp_path, committed(files), photograph_sets.without_near_copies)
    learned = {"train/apple/0.png", "train/apple/1.png", "train/apple/2.png", "train/pear/8.png"}
    assert set(found) == learned | {"test/apple/3.png"}


def test_a_missing_file_is_named(tmp_path, committed):
    from photograph_sets import by_folders

    commit = committed({"a/1/x.jpg": b"x"})
    blob = hashlib.sha1(b"blob 1\0x").hexdigest()
    (tmp_path / "clones" / "it.git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ValueError, match=r"a/1/x\.jpg is missing from .*it\.git"):
        laid_out(tmp_path, commit, lambda clone: by_folders(clone, "a/", "b/"))
    assert not (tmp_path / "set").exists()


def test_the_digest_is_that_of_sha256sum(tmp_path):
    from photograph_sets import digest

    for name in ("train/b/1.jpg", "test/b/1.jpg", "train/a b/2.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    listed = "find * -type f -exec sha256sum {} + | sed 's/^\\(.*\\)  \\(.*\\)$/\\2 \\1/' | LC_ALL=C sort | sha256sum"
    expected = subprocess.run(listed, shell=True, cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    assert digest(tmp_path) == expected.split()[0]


def test_the_table_names_the_sets_that_rows_are_of():
    import csv

    from photograph_sets import CHOICE_SETS, RESULTS, SETS, TABLE

    with TABLE.open() as file:
        table = list(csv.DictReader(file))
    assert [(row["set"], row["source"]) for row in table] == [
        (name, f"{source.repository}@{source.commit}") for name, source in (SETS | CHOICE_SETS).items()
    ]
    with (RESULTS / "instead.csv").open() as file:
        rows = {(row["set"], row["classes"], row["tested"]) for row in csv.DictReader(file)}
    assert rows == {
        (row["set"], row["classes"], str(min(1500, int(row["test"])))) for row in table if row["set"] in SETS
    }
    with (RESULTS / "feature_choice.csv").open() as file:
        asked = {(row["set"], row["asked"]) for row in csv.DictReader(file) if row["set"] in CHOICE_SETS}
    assert asked == {(row["set"], str(min(1500, int(row["test"])))) for row in table if row["set"] in CHOICE_SETS}
