import pytest

from bitreplay.data.location import locate

GET = "https://example.org"


def test_a_path_wins_over_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("BITREPLAY_DATA", "/nowhere")
    assert locate("Set", tmp_path, ("set",), GET, "set") == tmp_path


@pytest.mark.parametrize("given", [True, False])
def test_the_first_usual_name_that_exists_is_taken(tmp_path, monkeypatch, given):
    monkeypatch.setenv("BITREPLAY_DATA", "/nowhere" if given else str(tmp_path))
    path = tmp_path if given else None
    (tmp_path / "set.zip").touch()
    assert locate("Set", path, ("set", "set.zip"), GET, "set") == tmp_path / "set.zip"
    (tmp_path / "set").mkdir()
    assert locate("Set", path, ("set", "set.zip"), GET, "set") == tmp_path / "set"


def test_an_archive_is_itself(tmp_path):
    (tmp_path / "other.zip").touch()
    (tmp_path / "set.zip").touch()
    assert locate("Set", str(tmp_path / "other.zip"), ("set.zip",), GET, "set") == tmp_path / "other.zip"


@pytest.mark.parametrize("path", [3, b"set", ["set"], 0.5, False])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match="The location of Set must be a path, got "):
        locate("Set", path, ("set",), GET, "set")


@pytest.mark.parametrize("path", ["nowhere", None])
@pytest.mark.parametrize("root", ["", "elsewhere"])
def test_a_missing_set_is_one_sentence_with_its_source(path, root, monkeypatch):
    monkeypatch.setenv("BITREPLAY_DATA", root)
    with pytest.raises(FileNotFoundError) as caught:
        locate("Set", path, ("set",), GET, "a-set")
    message = str(caught.value)
    assert message.startswith("Set ") and "\n" not in message
    assert message.endswith(f": get it from {GET} or with `bitreplay data fetch a-set`.")
