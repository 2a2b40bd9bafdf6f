"""WebKitGTK's MiniBrowser by WebDriver: HTTP requests to WebKitWebDriver, on a display of its own (Xvfb)."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 180.0  # seconds: the machine may be busy
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the standard's name for an element's reference
BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"


class WebKit:
    def __init__(self, port: int, browser: Path) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        found = self.ask("POST", "/session", wanted)
        self.version = found["capabilities"]["browserVersion"]
        self.session = f"/session/{found['sessionId']}"
        self.ask("POST", f"{self.session}/timeouts", {"script": int(1000 * PATIENCE)})

    def ask(self, method: str, path: str, words: Any = None) -> Any:
        self.connection.request(method, path, None if words is None else json.dumps(words))
        answer = self.connection.getresponse()
        found = json.loads(answer.read())["value"]
        assert answer.status == 200, found
        return found

    def go(self, address: str) -> None:
        self.ask("POST", f"{self.session}/url", {"url": address})

    def run(self, code: str, *words: Any) -> Any:
        return self.ask("POST", f"{self.session}/execute/sync", {"script": code, "args": words})

    def wait(self, condition: str, *words: Any) -> None:
        end = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})", *words):
            assert time.monotonic() < end, condition
            time.sleep(0.1)

    def find(self, selector: str) -> str:
        found = self.ask("POST", f"{self.session}/element", {"using": "css selector", "value": selector})
        return f"{self.session}/element/{found[ELEMENT]}"

    def click(self, selector: str) -> None:
        self.ask("POST", f"{self.find(selector)}/click", {})

    def write(self, selector: str, text: str) -> None:
        self.ask("POST", f"{self.find(selector)}/value", {"text": text})

    def end(self) -> None:
        self.ask("DELETE", self.session)


@contextmanager
def display() -> Iterator[dict[str, str]]:
    """The environment's variables with Xvfb's display."""
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("Xvfb is not installed: WebKitGTK was not tested.")
    read, write = os.pipe()
    words = [program, "-displayfd", str(write), "-screen", "0", "1280x1000x24", "-nolisten", "tcp"]
    with subprocess.Popen(words, pass_fds=[write], stderr=subprocess.DEVNULL) as process:
        os.close(write)
        try:
            with os.fdopen(read) as number:
                yield {**os.environ, "DISPLAY": f":{int(number.readline())}"}
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    driver = shutil.which("WebKitWebDriver")
    browsers = sorted(Path("/").glob(BROWSERS[1:]))
    if driver is None or not browsers:
        pytest.skip("WebKitGTK's driver (webkit2gtk-driver) is not installed: it was not tested.")
    port = free_port()
    log = folder / "webkit.log"
    own = {"HOME": str(folder)}  # nothing of the reader's browser, and nothing left there
    with display() as variables, log.open("w") as out:
        words = [driver, f"--port={port}"]
        with subprocess.Popen(words, env=variables | own, stdout=out, stderr=out) as process:
            try:
                yield _connected(port, browsers[-1], log)
            finally:
                process.terminate()


def _connected(port: int, browser: Path, log: Path) -> WebKit:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return WebKit(port, browser)
        except ConnectionRefusedError:
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
