"""The page in WebKitGTK: two classes from files, an answer, and what is left after a reload, with Python's hash."""

from __future__ import annotations

import numpy as np
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import SLOW, needs_page, served
from tests.page.webkit import WebKit, webkit

READY = "document.documentElement?.dataset.ready"
HASH = "document.getElementById('hash').textContent"
PICTURES, HELD_BACK = 10, 5


def teach(browser: WebKit, name: str, files: list[str]) -> str:
    browser.write(".planned input:not([type=file])", name)
    before = browser.run(f"return {HASH}")
    browser.write(f'input[aria-label="Add files: {name}"]', "\n".join(files))
    browser.wait(f"{HASH} !== arguments[0]", before)
    return str(browser.run(f"return {HASH}"))


@needs_page
def test_webkit_learns_from_files_what_python_learns(tmp_path, record_property):
    data = groceries()
    names = ["Orange", "Watermelon"]
    learner = bitreplay.Learner.from_pretrained("efficientnet_tiny", strategy="exact")
    with served() as address, webkit(tmp_path) as browser:
        browser.go(address)
        browser.run(SLOW)
        browser.go(address)
        browser.wait(READY)
        browser.click("#more")
        for name in names:
            rows = np.flatnonzero(data.train_labels == data.class_names.index(name))[:PICTURES]
            files = [tmp_path / f"{name}-{row}.png" for row in rows]
            for file, row in zip(files, rows, strict=True):
                Image.fromarray(data.train_images[row]).save(file)
            found = teach(browser, name, [str(file) for file in files])
            learned = [row for k, row in enumerate(rows) if k % HELD_BACK != HELD_BACK - 1]
            learner.learn(data.train_images[learned], [name] * len(learned))
            assert found == learner.state_hash()

        browser.click("[data-source=picture]")
        tested = [np.flatnonzero(data.test_labels == data.class_names.index(name))[0] for name in names]
        answers = []
        for shown, row in enumerate(tested, start=1):
            Image.fromarray(data.test_images[row]).save(tmp_path / "one.png")
            browser.write("#file", str(tmp_path / "one.png"))
            browser.wait("document.getElementById('answers').dataset.shown === arguments[0]", f"{shown} {found}")
            answer = browser.run("return document.querySelector('.answer span').textContent")
            answers.append(answer.removeprefix("Not sure: "))
        assert answers == list(learner.predict(data.test_images[tested]))
        path = browser.run("return document.getElementById('bars').innerText")
        offline = not browser.run("return document.getElementById('offline').hidden")

        browser.go(address)
        browser.wait(READY)
        assert browser.run(f"return {HASH}") == found
        assert browser.run("return document.querySelectorAll('#classes h3').length") == len(names)
        version = browser.version
        browser.end()
    vectors = "without" if "without vectors" in path else "with"
    worker = "with" if offline else "without"
    figure = f"WebKitGTK {version}, {vectors} vectors, {worker} a service worker, ends in Python's hash"
    record_property("figure", figure)
