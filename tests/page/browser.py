"""The page of `make page` in a real Chromium: a server of its folder, a browser with a fake camera, and what both log.

`make test-page` makes the folder and sets BITREPLAY_PAGE to it; without it the tests skip.
"""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.wasm.engines import browser_program

FOLDER = Path(os.environ.get("BITREPLAY_PAGE", ""))
NODE_PACKAGES = Path(os.environ.get("BITREPLAY_NODE", ""))
needs_page = pytest.mark.skipif(
    "BITREPLAY_PAGE" not in os.environ, reason="The page is not there; `make test-page` makes it and runs this."
)
READY = "html[data-ready]"
PATIENCE = 120_000  # milliseconds: the machine may be busy
# As on a slow device, which keeps the small network: what a test learns shall not depend on how busy the machine is.
SLOW = "localStorage.getItem('speed') ?? localStorage.setItem('speed', '1000')"


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".webmanifest": "application/manifest+json",
    }

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(FOLDER)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    thread.join()


def camera_file(path: Path, image: np.ndarray) -> None:
    """A still picture as a video that Chromium takes for a camera: uncompressed YUV 4:2:0."""
    image = np.repeat(np.repeat(image, 5, axis=0), 5, axis=1).astype(np.float64)
    red, green, blue = (image[..., k] for k in range(3))
    y = 16 + 0.257 * red + 0.504 * green + 0.098 * blue
    u = 128 - 0.148 * red - 0.291 * green + 0.439 * blue
    v = 128 + 0.439 * red - 0.368 * green - 0.071 * blue
    planes = [y, u[::2, ::2], v[::2, ::2]]
    frame = b"FRAME\n" + b"".join(plane.round().astype(np.uint8).tobytes() for plane in planes)
    height, width = image.shape[:2]
    path.write_bytes(f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420\n".encode() + 10 * frame)


@contextmanager
def chromium(camera: Path | None = None, cameras: int = 1, **options: Any) -> Iterator[Any]:
    """A context of Debian's Chromium, its camera a file, or several that show a clock.

    Skips with a sentence where Chromium or Playwright is missing.
    """
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: the page was not tested."
    )
    program = browser_program()
    if program is None:
        pytest.skip("Chromium is not installed: the page was not tested.")
    words = ["--no-sandbox"]
    if camera or cameras > 1:
        devices = f"--use-fake-device-for-media-stream=device-count={cameras}"
        words += ["--use-fake-ui-for-media-stream", devices]
    if camera:
        words += [f"--use-file-for-fake-video-capture={camera}"]
    with playwright.sync_playwright() as own:
        browser = own.chromium.launch(executable_path=program, args=words)
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        context.set_default_timeout(PATIENCE)
        yield context
        browser.close()


class Page:
    """What a reader does on the page, and sees: the examples, with what is advanced open, unless `first_screen`."""

    def __init__(self, context: Any, address: str, first_screen: bool = False, slow: bool = True) -> None:
        self.first_screen = first_screen
        self.errors: list[str] = []
        self.requests: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))
        self.own = context.new_page()
        if slow:
            self.own.add_init_script(SLOW)
        self.own.on("pageerror", lambda error: self.errors.append(str(error)))
        self.own.on("console", lambda message: self.errors.extend([message.text] * (message.type == "error")))
        self.own.goto(address)
        self.ready()

    def ready(self) -> None:
        self.shown = 0
        self.own.wait_for_selector(READY)
        if not self.first_screen:
            self.own.click("#more")
            self.own.click("[data-source=examples]")

    def reload(self) -> None:
        self.own.reload()
        self.ready()

    @property
    def hash(self) -> str:
        return self.own.text_content("#hash")

    def changed(self, before: str) -> str:
        self.own.wait_for_function("before => document.getElementById('hash').textContent !== before", arg=before)
        return self.hash

    def teach(self, fruit: str) -> str:
        before = self.hash
        self.own.click(f'#examples button:text-is("Teach {fruit}")')
        return self.changed(before)

    def answer_to(self, fruit: str) -> str:
        """What a picture of the fruit is taken for."""
        return self.answered(lambda: self.own.click(f'#examples [aria-label="Show {fruit}"]'))

    def answered(self, show: Callable[[], None]) -> str:
        """The first answer to a picture that `show` shows, by the state of now."""
        show()
        self.shown += 1
        words = f"{self.shown} {self.hash}"
        self.own.wait_for_function("words => document.getElementById('answers').dataset.shown === words", arg=words)
        return self.own.inner_text(".answer:first-of-type span:first-child").removeprefix("Not sure: ")

    def name(self, name: str) -> None:
        """A card of this name, which has no pictures yet: the first that has no name, or one more."""
        inputs = ".planned input:not([type=file])"
        empty = f"[...document.querySelectorAll('{inputs}')].findIndex((one) => !one.value)"
        if self.own.evaluate(empty) < 0:
            self.own.click("#add")
        self.own.locator(inputs).nth(self.own.evaluate(empty)).fill(name)

    def classes(self) -> list[str]:
        return self.own.locator("#classes h3").all_inner_texts()

    def card(self, name: str) -> Any:
        return self.own.locator(".class", has=self.own.locator(f'h3:text-is("{name}")'))

    def menu(self, name: str, item: str) -> str:
        before = self.hash
        card = self.card(name)
        card.locator("summary").click()
        card.locator(f'details button:text-is("{item}")').click()
        return self.changed(before)
