"""A newcomer with a phone: two things told apart in ten taps, without scrolling; a network that suits the device."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import numpy as np
import pytest

from bitreplay.data.groceries import groceries
from tests.page.browser import FOLDER, Page, chromium, needs_page, served

pytestmark = needs_page

PHONE = {"width": 390, "height": 844}
MAX_TAPS = 10
FRUITS = ("Orange", "Watermelon")
# A camera whose picture the test chooses: a canvas as a stream.
CAMERA = """
window.things = %s;
window.shown = 0;
navigator.mediaDevices.getUserMedia = async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
  const context = canvas.getContext("2d");
  setInterval(() => {
    const pixels = new Uint8ClampedArray(window.things[window.shown]);
    context.putImageData(new ImageData(pixels, 64, 64), 0, 0);
  }, 50);
  return canvas.captureStream();
};
"""
IN_SIGHT = """(names) => names.every((name) => {
  const all = [...document.querySelectorAll(name)];
  return all.length && all.every((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && one.contains(seen);
  });
})"""


def things() -> list[list[int]]:
    data = groceries()
    rows = [np.flatnonzero(data.train_labels == data.class_names.index(name))[0] for name in FRUITS]
    opaque = np.full((64, 64, 1), 255, np.uint8)
    return [np.concatenate([data.train_images[row], opaque], axis=2).reshape(-1).tolist() for row in rows]


class Finger:
    def __init__(self, page: Any) -> None:
        self.page, self.taps = page, 0

    def tap(self, selector: str) -> None:
        self.taps += 1
        self.page.click(selector)

    def hold(self, name: str, pictures: int) -> None:
        self.taps += 1
        button = self.page.locator(f'[aria-label="Hold to record: {name}"]')
        box = button.bounding_box()
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.down()
        self.page.wait_for_function(
            "n => [...document.querySelectorAll('.hold')].some((one) => parseInt(one.textContent) >= n)", arg=pictures
        )
        self.page.mouse.up()


def test_two_things_are_told_apart_in_ten_taps_without_scrolling(record_property):
    with served() as address, chromium(viewport=PHONE, has_touch=True) as context:
        context.add_init_script(CAMERA % json.dumps(things()))
        page = Page(context, address, first_screen=True)
        own, finger = page.own, Finger(page.own)
        assert own.evaluate(IN_SIGHT, ["#start", "#try-examples", ".hold", "#try-title"])
        assert own.evaluate("document.querySelectorAll('#mosaic img').length") >= 8, "the first screen has pictures"
        first = own.inner_text("body").lower()
        assert [word for word in ("exact", "replay", "hash", "efficientnet_tiny", "strategy") if word in first] == [
            "replay"
        ]
        assert first.count("replay") == first.count("bitreplay"), "the name alone has it"

        start = time.monotonic()
        finger.tap("#start")
        own.wait_for_selector("#video:visible")
        for number in range(len(FRUITS)):
            own.evaluate("k => { window.shown = k; }", number)
            own.wait_for_timeout(300)  # the camera shows it
            before = page.hash
            finger.hold(f"Class {number + 1}", 3)
            page.changed(before)
        for number in (0, 1, 0):
            own.evaluate("k => { window.shown = k; }", number)
            own.wait_for_function(
                "name => document.querySelector('.answer span')?.textContent === name", arg=f"Class {number + 1}"
            )
        seconds = time.monotonic() - start
        assert finger.taps <= MAX_TAPS and own.evaluate("scrollY") == 0
        assert own.evaluate(IN_SIGHT, ["#video", ".hold", ".answer:first-of-type"])
        assert own.inner_text("#learned-head") == "It has learned already"
        assert page.errors == []
    record_property("figure", f"two things told apart in {finger.taps} taps and {seconds:.0f} s")


def test_the_class_that_was_taught_is_in_sight_and_stays_where_it_was_put():
    with served() as address, chromium(viewport=PHONE, has_touch=True) as context:
        context.add_init_script(CAMERA % json.dumps(things()))
        page = Page(context, address, first_screen=True)
        page.own.click("#start")
        page.own.wait_for_selector("#video:visible")
        names = ["zebra", "apple", "مِلعقة", "kiwi", "banana"]
        for name in names:
            page.name(name)
            page.own.locator(f'[aria-label="Hold to record: {name}"]').scroll_into_view_if_needed()
            before = page.hash
            Finger(page.own).hold(name, 1)
            page.changed(before)
            card = f"li:has([aria-label='Hold to record: {name}']) h3"
            assert page.own.evaluate(IN_SIGHT, [card, "#video"]), name
        assert page.classes() == names
        for _ in range(2):
            assert page.own.evaluate("getComputedStyle([...document.querySelectorAll('h3')][2]).direction") == "rtl"
            page.reload()
            assert page.classes() == names
        assert page.errors == []


@pytest.mark.parametrize("milliseconds", [None, 2, 50])
def test_the_network_is_the_one_that_suits_the_device(milliseconds, record_property):
    """As measured here, and as on a quicker and on a slower device."""
    with served() as address, chromium(service_workers="block") as context:
        if milliseconds is not None:
            source = (FOLDER / "worker.js").read_text()
            changed = source.replace("return least;", f"return {milliseconds};")
            assert changed != source
            context.route("**/worker.js", lambda route: route.fulfill(body=changed, content_type="text/javascript"))
        page = Page(context, address, first_screen=True, slow=False)
        measured = float(page.own.evaluate("localStorage.getItem('speed')"))
        network = page.own.input_value("#model")
        assert network == ("efficientnet_lite0" if measured <= 10 else "efficientnet_tiny")
        said = page.own.text_content("#speed")
        assert said.startswith("This device is quick" if measured <= 10 else "This device is not quick")
        page.own.click("#more")
        page.own.click("[data-source=examples]")
        page.teach("Orange")
        page.teach("Watermelon")
        assert page.answer_to("Orange") == "Orange"
        page.own.wait_for_selector("#bars >> text=to answer")
        answered = re.search(r"[\d.]+ ms to answer", page.own.inner_text("#bars"))
        assert page.errors == []
    record_property("figure", f"{measured:.1f} ms a picture: {network}, {answered and answered[0]}")
