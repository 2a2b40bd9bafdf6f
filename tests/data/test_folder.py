import numpy as np
import pytest
from PIL import Image

from bitreplay.data.folder import folder, split_folder
from bitreplay.data.splitting import Split


def paint(path, color, size=(20, 10)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, color).save(path)


def other(k: int) -> tuple[int, int, int]:
    """Colours that are not alike."""
    return (k, 120 * (k % 3), 60 * (k // 3))


def test_the_last_fifth_by_name_are_test_pictures(tmp_path):
    for k in range(11):
        paint(tmp_path / "pear" / f"{k:02d}.png", other(k))
    paint(tmp_path / "apple" / "only.png", (99, 0, 0))
    result, splits = split_folder(tmp_path, side=8)
    assert result.class_names == ("apple", "pear")
    assert result.train_images.shape == (10, 8, 8, 3)
    np.testing.assert_array_equal(result.train_labels, [0] + [1] * 9)
    np.testing.assert_array_equal(result.train_images[:, 0, 0, 0], [99, *range(9)])
    np.testing.assert_array_equal(result.test_images[:, 0, 0, 0], [9, 10])
    np.testing.assert_array_equal(result.test_labels, [1, 1])
    assert splits == (Split("apple", 1, 0, 1), Split("pear", 9, 2, 11))


def test_near_duplicates_never_stand_on_both_sides(tmp_path):
    """Frames of four sessions, taken one after the other, with names that say nothing."""
    rng = np.random.default_rng(0)
    for session in range(4):
        scene = rng.integers(0, 256, (12, 12, 3))
        for k in range(6):
            noisy = np.clip(scene + rng.integers(-20, 21, scene.shape), 0, 255).astype(np.uint8)
            noisy[0, 0] = session * 50
            (tmp_path / "cup").mkdir(exist_ok=True)
            Image.fromarray(noisy).save(tmp_path / "cup" / f"IMG_{1000 + 6 * session + k}.png")
    result, (split,) = split_folder(tmp_path, side=12)
    learned, tested = (set(part[:, 0, 0, 0].tolist()) for part in (result.train_images, result.test_images))
    assert learned == {0, 50, 100} and tested == {150} and split == Split("cup", 18, 6, 4)


@pytest.mark.parametrize("name", ["test", "val"])
def test_train_and_test_folders(tmp_path, name):
    paint(tmp_path / "train" / "b" / "1.png", (1, 0, 0))
    paint(tmp_path / "train" / "a" / "2.png", (2, 0, 0))
    paint(tmp_path / name / "b" / "3.png", (3, 0, 0))
    result = folder(tmp_path, side=4)
    np.testing.assert_array_equal(result.train_images[:, 0, 0, 0], [2, 1])
    np.testing.assert_array_equal(result.test_images[:, 0, 0, 0], [3])
    np.testing.assert_array_equal(result.test_labels, [1])


def test_a_class_folder_without_pictures_is_named_or_left_out(tmp_path):
    for k in range(5):
        paint(tmp_path / "pear" / f"{k}.png", other(k))
    for name in ("kiwi", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_bytes(b"x")
    with pytest.raises(ValueError, match="kiwi has no pictures"):
        folder(tmp_path, side=4)
    errors: list[ValueError] = []
    assert folder(tmp_path, side=4, unreadable=errors.append).class_names == ("pear",)
    assert [str(tmp_path / "kiwi") in str(error) for error in errors] == [True]


def test_a_turned_photograph_is_set_upright(tmp_path):
    paint(tmp_path / "test" / "a" / "1.png", (1, 0, 0))
    (tmp_path / "train" / "a").mkdir(parents=True)
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4] = 255
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    Image.fromarray(pixels).save(tmp_path / "train" / "a" / "1.png", exif=exif)
    result = folder(tmp_path, side=8)
    np.testing.assert_array_equal(result.train_images[0], pixels[::-1])


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere is not a folder"):
        folder(tmp_path / "nowhere", side=8)


def test_an_empty_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no class folder with pictures"):
        folder(tmp_path, side=8)


def test_a_class_only_in_test_is_an_error(tmp_path):
    paint(tmp_path / "train" / "a" / "1.png", (1, 0, 0))
    paint(tmp_path / "test" / "b" / "1.png", (1, 0, 0))
    with pytest.raises(ValueError, match="is a class that"):
        folder(tmp_path, side=8)


def test_a_file_that_is_no_picture_is_named(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.png").write_text("words")
    with pytest.raises(ValueError, match="1.png cannot be read as a picture"):
        folder(tmp_path, side=8)


def test_without_test_pictures_it_says_what_to_do(tmp_path):
    for k in range(4):
        paint(tmp_path / "a" / f"{k}.png", other(k))
    with pytest.raises(ValueError, match="No test pictures could be set aside .* no class has 5 pictures: add some"):
        folder(tmp_path, side=8)
    assert len(folder(tmp_path, side=8, test_every=4).test_images) == 1
    for k in range(9):
        paint(tmp_path / "alike" / "a" / f"{k}.png", (k, 0, 0))
    with pytest.raises(ValueError, match="pictures of each class are near-duplicates: add some taken at another"):
        folder(tmp_path / "alike", side=8)
    paint(tmp_path / "both" / "train" / "a" / "1.png", (1, 0, 0))
    (tmp_path / "both" / "test" / "a").mkdir(parents=True)
    with pytest.raises(ValueError, match="test has no test pictures: expected them in one folder per class"):
        folder(tmp_path / "both", side=8)


def test_if_every_test_picture_is_left_out_it_says_so(tmp_path):
    paint(tmp_path / "train" / "a" / "1.png", (1, 0, 0))
    (tmp_path / "test" / "a").mkdir(parents=True)
    (tmp_path / "test" / "a" / "2.png").write_text("words")
    with pytest.raises(ValueError, match="None of 1 pictures could be read, the first of which is .*2.png"):
        folder(tmp_path, side=8, unreadable=lambda error: None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"path": None}, "A folder of pictures must be a path, got None"),
        ({"path": 3}, "A folder of pictures must be a path, got 3"),
        ({"side": 0}, "side must be a positive integer, got 0"),
        ({"side": 8.0}, "side must be a positive integer, got 8.0"),
        ({"side": None}, "side must be a positive integer, got None"),
        ({"test_every": 0}, "test_every must be an integer of at least 2, got 0"),
        ({"test_every": 1}, "test_every must be an integer of at least 2, got 1"),
        ({"test_every": "5"}, "test_every must be an integer of at least 2, got '5'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tmp_path, arguments, sentence):
    paint(tmp_path / "a" / "1.png", (1, 0, 0))
    with pytest.raises(ValueError, match=sentence):
        folder(**({"path": tmp_path, "side": 8} | arguments))
