"""`bitreplay page`: a whole folder, out of the package alone; `bitreplay serve` has the same files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bitreplay import zoo
from bitreplay.__main__ import main
from bitreplay.page import contents, folder
from tests import tiny
from tests.core.c_learner import CLearner
from tests.strategies.prior_companion import model_with_prior

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def webassembly(tmp_path, monkeypatch):
    """js/ with modules, which `make wasm` may not have built."""
    module = tmp_path / "js"
    module.mkdir()
    for path in (ROOT / "js").glob("*.?s"):
        (module / path.name).write_bytes(path.read_bytes())
    for name in contents.WEBASSEMBLY:
        (module / name).write_bytes(b"\0asm " + name.encode())
    monkeypatch.setattr(contents, "MODULE", module)
    return module


def run(monkeypatch, capsys, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["bitreplay", "page", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def files_in(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def test_a_page_has_everything_that_its_files_name(tmp_path, monkeypatch, capsys):
    out = tmp_path / "public" / "page"
    model = tiny.model(tmp_path)
    code, said, err = run(monkeypatch, capsys, str(out), "--models", f"{model},react_tiny", "--json")
    assert code == 0, err
    names = files_in(out)
    assert json.loads(said)["files"] == len(names)
    assert {
        "index.html",
        "notices.txt",
        "LICENSE.txt",
        "bitreplay.wasm",
        "bitreplay-plain.wasm",
        "examples.bin",
    } <= names
    for path in (out / name for name in names if name.endswith(".js")):
        for module in re.findall(r"""^(?:import|export)[^;]*? from "(\.[^"]+)";""", path.read_text(), re.MULTILINE):
            assert (path.parent / module).is_file(), f"{path.name} imports {module}"
    for address in re.findall(r'(?:href|src)="([^"#:]+)"', (out / "index.html").read_text()):
        assert address.removeprefix("./") in names | {""}
    rows = json.loads((out / "models.json").read_text())
    assert [row["strategy"] for row in rows] == ["exact", "exact", "replay", "replay"]
    assert all((out / row["file"]).stat().st_size == row["bytes"] for row in rows)
    worker = (out / "offline.js").read_text()
    cached = json.loads(re.findall(r"^const FILES = (\[.*\]);$", worker, re.MULTILINE)[0])
    assert set(cached) == {"./"} | {name for name in names if not name.endswith(".ts")} - {
        "index.html",
        "offline.js",
    } - {row["file"] for row in rows[1:]}
    assert not any(path.name.startswith(".") for path in out.rglob("*"))


def test_the_default_networks_are_in_every_wheel():
    from bitreplay.zoo.fetching import catalogue

    assert not {zoo.find(name.partition(":")[0]).path.name for name in folder.DEFAULT_MODELS} & set(catalogue())


def test_it_is_written_again_beside_other_files_but_not_into_a_folder_of_them(tmp_path, monkeypatch, capsys):
    out, model = tmp_path / "page", str(tiny.model(tmp_path))
    assert run(monkeypatch, capsys, str(out), "--models", model)[0] == 0
    first = (out / "offline.js").read_text()
    (out / "CNAME").write_text("learn.example")
    (out / "index.html").write_text("old")
    assert run(monkeypatch, capsys, str(out), "--models", model)[0] == 0
    assert (out / "CNAME").read_text() == "learn.example" and "old" != (out / "index.html").read_text()
    assert (out / "offline.js").read_text() == first
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.html").write_text("somebody's")
    for place, sentence in ((other, "has other files in it"), (out / "CNAME", "is not a folder")):
        code, _, err = run(monkeypatch, capsys, str(place), "--models", model)
        assert code == 1 and sentence in err and err.count("\n") == 1
    assert files_in(other) == {"index.html"}


@pytest.mark.parametrize(
    ("models", "sentence"),
    [("nothing", "no model"), ("", "at least one"), ("react_tiny:x", "NAME:SIZE"), ("react_tiny::8:8", "NAME:SIZE")],
)
def test_what_is_no_network_is_refused_and_nothing_is_written(tmp_path, monkeypatch, capsys, models, sentence):
    code, _, err = run(monkeypatch, capsys, str(tmp_path / "page"), "--models", models)
    assert code == 1 and sentence in err and not (tmp_path / "page").exists()


def test_an_installation_without_modules_says_so(webassembly, tmp_path, monkeypatch, capsys):
    (webassembly / "bitreplay.wasm").unlink()
    code, _, err = run(monkeypatch, capsys, str(tmp_path / "page"))
    assert code == 1 and "lacks bitreplay.wasm" in err and "make wasm" in err


def test_serve_has_the_same_files(tmp_path):
    pytest.importorskip("starlette")
    from bitreplay.serve.files import EXCLUDED, page_files

    static = contents.static_files()
    served = page_files()
    for name in set(static) - set(EXCLUDED):
        assert served[f"/{name}"].content == static[name]


def test_a_page_has_the_components_that_a_companion_says(tmp_path, monkeypatch, capsys):
    model = model_with_prior(tmp_path, default_components=9)
    code, _, err = run(monkeypatch, capsys, str(tmp_path / "page"), "--models", str(model))
    assert code == 0, err
    (image,) = (tmp_path / "page").rglob("*.exact.model")
    assert len(CLearner(image.read_bytes(), classes=4).extract(tiny.pictures("red")[0][0])) == 9
