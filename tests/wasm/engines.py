"""The WebAssembly build of the core in Node or Chromium: where it is, and how to call tests/wasm/drive.js in it.

`make test-wasm` builds it and sets BITREPLAY_WASM to its folder; without it the tests skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = Path(os.environ.get("BITREPLAY_WASM", ""))
# There is a module with SIMD and one without; each is tested with its fastest instruction set.
SETS = {"scalar": "bitreplay-plain.wasm", "wasm": "bitreplay.wasm"}
needs_wasm = pytest.mark.skipif(
    "BITREPLAY_WASM" not in os.environ,
    reason="The WebAssembly build is not there; `make test-wasm` makes it and runs this.",
)


class Engine(Protocol):
    def call(self, isa: str, what: str, files: list[bytes], arguments: tuple[int, ...] = ()) -> bytes: ...


class Node:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def call(self, isa: str, what: str, files: list[bytes], arguments: tuple[int, ...] = ()) -> bytes:
        node = shutil.which("node")
        assert node is not None, "node is not installed"
        for number, content in enumerate(files):
            (self.folder / str(number)).write_bytes(content)
        names = [str(self.folder / str(number)) for number in range(len(files))]
        words = [
            str(FOLDER / SETS[isa]),
            isa,
            what,
            *names,
            *(str(n) for n in arguments),
            str(self.folder / "result"),
        ]
        done = subprocess.run([node, str(HERE / "node.mjs"), *words], capture_output=True, text=True)
        assert done.returncode == 0, f"{what} on {isa}: {done.stderr}"
        assert done.stdout.split() == [isa]
        return (self.folder / "result").read_bytes()


ORIGIN = "http://localhost:1"  # nothing listens there: every request is answered below
CALL = """async ([module, isa, what, files, numbers]) => {
  const { Core } = await import("/js/core.js");
  const drive = await import("/tests/wasm/drive.js");
  const read = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const core = await Core.open(await read(module));
  core.setIsa(isa);
  const result = await drive[what](core, ...(await Promise.all(files.map(read))), ...numbers);
  const parts = [];
  for (let at = 0; at < result.length; at += 32768) parts.push(String.fromCharCode(...result.subarray(at, at + 32768)));
  return [core.isa(), btoa(parts.join(""))];
}"""


class Chromium:
    """A page whose requests are answered from the repository, the build and the files of a call."""

    def __init__(self, page: object) -> None:
        self.page = page
        self.files: dict[str, bytes] = {}
        page.route("**/*", self._answer)  # type: ignore[attr-defined]
        page.goto(f"{ORIGIN}/")  # type: ignore[attr-defined]

    def _answer(self, route: object) -> None:
        path = route.request.url.removeprefix(ORIGIN)  # type: ignore[attr-defined]
        kinds = {".js": "text/javascript", ".wasm": "application/wasm"}
        if path in self.files:
            body = self.files[path]
        elif path.startswith("/built/"):
            body = (FOLDER / path.removeprefix("/built/")).read_bytes()
        else:
            body = b"<!doctype html>" if path == "/" else (ROOT / path.lstrip("/")).read_bytes()
        route.fulfill(body=body, content_type=kinds.get(Path(path).suffix, "text/html"))  # type: ignore[attr-defined]

    def call(self, isa: str, what: str, files: list[bytes], arguments: tuple[int, ...] = ()) -> bytes:
        import base64

        self.files = {f"/file{number}": content for number, content in enumerate(files)}
        words = [f"/built/{SETS[isa]}", isa, what, list(self.files), list(arguments)]
        isa_in_use, text = self.page.evaluate(CALL, words)  # type: ignore[attr-defined]
        assert isa_in_use == isa
        return base64.b64decode(text)


def browser_program() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Debian's Chromium by Playwright; skips with a sentence where either is missing."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: no browser was tested."
    )
    program = browser_program()
    if program is None:
        pytest.skip("Chromium is not installed: no browser was tested.")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield Chromium(browser.new_page())
        browser.close()
