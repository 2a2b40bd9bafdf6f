"""Networks that wheels leave out: by name from a folder or a server, checked, all of their files or none."""

from __future__ import annotations

import functools
import http.server
import importlib
import json
import os
import re
import shutil
import threading
from pathlib import Path

import pytest

import bitreplay
from bitreplay import zoo
from bitreplay.__main__ import main
from bitreplay.zoo import fetching
from tests import tiny

ROOT = Path(__file__).resolve().parents[1]
ZOO = ROOT / "src" / "bitreplay" / "zoo"


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A zoo as a wheel has it, and a folder for what is fetched."""
    folder = tmp_path / "zoo"
    folder.mkdir()
    for path in ZOO.glob("*.safetensors"):
        if path.name not in fetching.catalogue():
            (folder / path.name).symlink_to(path)
    monkeypatch.setattr(zoo, "FOLDER", folder)
    monkeypatch.setenv("BITREPLAY_MODELS", str(tmp_path / "fetched"))
    return tmp_path / "fetched"


def run(monkeypatch, capsys, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["bitreplay", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def test_the_catalogue_is_what_wheels_leave_out(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = importlib.import_module("make_catalogue")
    assert tool.excluded() and json.loads(fetching.CATALOGUE.read_text()) == tool.rows()
    default = zoo.find(zoo.DEFAULT).path
    assert not {default.name, "react_tiny.safetensors"} & set(tool.excluded()), "wheels have the defaults"


def test_a_folder_that_may_not_be_read_hides_no_shipped_network(tmp_path, monkeypatch):
    hidden = tmp_path / "hidden"
    (hidden / "models").mkdir(parents=True)
    hidden.chmod(0)
    monkeypatch.setenv("BITREPLAY_MODELS", str(hidden / "models"))
    expected, child = zoo.find(zoo.DEFAULT).path, os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setuid(65534)
        try:
            os._exit(int(zoo.find(zoo.DEFAULT).path != expected))
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    hidden.chmod(0o700)


def test_what_wheels_have_is_well_below_fifteen_megabytes():
    """The core, the WebAssembly modules and Python have 3 MB of the wheel (`make test-wheel` weighs it)."""
    shipped = [path for path in ZOO.glob("*.safetensors") if path.name not in fetching.catalogue()]
    photographs = ROOT / "src" / "bitreplay" / "data" / "groceries.zip"
    assert sum(path.stat().st_size for path in (*shipped, photographs)) < 12e6


def test_a_network_that_is_absent_is_named_and_can_be_brought_from_a_folder(wheel, monkeypatch, capsys):
    assert "vgg_small" not in zoo.names() and zoo.generations("quicknet") == [2]
    for name in ("vgg_small", "vgg_small@1", fetching.catalogue()["vgg_small.safetensors"]["digest"][:12]):
        with pytest.raises(ValueError, match="bitreplay models --fetch vgg_small@1 --from PLACE"):
            zoo.find(name)
    code, out, _ = run(monkeypatch, capsys, "models")
    assert code == 0 and "quicknet@1" in " ".join(out.split()).split("Not in this package")[1]
    code, out, err = run(monkeypatch, capsys, "models", "--fetch", "bireal18", "--from", str(ZOO))
    assert code == 0, err
    assert {path.name for path in wheel.iterdir()} == {name for name in fetching.catalogue() if "bireal18" in name}
    assert zoo.find("bireal18").digest == fetching.catalogue()["bireal18.safetensors"]["digest"]
    assert zoo.find("bireal18").companion("projection").is_file()


def test_a_state_of_an_absent_network_says_which_to_fetch(wheel, tmp_path, monkeypatch):
    images, labels = tiny.pictures("red", "green", each=2, side=40)
    with monkeypatch.context() as clone:
        clone.setattr(zoo, "FOLDER", ZOO)
        learner = bitreplay.Learner.from_pretrained("vgg_small")
        learner.learn(images, labels)
        learner.save(tmp_path / "a.state")
    with pytest.raises(ValueError, match="--fetch vgg_small@1 --from PLACE"):
        bitreplay.Learner.load(tmp_path / "a.state")
    fetching.fetch("vgg_small", str(ZOO))
    assert bitreplay.Learner.load(tmp_path / "a.state").labels == ["green", "red"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_a_server_is_asked_for_the_file_and_what_differs_is_not_stored(wheel, tmp_path, monkeypatch, capsys):
    place = tmp_path / "place"
    place.mkdir()
    name = "quicknet.safetensors"
    shutil.copy(ZOO / name, place)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    try:
        fetching.fetch("quicknet@1", address)
        assert zoo.generations("quicknet") == [1, 2] and zoo.find("quicknet").digest != zoo.find("quicknet@1").digest
        (wheel / name).unlink()
        content = bytearray((place / name).read_bytes())
        content[-1] ^= 1
        (place / name).write_bytes(content)
        code, _, err = run(monkeypatch, capsys, "models", "--fetch", "quicknet@1", "--from", address)
        assert code == 1 and "was not stored" in err and not list(wheel.iterdir())
        code, _, err = run(monkeypatch, capsys, "models", "--fetch", "vgg_small", "--from", address)
        assert code == 1 and re.search("could not be downloaded: .*404", err) and err.count("\n") == 1
    finally:
        server.shutdown()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--fetch", "vgg_small"], "belong together"),
        (["--from", "."], "belong together"),
        (["--fetch", "nothing", "--from", "."], "no network 'nothing@1' to fetch; expected one of bireal18@1"),
        (["--fetch", "vgg_small", "--from", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_fetched_is_refused(wheel, monkeypatch, capsys, words, sentence):
    code, _, err = run(monkeypatch, capsys, "models", *words)
    assert code == 1 and sentence in err and err.count("\n") == 1
