"""What makes pictures one series."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.pictures.picture import time_taken
from bitreplay.data.series import ALIKE, NEIGHBOURS, SECONDS, series
from bitreplay.data.splitting import Split, choose_test, describe

RNG = np.random.default_rng(0)
APART = RNG.integers(0, 256, (6, 8, 8, 3), np.uint8)
PLAIN = [Path(f"IMG_{k}.jpg") for k in range(6)]
NEVER = [None] * 6


def test_pictures_that_share_nothing_are_series_of_their_own():
    assert series(PLAIN, APART, NEVER) == [[0], [1], [2], [3], [4], [5]]


def test_names_that_differ_in_their_last_number_alone():
    names = ["cup_01_001", "cup_01_002", "cup_02_001", "cup_02_002", "cup_03_7", "other"]
    assert series([Path(f"{name}.png") for name in names], APART, NEVER) == [[0, 1], [2, 3], [4], [5]]
    most = [Path(f"IMG_{k}.jpg") for k in range(5)] + [Path("photo.jpg")]
    assert len(series(most, APART, NEVER)) == 6, "every camera counts its pictures"


def test_times_that_are_close_join_whatever_lies_between():
    times = [0.0, 100.0, SECONDS, 2.0 * SECONDS, None, 3.0 * SECONDS + 1]
    assert series(PLAIN, APART, times) == [[0, 2, 3], [1], [4], [5]]


@pytest.mark.parametrize(("apart", "joined"), [(ALIKE, True), (ALIKE + 1, False)])
def test_pictures_that_look_alike_are_joined_wherever_they_stand(apart, joined):
    images = APART // 2
    images[4] = images[1] + apart
    assert series(PLAIN, images, NEVER) == ([[0], [1, 4], [2], [3], [5]] if joined else [[k] for k in range(6)])


@pytest.mark.parametrize(("apart", "joined"), [(NEIGHBOURS, True), (NEIGHBOURS + 1, False)])
def test_neighbours_may_differ_more(apart, joined):
    images = APART // 2
    images[2] = images[1] + apart
    assert series(PLAIN, images, NEVER) == ([[0], [1, 2], [3], [4], [5]] if joined else [[k] for k in range(6)])


def test_the_clock_of_a_camera_is_read(tmp_path):
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2024:05:01 10:00:07"
    exif[0x0132] = "2025:01:01 00:00:00"
    Image.new("RGB", (8, 8)).save(tmp_path / "a.jpg", exif=exif)
    other = Image.Exif()
    other[0x0132] = "2024:05:01 10:00:00"
    Image.new("RGB", (8, 8)).save(tmp_path / "b.jpg", exif=other)
    Image.new("RGB", (8, 8)).save(tmp_path / "c.png")
    (tmp_path / "d.jpg").write_bytes(b"text")
    first, second = time_taken(tmp_path / "a.jpg"), time_taken(tmp_path / "b.jpg")
    assert first is not None and second is not None and first - second == 7
    assert time_taken(tmp_path / "c.png") is None is time_taken(tmp_path / "d.jpg")


def test_whole_groups_from_the_end_are_the_test():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 9, rng.integers(1, 12))
        ends = np.cumsum(sizes)
        groups = [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
        chosen = choose_test(groups, 5)
        assert all(set(group) <= chosen or not set(group) & chosen for group in groups)
        assert 2 * len(chosen) <= ends[-1]
        if ends[-1] >= 5 and not chosen:
            assert all(2 * len(group) > ends[-1] for group in groups), "a test was possible"


def test_a_split_is_told():
    whole, *lacking = describe([Split("pear", 8, 2, 5), Split("plum", 6, 0, 1)])
    assert "Of 16 pictures in 6 series" in whole and "14 are learned and 2 are the test" in whole
    assert lacking == [
        "plum is not tested: it has 6 pictures in 1 series; take some at another time, or put some into test/plum."
    ]
