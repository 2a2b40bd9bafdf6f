"""A server of `bitreplay serve` on a thread of the test, or as a process of its own, and a plain client."""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

pytest.importorskip("starlette", reason="starlette is not installed: `bitreplay serve` was not tested.")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: `bitreplay serve` was not tested.")
pytest.importorskip("python_multipart", reason="python-multipart is not installed: `bitreplay serve` was not tested.")

from bitreplay.learner import Learner  # noqa: E402
from bitreplay.serve.keys import Keys  # noqa: E402
from bitreplay.serve.limits import Limits  # noqa: E402
from bitreplay.serve.server import Endpoint, LearnerServer  # noqa: E402
from bitreplay.statefile import Lock  # noqa: E402
from tests import tiny  # noqa: E402

BOUNDARY = "the-end-of-a-part"
JSON = {"Content-Type": "application/json"}
PATIENCE = 60.0
SOURCE = Path(__file__).resolve().parents[2] / "src"
heavy = pytest.mark.skipif("BITREPLAY_SERVE" not in os.environ, reason="Takes longer; `make test-serve` runs it.")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The message of a refused request."""
        message = self.json()["error"]
        assert self.status >= 400 and message.endswith("."), (self.status, message)
        return str(message)


class Client:
    """A connection for each request, so that none depends on another."""

    def __init__(self, port: int, headers: dict[str, str] | None = None) -> None:
        self.port, self.headers = port, headers or {}

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, self.headers | (headers or {}))
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def change(self, what: str, **words: Any) -> Answer:
        return self.ask("POST", f"/api/{what}", json.dumps(words), JSON)

    def learn(self, name: str, pictures: Sequence[NDArray | bytes]) -> Answer:
        body = form(("name", None, name.encode()), *(("picture", "x", as_file(one)) for one in pictures))
        return self.ask("POST", "/api/learn", body, {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})

    def predict(self, picture: NDArray | bytes) -> Answer:
        return self.ask("POST", "/api/predict", as_file(picture), {"Content-Type": "image/png"})

    def send(self, what: str, state: bytes) -> Answer:
        return self.ask("POST", f"/api/{what}", state, {"Content-Type": "application/octet-stream"})

    def now(self) -> dict[str, Any]:
        answer = self.get("/api/now")
        assert answer.status == 200, answer
        return dict(answer.json())

    def raw(self, data: bytes, wait: float = PATIENCE) -> bytes:
        """Bytes as they are, and all that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            connection.sendall(data)
            received = b""
            while part := connection.recv(1 << 16):
                received += part
            return received


def as_file(picture: NDArray | bytes, kind: str = "PNG") -> bytes:
    if isinstance(picture, bytes):
        return picture
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind)
    return file.getvalue()


def form(*parts: tuple[str, str | None, bytes]) -> bytes:
    """(field, file name or None, content) each."""
    body = b""
    for field, name, content in parts:
        file = "" if name is None else f'; filename="{name}"'
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"{file}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode()


@contextmanager
def served(
    state: Path, learner: Learner | None = None, limits: Limits | None = None, keys: Keys | None = None,
    host: str = "127.0.0.1", names: tuple[str, ...] = (), **changes: Any,
) -> Iterator[Client]:  # fmt: skip
    """On a thread. With keys it listens where others could reach it, as far as the server knows."""
    with Lock(state) as lock:
        if learner is None:
            model = tiny.model(state.parent)
            learner = Learner.load(state, model) if state.exists() else Learner.from_pretrained(model, **changes)
        server = LearnerServer(learner, state, lock, Endpoint(host, 0, names, limits=limits or Limits()), keys)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield Client(server.port)
        finally:
            server.server.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()


@contextmanager
def process(
    state: Path, *words: str, source: Path = SOURCE
) -> Iterator[tuple[subprocess.Popen[str], Client]]:  # fmt: skip
    """`bitreplay serve` as a user starts it."""
    command = [sys.executable, "-m", "bitreplay", "serve", str(state), "--port", "0", *words]
    folders = [str(source), *(folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        match = re.search(r":(\d+)/", line)
        assert match, (line, server.communicate())
        yield server, Client(int(match[1]))
    finally:
        if server.poll() is None:
            server.kill()
        server.communicate()


def colours(*names: str, each: int = 10, seed: int = 0) -> dict[str, NDArray[np.uint8]]:
    """Pictures of plain colours, as the tiny network sees them."""
    return {name: tiny.pictures(name, each=each, seed=seed + k)[0] for k, name in enumerate(names)}
