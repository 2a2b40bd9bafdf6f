"""`bitreplay serve` as a user starts it: what it says, what it refuses, a certificate, a wheel."""

from __future__ import annotations

import http.client
import re
import shutil
import ssl
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bitreplay.__main__ import main
from bitreplay.statefile import Lock
from tests import tiny
from tests.serve.serving import Client, colours, heavy, process

ROOT = Path(__file__).resolve().parents[2]


def run_refused(capsys, monkeypatch, *words: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["bitreplay", "serve", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().err


def test_what_is_refused_before_it_starts(tmp_path, capsys, monkeypatch):
    state, model = tmp_path / "a.state", str(tiny.model(tmp_path))
    with Lock(state):
        code, message = run_refused(capsys, monkeypatch, str(state), "--model", model)
        assert code == 3 and "in use" in message
    cert = ["--cert", str(tmp_path / "no.pem"), "--key", str(tmp_path / "no.key")]
    for words, expected in [
        (["--cert", "a.pem"], "--cert and --key belong together"),
        (cert, "The certificate or its key cannot be used"),
        (["--host", "300.1.1.1"], "Cannot listen on"),
        (["--model", "nothing"], "nothing"),
    ]:
        code, message = run_refused(capsys, monkeypatch, str(state), "--model", model, "--port", "0", *words)
        assert code == 1 and expected in message and message.count("\n") == 1, message


def test_without_the_extra_a_sentence_says_so(tmp_path):
    program = (
        "import sys; sys.modules['starlette'] = sys.modules['uvicorn'] = None\n"
        f"sys.argv = ['bitreplay', 'serve', {str(tmp_path / 'a.state')!r}]\n"
        "from bitreplay.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "pip install 'bitreplay[web]'" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_link_names_the_machine_and_not_all_of_its_addresses(host, monkeypatch):
    from bitreplay.serve.server import Endpoint, host_names

    monkeypatch.setattr("socket.gethostname", lambda: "scale")
    assert Endpoint(host).public_name == "scale.local" and Endpoint(host).public_name in host_names(Endpoint(host))
    assert Endpoint(host, names=("shop.example",)).public_name == "shop.example"
    assert Endpoint("10.0.0.7").public_name == "10.0.0.7" and Endpoint().public_name == "127.0.0.1"
    monkeypatch.setattr("socket.gethostname", lambda: "scale.example")
    assert Endpoint(host).public_name == "scale.example"


def test_a_token_is_said_once_and_never_logged(tmp_path):
    state, file, model = tmp_path / "a.state", tmp_path / "token", tiny.model(tmp_path)
    words = ("--model", str(model), "--host", "0.0.0.0", "--token-file", str(file))
    with process(state, *words) as (server, client):
        assert server.stdout is not None and server.stderr is not None
        line = server.stdout.readline()
        token = file.read_text().strip()
        assert token in line
        own = Client(client.port, {"Authorization": f"Bearer {token}"})
        assert client.get("/api/now").status == 401 and client.get(f"/api/now?token={token}").status == 401
        assert own.learn("red", list(colours("red", each=2)["red"])).status == 200
        link = own.change("link").json()["path"]
        assert client.get(f"/{link}").status == 200
        assert own.get("/api/nothing").status == 404
        client.raw(
            f"GET /{token} HTTP/1.1\r\nHost: evil\r\nAuthorization: {token}\r\nConnection: close\r\n\r\n".encode()
        )
        server.terminate()
        out, errors = server.communicate(timeout=30)
        assert server.returncode == 0
        assert token not in out + errors and link not in out + errors
        assert "Without --cert" in errors
    with process(state, *words) as (server, client):
        assert Client(client.port, {"Authorization": f"Bearer {token}"}).now()["classes"] == [
            {"name": "red", "pictures": 2}
        ]
        server.terminate()
        out, errors = server.communicate(timeout=30)
        assert token not in out + errors


def test_a_self_made_certificate(tmp_path):
    """As docs/serve.md says how to make one."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made.")
    page = (ROOT / "docs" / "serve.md").read_text()
    (command,) = re.findall(r"^    (openssl req .*?)\n\n", page, re.MULTILINE | re.DOTALL)
    subprocess.run(command, shell=True, check=True, cwd=tmp_path, capture_output=True)
    words = (
        "--model",
        str(tiny.model(tmp_path)),
        "--cert",
        str(tmp_path / "cert.pem"),
        "--key",
        str(tmp_path / "key.pem"),
    )
    with process(tmp_path / "a.state", *words) as (_, client):
        trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        trusted.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", client.port, timeout=60, context=trusted)
        connection.request("GET", "/api/now")
        assert connection.getresponse().status == 200
        connection.close()
        with pytest.raises(ssl.SSLError):
            unknown = http.client.HTTPSConnection(
                "127.0.0.1", client.port, timeout=60, context=ssl.create_default_context()
            )
            unknown.request("GET", "/")
        with pytest.raises((http.client.HTTPException, OSError)):
            client.get("/")  # not by plain http


@heavy
def test_an_installed_wheel_serves_the_page(tmp_path):
    """The wheel without its core, which comes from here: what is asked is whether the page is in it."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir",
               str(tmp_path), "--config-settings=wheel.cmake=false", str(ROOT)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"The wheel cannot be built here: {done.stderr[-200:]}")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        sizes = {one.filename: one.compress_size for one in archive.infolist()}
    assert sum(size for name, size in sizes.items() if name.startswith("bitreplay/serve/")) < 100_000
    assert sum(size for name, size in sizes.items() if name.startswith("bitreplay/export/")) < 500_000  # C for boards
    apart = re.compile(r"bitreplay/(zoo|export)/|.*/RECORD$")  # the record names every source
    others = {name: size for name, size in sizes.items() if not apart.match(name)}
    assert sum(size for name, size in others.items() if not name.endswith(".wasm")) < 3.2e6  # where `make wasm` was run
    shutil.copytree(ROOT / "src" / "bitreplay" / "_lib", tmp_path / "site" / "bitreplay" / "_lib", dirs_exist_ok=True)
    with process(tmp_path / "a.state", "--model", "react_tiny", source=tmp_path / "site") as (_, client):
        for path in ("index.html", "main.js", "remote.js", "style.css"):
            assert client.get(f"/{path}").body == (ROOT / "page" / path).read_bytes()
        assert client.get("/").body == (ROOT / "page" / "index.html").read_bytes()
        assert len(client.get("/examples.bin").body) > 100_000
