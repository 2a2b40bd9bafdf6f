"""The page in a real Chromium, from the first class to a state that Python opens."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import FOLDER, NODE_PACKAGES, Page, camera_file, chromium, needs_page, served

MAX_BYTES = 4_000_000
PICTURES = Path(os.environ.get("BITREPLAY_SCREENSHOTS", ""))
TAKEN = "() => [...document.querySelectorAll('.hold')].some(b => /[{}-9] pictures/.test(b.textContent))"

pytestmark = needs_page


def screenshot(page: Page, name: str) -> None:
    if "BITREPLAY_SCREENSHOTS" in os.environ:
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.own.screenshot(path=str(PICTURES / name), full_page=True)


def test_a_life_on_the_page(tmp_path):
    data = groceries()
    with served() as address, chromium(accept_downloads=True) as context:
        page = Page(context, address)
        assert all(url.startswith(address) for url in page.requests if not url.startswith("blob:"))
        page.requests.clear()

        page.teach("Orange")
        page.teach("Watermelon")
        two = [page.answer_to("Orange"), page.answer_to("Watermelon")]
        page.teach("Granny Smith")
        four = page.teach("Red Delicious")
        assert two == ["Orange", "Watermelon"] == [page.answer_to("Orange"), page.answer_to("Watermelon")]
        assert page.classes() == ["Orange", "Watermelon", "Granny Smith", "Red Delicious"], "as they were taught"
        assert page.own.locator("td.right button:enabled").count() == 4
        screenshot(page, "page.png")

        three = page.menu("Orange", "Forget")
        assert "Orange" not in page.classes()
        page.own.click("#undo")
        assert page.changed(three) == four
        assert page.classes() == ["Orange", "Watermelon", "Granny Smith", "Red Delicious"]
        later = [url for url in page.requests if not url.startswith("blob:")]
        assert later == [], "the page asked for something after it was loaded"

        page.reload()
        assert page.hash == four
        assert page.classes() == ["Orange", "Watermelon", "Granny Smith", "Red Delicious"], "where they were put"
        context.set_offline(True)
        page.reload()
        assert page.hash == four and page.answer_to("Orange") == "Orange"
        context.set_offline(False)

        with page.own.expect_download() as download:
            page.own.click("#download")
        download.value.save_as(tmp_path / "page.state")
        learner = bitreplay.Learner.load(tmp_path / "page.state")
        assert learner.state_hash() == four

        page.own.click("[data-source=picture]")
        found = []
        for k in range(0, len(data.test_images), 110):
            Image.fromarray(data.test_images[k]).save(tmp_path / "one.png")
            found.append(page.answered(lambda: page.own.set_input_files("#file", str(tmp_path / "one.png"))))
        assert found == list(learner.predict(data.test_images[::110]))

        other = bitreplay.Learner.from_pretrained("efficientnet_tiny", strategy="exact")
        chosen = np.flatnonzero(data.train_labels < 2)[::5]
        other.learn(data.train_images[chosen], [data.class_names[c] for c in data.train_labels[chosen]])
        other.save(tmp_path / "other.state")
        page.own.set_input_files("#open", str(tmp_path / "other.state"))
        assert page.changed(four) == other.state_hash()
        page.own.set_input_files("#merge", str(tmp_path / "page.state"))
        merged = page.changed(other.state_hash())
        other.merge(learner)
        assert merged == other.state_hash()
        assert page.errors == []


def test_classes_are_renamed_merged_and_lose_a_picture():
    with served() as address, chromium() as context:
        page = Page(context, address)
        page.own.on("dialog", lambda dialog: dialog.accept("melon"))
        page.teach("Orange")
        first = page.teach("Watermelon")
        renamed = page.menu("Watermelon", "Rename")
        assert page.classes() == ["Orange", "melon"]
        page.own.click('[aria-label="+22 All pictures of melon"]')
        page.own.click('#dialog [aria-label="Forget picture 1 of melon"]')
        page.changed(renamed)
        page.own.click("#close")
        assert page.card("melon").locator(".facts span").all_inner_texts() == ["24 pictures", "5 held back"]
        before = page.hash
        card = page.card("melon")
        card.locator("summary").click()
        card.locator("select").select_option("Orange")
        page.changed(before)
        assert page.classes() == ["Orange"]
        for _ in range(3):
            before = page.hash
            page.own.click("#undo")
            page.changed(before)
        assert page.hash == first and page.classes() == ["Orange", "Watermelon"]
        assert page.errors == []


def test_a_camera_teaches_by_pointer_and_by_keyboard(tmp_path):
    camera_file(tmp_path / "camera.y4m", groceries().train_images[200])
    with served() as address, chromium(tmp_path / "camera.y4m", permissions=["camera"]) as context:
        page = Page(context, address)
        page.teach("Watermelon")
        page.own.click("[data-source=camera]")
        page.own.wait_for_function("() => document.getElementById('video').readyState >= 2")
        page.name("mine")
        hold = page.own.locator('[aria-label="Hold to record: mine"]')
        before = page.hash
        hold.hover()
        page.own.mouse.down()
        page.own.wait_for_function(TAKEN.format(3))
        page.own.mouse.up()
        before = page.changed(before)
        assert int(page.card("mine").locator(".facts span").first.inner_text().split()[0]) >= 3
        hold.focus()
        page.own.keyboard.down("Space")
        page.own.wait_for_function(TAKEN.format(2))
        page.own.keyboard.up("Space")
        page.changed(before)
        page.own.wait_for_selector('.answer:first-of-type span:text-is("mine")')
        screenshot(page, "camera.png")
        assert page.errors == []


def without_vectors(route) -> None:
    source = (FOLDER / "bitreplay" / "core.js").read_text()
    changed = source.replace("WebAssembly.validate(SIMD_MODULE)", "false")
    assert changed != source
    route.fulfill(body=changed, content_type="text/javascript")


def test_plain_wasm_ends_in_the_same_state():
    """A browser without vectors: here one that is told it has none."""
    hashes = {}
    for vectors in (True, False):
        with served() as address, chromium(service_workers="block") as context:
            if not vectors:
                context.route("**/core.js", without_vectors)
            page = Page(context, address)
            page.teach("Orange")
            hashes[vectors] = page.teach("Conference")
            name = "bitreplay.wasm" if vectors else "bitreplay-plain.wasm"
            assert [url for url in page.requests if url.endswith(".wasm")] == [address + name]
    assert hashes[True] == hashes[False]


def violations(page: Page, script: Path) -> list[tuple[str, list[str]]]:
    """What axe-core finds wrong, of any impact."""
    page.own.evaluate(script.read_text() + "; null")
    found = page.own.evaluate("axe.run()")
    assert len(found["passes"]) > 15
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]]


def test_the_first_screen_is_accessible(tmp_path):
    script = NODE_PACKAGES / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed.")
    camera_file(tmp_path / "camera.y4m", groceries().train_images[200])
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "bypass_csp": True, "service_workers": "block"}
    for scheme in ("light", "dark"):
        with served() as address, chromium(color_scheme=scheme, **phone) as context:
            page = Page(context, address, first_screen=True)
            assert violations(page, script) == []
            page.own.click("[data-source=picture]")
            assert violations(page, script) == []
            page.own.click("#share")
            assert page.own.evaluate("document.getElementById('sharing').scrollWidth") <= phone["viewport"]["width"]
            assert violations(page, script) == []
            page.own.click("#close-sharing")
            page.own.evaluate("document.getElementById('linked').showModal()")
            assert violations(page, script) == []
        with served() as address, chromium(tmp_path / "camera.y4m", color_scheme=scheme, **phone) as context:
            page = Page(context, address, first_screen=True)
            page.own.wait_for_selector("#video:visible")  # allowed before: it starts by itself
            assert violations(page, script) == []


def test_everything_can_be_reached_and_fits_a_phone():
    with served() as address, chromium(bypass_csp=True, service_workers="block") as context:
        page = Page(context, address)
        page.teach("Orange")
        page.teach("Watermelon")
        script = NODE_PACKAGES / "axe-core" / "axe.min.js"
        for scheme in ("light", "dark"):
            page.own.emulate_media(color_scheme=scheme)
            for width, height in ((1440, 900), (768, 1024), (390, 844), (360, 640)):
                page.own.set_viewport_size({"width": width, "height": height})
                assert page.own.evaluate("document.documentElement.scrollWidth") <= width
                if script.exists():
                    assert violations(page, script) == []
        assert page.own.evaluate("[...document.querySelectorAll('button, input, select')].every(e => e.tabIndex >= 0)")
        seen = set()
        page.own.evaluate("document.activeElement.blur()")
        for _ in range(60):
            page.own.keyboard.press("Tab")
            seen.add(page.own.evaluate("(document.activeElement.id || document.activeElement.textContent).trim()"))
        assert {
            "model",
            "more",
            "add",
            "Examples",
            "Teach Orange",
            "Hold to record",
            "download",
            "open",
            "undo",
        } <= seen
        if not script.exists():
            pytest.skip("axe-core is not installed: the rest was tested.")


def test_the_page_is_small_and_its_types_fit():
    models = sorted(path.stat().st_size for path in FOLDER.glob("*.model"))
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) - sum(models[1:])
    assert size < MAX_BYTES
    compiler, node = NODE_PACKAGES / "typescript" / "bin" / "tsc", shutil.which("node")
    if not compiler.exists() or node is None:
        pytest.skip("TypeScript is not installed: the types were not checked.")
    project = str(Path(__file__).with_name("tsconfig.json"))
    done = subprocess.run([node, str(compiler), "-p", project], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_small_things_that_a_visitor_expects():
    """A class without pictures goes again, a still picture is taken once, a menu closes, the last change is told."""
    with served() as address, chromium() as context:
        page = Page(context, address)
        page.name("mug")
        page.own.click('[aria-label="Hold to record: mug"]')
        page.own.wait_for_selector("#status:text('no picture yet')")
        assert page.own.locator(".planned").count() == 2 and not page.own.locator(".remove").first.is_visible()
        page.own.click("#add")
        page.own.click('[aria-label="Remove: mug"]')
        assert page.own.locator(".planned").count() == 2 and page.classes() == []

        page.teach("Orange")
        page.own.click('#examples [aria-label="Show Watermelon"]')
        page.own.wait_for_selector("#shown:visible")
        page.name("melon")
        before = page.hash
        hold = page.own.locator('[aria-label="Hold to record: melon"]')
        hold.hover()
        page.own.mouse.down()
        page.changed(before)
        page.own.mouse.up()
        assert page.card("melon").locator(".facts span").first.inner_text() == "1 picture"
        assert page.own.get_attribute("#undo", "title") == "1 picture of melon learned"

        page.card("Orange").locator("summary").click()
        assert page.card("Orange").locator("details[open]").count() == 1
        page.own.click("h1")
        assert page.card("Orange").locator("details[open]").count() == 0

        page.own.locator("td.right button:enabled").first.click()
        assert page.own.inner_text("#dialog-title") == "5 pictures of Orange taken for Orange"
        assert page.own.locator("#dialog-pictures li").count() == 5
        page.own.keyboard.press("Escape")
        assert not page.own.locator("#dialog").is_visible()
        assert page.errors == []


def test_one_camera_after_another():
    with served() as address, chromium(cameras=2, permissions=["camera"]) as context:
        page = Page(context, address)
        page.own.click("[data-source=camera]")
        page.own.wait_for_selector("#turn:visible")
        camera = "document.getElementById('video').srcObject?.getVideoTracks()[0].getSettings().deviceId"
        first = page.own.evaluate(camera)
        page.own.click("#turn")
        page.own.wait_for_function(f"first => {camera} && {camera} !== first", arg=first)
        assert page.errors == []
