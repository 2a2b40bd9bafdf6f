import pytest

from bitreplay.data.location import locate

GET = "https://example.org"


def test_a_path_wins_over_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("BITREPLAY_DATA", "/nowhere")
    assert locate("Set", tmp_path, ("set",), GET) == tmp_path


def test_the_first_usual_name_that_exists_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("BITREPLAY_DATA", str(tmp_path))
    (tmp_path / "set.zip").touch()
    assert locate("Set", None, ("set", "set.zip"), GET) == tmp_path / "set.zip"
    (tmp_path / "set").mkdir()
    assert locate("Set", None, ("set", "set.zip"), GET) == tmp_path / "set"


@pytest.mark.parametrize("path", ["nowhere", None])
@pytest.mark.parametrize("root", ["", "elsewhere"])
def test_a_missing_set_is_one_sentence_with_its_source(path, root, monkeypatch):
    monkeypatch.setenv("BITREPLAY_DATA", root)
    with pytest.raises(FileNotFoundError) as caught:
        locate("Set", path, ("set",), GET)
    message = str(caught.value)
    assert message.startswith("Set ") and message.endswith(f"get it from {GET}.") and "\n" not in message
