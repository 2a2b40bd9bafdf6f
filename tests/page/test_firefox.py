"""The page in Firefox, by WebDriver BiDi: it learns, answers, and keeps what it learned, with Python's hash."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import SLOW, Page, chromium, needs_page, served
from tests.page.dropping import DROP, as_text

PATIENCE = 180.0  # seconds: the machine may be busy
TEACH = """(async () => {
  const ready = (test) => new Promise((done) => {
    const look = () => test() ? done() : setTimeout(look, 100);
    look();
  });
  const hash = () => document.getElementById("hash").textContent;
  await ready(() => document.documentElement.dataset.ready);
  for (const fruit of ["Orange", "Watermelon"]) {
    const before = hash();
    [...document.querySelectorAll("#examples button")].find((b) => b.textContent === `Teach ${fruit}`).click();
    await ready(() => hash() !== before);
  }
  document.querySelector('[aria-label="Show Orange"]').click();
  await ready(() => document.getElementById("answers").dataset.shown === `1 ${hash()}`);
  return JSON.stringify([hash(), document.querySelector(".answer span").textContent]);
})()"""
TEACH_FILES = """(async () => {
  const drop = %s;
  const hash = () => document.getElementById("hash").textContent;
  const before = hash();
  const name = document.querySelector(".planned input");
  name.value = "mine";
  name.dispatchEvent(new Event("input"));
  drop([".planned", "", %s]);
  await new Promise((done) => {
    const look = () => hash() !== before ? done() : setTimeout(look, 100);
    look();
  });
  return JSON.stringify(hash());
})()"""
FORGET = """(async () => {
  document.getElementById("clear").click();
  const look = (done) => document.querySelector("#classes h3") ? setTimeout(() => look(done), 100) : done();
  await new Promise(look);
  return JSON.stringify("");
})()"""
AGAIN = """(async () => {
  const look = (done) => document.documentElement?.dataset.ready ? done() : setTimeout(() => look(done), 100);
  await new Promise(look);
  return JSON.stringify(document.getElementById("hash").textContent);
})()"""


class Firefox:
    def __init__(self, connection: Any) -> None:
        self.connection, self.number = connection, 0
        self.ask("session.new", capabilities={})
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        self.number += 1
        self.connection.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            found = json.loads(self.connection.recv(timeout=PATIENCE))
            if found.get("id") == self.number:
                assert found["type"] == "success", found
                return found["result"]

    def go(self, address: str) -> None:
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def run(self, code: str) -> Any:
        target = {"context": self.context}
        found = self.ask("script.evaluate", expression=code, target=target, awaitPromise=True)
        return json.loads(found["result"]["value"])


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    why = "websockets is not installed: Firefox was not tested."
    client = pytest.importorskip("websockets.sync.client", reason=why)
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("Firefox is not installed: it was not tested.")
    words = [program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", str(folder)]
    log = folder.with_suffix(".log")
    with log.open("w") as out, subprocess.Popen(words, stdout=out, stderr=out) as process:
        try:
            end = time.monotonic() + PATIENCE
            while not (found := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text())):
                assert time.monotonic() < end and process.poll() is None, log.read_text()
                time.sleep(0.2)
            with client.connect(f"{found[1]}/session", max_size=None) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()


@needs_page
def test_firefox_ends_in_the_same_state(tmp_path, record_property):
    profile = tmp_path / "profile"
    profile.mkdir()
    with served() as address:
        with firefox(profile) as browser:
            browser.go(address)
            browser.run(f"({SLOW}, 'null')")
            browser.go(address)
            found, answer = browser.run(TEACH)
            assert answer.removeprefix("Not sure: ") == "Orange"
            browser.go(address)
            assert browser.run(AGAIN) == found
            browser.run(FORGET)
            images = groceries().train_images[:4]
            learner = bitreplay.Learner.from_pretrained("efficientnet_tiny", strategy="exact")
            learner.learn(images, ["mine"] * len(images))
            files = json.dumps([as_text(image) for image in images])
            assert browser.run(TEACH_FILES % (DROP, files)) == learner.state_hash()
        with chromium() as context:
            page = Page(context, address)
            page.teach("Orange")
            same = page.teach("Watermelon") == found
    record_property("figure", f"Firefox ends in {found[:16]}, Chromium in {'the same' if same else 'another'}")
