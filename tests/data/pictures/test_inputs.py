"""Whatever a picture comes as, its pixels are the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import bitreplay
from bitreplay.cli.reading import SkippedFiles
from bitreplay.cli.reading import read_labelled as read_by_command
from bitreplay.data.pictures.fitting import fit_pictures
from bitreplay.learning.classes import names_of
from tests import tiny

SIDE = 8
IMAGES, LABELS = tiny.pictures("red", "green", each=2, side=12)
WANTED = fit_pictures(IMAGES, SIDE)


@pytest.fixture
def paths(tmp_path) -> list[Path]:
    for number, (image, label) in enumerate(zip(IMAGES, LABELS, strict=True)):
        (tmp_path / label).mkdir(exist_ok=True)
        Image.fromarray(image).save(tmp_path / label / f"{number}.png")
    return [tmp_path / label / f"{number}.png" for number, label in enumerate(LABELS)]


def test_paths_texts_pillow_images_lists_and_generators(paths):
    opened = [Image.open(path) for path in paths]
    for given in (
        paths, list(map(str, paths)), opened, tuple(IMAGES), iter(IMAGES), (Image.fromarray(x) for x in IMAGES),
        np.array(list(map(str, paths))), np.array(paths, object),
    ):  # fmt: skip
        assert np.array_equal(fit_pictures(given, SIDE), WANTED)
    assert np.array_equal(fit_pictures(paths[0], SIDE), WANTED[:1])
    assert np.array_equal(fit_pictures(opened[1], SIDE), WANTED[1:2])


@pytest.mark.parametrize("side", [12, SIDE])
def test_grey_is_three_equal_colours(side):
    grey = IMAGES[..., 0]
    wanted = fit_pictures(grey[..., None].repeat(3, axis=3), side)
    for given in (grey, grey[..., None], list(grey), [one[..., None] for one in grey]):
        assert np.array_equal(fit_pictures(given, side), wanted)
    assert np.array_equal(fit_pictures(grey[0], side), wanted[:1])
    assert np.array_equal(fit_pictures(Image.fromarray(grey[0]), side), wanted[:1])


def test_a_pillow_image_is_read_by_the_rules_of_files(tmp_path):
    clear = Image.fromarray(np.full((12, 12, 4), (10, 20, 30, 0), np.uint8), "RGBA")
    assert (fit_pictures(clear, SIDE) == 255).all(), "transparency lies on white"
    deep = Image.fromarray(np.full((12, 12), 0xABCD, np.uint16))
    assert (fit_pictures(deep, SIDE) == 0xAB).all()
    with pytest.raises(ValueError, match="A Pillow image cannot be read as a picture: it has pixels of the kind F"):
        fit_pictures(Image.new("F", (12, 12)), SIDE)


def test_tensors_have_their_colours_first_or_last():
    torch = pytest.importorskip("torch", reason="torch is an extra")
    last = torch.from_numpy(IMAGES)
    first = last.permute(0, 3, 1, 2)
    for given in (last, first, list(first), first.contiguous(), (one for one in last)):
        assert np.array_equal(fit_pictures(given, SIDE), WANTED)
    assert np.array_equal(fit_pictures(first[0], SIDE), WANTED[:1])
    assert np.array_equal(fit_pictures(first[0, 0], SIDE), fit_pictures(IMAGES[0, :, :, 0], SIDE))
    with pytest.raises(ValueError, match="Pictures must be uint8, 0 to 255, got float32"):
        fit_pictures(first / 255, SIDE)
    assert names_of(torch.tensor([3, 1])) == [3, 1]


def test_columns_of_a_table(paths):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame(
        {"file": list(map(str, paths)), "fruit": LABELS, "number": [2, 2, 7, 7]}, index=[9, 8, 7, 6]
    )
    assert np.array_equal(fit_pictures(table["file"], SIDE), WANTED)
    assert names_of(table["fruit"]) == LABELS == names_of(table["fruit"].astype("category"))
    assert names_of(table["number"]) == [2, 2, 7, 7]
    with pytest.raises(ValueError, match="one dimension"):
        names_of(table)


def test_labels_of_other_kinds():
    assert names_of(str(k) for k in range(3)) == ["0", "1", "2"] and names_of(range(2)) == [0, 1]
    odd: list[Any] = [{"a"}, {"a": 1}, b"ab", None, 1.5]
    for labels in odd:
        with pytest.raises(ValueError, match="Labels must be|A label must be"):
            names_of(labels)


def test_a_folder_is_read_as_the_command_line_reads_it(paths, tmp_path, tiny_model):
    images, labels, files = read_by_command(tmp_path, None, SIDE, SkippedFiles(False))
    assert bitreplay.labelled(tmp_path) == (files, labels)
    assert np.array_equal(fit_pictures(bitreplay.labelled(tmp_path)[0], SIDE), images)
    assert np.array_equal(bitreplay.read(paths[0]), IMAGES[0])
    learner, other = (bitreplay.Learner.from_pretrained(tiny_model, strategy="exact") for _ in range(2))
    learner.learn(*bitreplay.labelled(tmp_path))
    other.learn(iter(IMAGES), iter(LABELS))
    assert learner.state_hash() == other.state_hash() and learner.predict(str(paths[3])).tolist() == ["green"]


def test_a_folder_in_the_place_of_a_picture_is_called_one(tmp_path):
    with pytest.raises(ValueError, match="cannot be read as a picture: it is a folder"):
        bitreplay.read(tmp_path)


def test_what_is_no_folder_of_classes_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="none is not a folder"):
        bitreplay.labelled(tmp_path / "none")
    with pytest.raises(ValueError, match="has no class folder with pictures"):
        bitreplay.labelled(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(ValueError, match="a is a class folder without pictures"):
        bitreplay.labelled(tmp_path)


def test_colours_first_are_not_taken_for_three_grey_pictures():
    first = np.moveaxis(IMAGES[0], -1, 0)
    with pytest.raises(
        ValueError, match=r"may be one picture with its colours first, or three grey ones: pass np.moveaxis"
    ):
        fit_pictures(first, 8)
    assert np.array_equal(fit_pictures(np.moveaxis(first, 0, -1), 8), fit_pictures(IMAGES[0], 8))
    assert len(fit_pictures(first[..., None], 8)) == 3
    for given in ([first], np.moveaxis(IMAGES, -1, 1)):
        with pytest.raises(ValueError, match="np.moveaxis"):
            fit_pictures(given, 8)
    learner = bitreplay.Learner.from_pretrained("bireal18")
    for call in (lambda: learner.learn(first, "one"), lambda: learner.predict(first)):
        with pytest.raises(ValueError, match="colours first"):
            call()
