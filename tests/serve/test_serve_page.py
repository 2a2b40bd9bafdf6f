"""The served page in a real Chromium: one browser teaches, another one sees it; all is there after a restart."""

from __future__ import annotations

import functools
import http.server
import io
import json
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner
from bitreplay.page.examples import examples
from bitreplay.serve.keys import Keys
from tests.page.browser import PATIENCE, Handler, Page, chromium
from tests.serve.serving import process, served

ROOT = Path(__file__).resolve().parents[2]
MODEL = "react_tiny"


def photographs(fruit: str, kind: str = "learn") -> list[np.ndarray]:
    found = examples()
    (row,) = [row for row in json.loads(found["examples.json"]) if row["name"] == fruit]
    content = found["examples.bin"]
    return [np.asarray(Image.open(io.BytesIO(content[a:b])).convert("RGB")) for a, b in row[kind]]


def see(page: Page, *names: str) -> None:
    page.own.wait_for_function(
        "names => [...document.querySelectorAll('#classes h3')].map(e => e.textContent).sort().join() === names",
        arg=",".join(sorted(names)),
    )


def only_to(page: Page, address: str) -> None:
    assert {url for url in page.requests if not url.startswith((address, "blob:"))} == set()


def test_one_teaches_and_all_see_and_a_restart_loses_nothing(tmp_path):
    state = tmp_path / "a.state"
    own = Learner.from_pretrained(MODEL)
    with process(state, "--model", MODEL) as (server, client), chromium() as one:
        two = one.browser.new_context(viewport={"width": 390, "height": 800})
        two.set_default_timeout(PATIENCE)
        address = f"http://localhost:{client.port}/"
        first, second = Page(one, address), Page(two, address)
        for fruit in ("Orange", "Conference"):
            first.teach(fruit)
            own.learn([shown for k, shown in enumerate(photographs(fruit)) if k % 5 != 4], fruit)
        see(second, "Orange", "Conference")
        assert first.hash == second.hash == client.now()["hash"]
        for fruit in ("Orange", "Conference"):
            assert second.answer_to(fruit) == fruit
        assert second.card("Orange").locator(".facts span").all_inner_texts() == ["25 pictures", "5 held back"]

        second.teach("Watermelon")
        see(first, "Orange", "Conference", "Watermelon")
        first.menu("Orange", "Forget")
        see(second, "Conference", "Watermelon")
        second.own.click("#undo")
        see(first, "Orange", "Conference", "Watermelon")
        second.own.click("#undo")
        see(first, "Orange", "Conference")
        before = first.hash
        assert before == own.state_hash(), "the browser's pixels are not those that Python reads"

        server.terminate()
        server.wait(30)
        with process(state, "--port", str(client.port)) as (_, again):
            first.own.wait_for_function(
                "() => document.getElementById('undo').disabled"
            )  # it has looked again by itself
            assert first.hash == before and first.answer_to("Orange") == "Orange"
            second.errors.clear()
            second.reload()
            see(second, "Orange", "Conference")
            assert second.hash == before == again.now()["hash"]
            assert second.answer_to("Conference") == "Conference"
            assert second.errors == []
            with second.own.expect_download() as download:
                second.own.click("#download")
            assert Learner.load(download.value.path(), MODEL).state_hash() == before
            second.own.click("#share")
            assert second.own.is_enabled("#share-file") and not second.own.is_visible("#copy-link")
            titles = second.own.locator("#elsewhere .row span").all_inner_texts()
            assert [title.partition(":")[0] for title in titles] == ["In a terminal", "In Python", "On a board"]
            second.own.click("#close-sharing")
            images = second.own.locator("#classes img")
            assert images.first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 96
        for page in (first, second):
            only_to(page, address)


def test_a_link_lets_another_browser_in(tmp_path):
    """Without a cookie the page says what is missing; with the link's cookie, which no script can read, it works, and
    makes links for others. Chromium takes every name that ends in localhost for this machine."""
    keys = Keys("the-token-of-a-test-that-is-long")
    learner = Learner.from_pretrained(MODEL)
    with served(tmp_path / "a.state", learner, keys=keys, names=("scale.localhost",)) as client, chromium() as context:
        address = f"http://scale.localhost:{client.port}/"
        assert context.new_page().goto(address.replace("scale", "other")).status == 403
        stranger = context.new_page()
        stranger.goto(address)
        stranger.wait_for_function("() => document.getElementById('status').textContent.includes('link')")
        page = Page(context, f"{address}enter?key={keys.link()}")
        assert page.own.url == address
        page.teach("Orange")
        assert page.classes() == ["Orange"] and page.errors == []
        (cookie,) = context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["value"] == keys.cookie
        assert page.own.evaluate("document.cookie") == ""
        page.own.click('button:text-is("Link for another browser")')
        page.own.wait_for_function("() => document.getElementById('kept').textContent.includes('enter?key=')")
        link = page.own.inner_text("#kept").split()[-1]
        other = context.browser.new_context()
        other.set_default_timeout(PATIENCE)
        assert Page(other, link).classes() == ["Orange"]
        assert other.new_page().goto(link).status == 401


def test_the_page_without_a_server_gives_way_to_the_served_one(tmp_path):
    """At one address first a folder, kept by its service worker, then a device: the browser shows the device's."""
    folder = tmp_path / "page"
    shutil.copytree(ROOT / "page", folder)
    (folder / "models.json").write_text("[]")
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with chromium() as context:
        address = f"http://localhost:{server.server_port}/"
        page = context.new_page()
        page.goto(address)
        page.evaluate(
            "navigator.serviceWorker.register('offline.js').then(() => navigator.serviceWorker.ready).then(() => 1)"
        )
        page.goto(address)
        page.evaluate("fetch('models.json').then((found) => found.text())")
        assert page.evaluate("caches.keys()") == ["development"]
        server.shutdown()
        server.server_close()
        thread.join()
        page.goto(address)  # kept: there is no server
        with process(tmp_path / "a.state", "--model", MODEL, "--port", str(server.server_port)):
            page.goto(address)
            page.wait_for_function("() => document.documentElement.dataset.ready")
            assert "device" in page.inner_text("#kept")
            assert page.evaluate("caches.keys()") == []


def test_a_picture_is_sent_as_it_is(tmp_path):
    """page/bmp.js in Node: RGB and RGBA, rows of every remainder by four; Pillow reads the same pixels."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: page/bmp.js was not run.")
    rng = np.random.default_rng(5)
    images = [rng.integers(0, 256, (3 + width, width, 3 + width % 2), np.uint8) for width in range(1, 10)]
    (tmp_path / "cases.json").write_text(
        json.dumps([{"data": one.ravel().tolist(), "width": one.shape[1], "height": one.shape[0]} for one in images])
    )
    (tmp_path / "program.mjs").write_text(
        f"import {{ bmp }} from {json.dumps((ROOT / 'page' / 'bmp.js').as_uri())};"
        "import fs from 'node:fs';"
        "const cases = JSON.parse(fs.readFileSync('cases.json'));"
        "fs.writeFileSync('found.json', JSON.stringify(cases.map((one) => [...bmp(one)])));"
    )
    subprocess.run([node, "program.mjs"], check=True, cwd=tmp_path)
    for image, found in zip(images, json.loads((tmp_path / "found.json").read_text()), strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(bytes(found)))), image[..., :3])
