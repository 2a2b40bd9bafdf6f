"""A thousand pictures: the page answers while they are learned, keeps them all, and goes on working."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import Page, chromium, needs_page, served

MANY, FEW, HELD_BACK = 500, 5, 5
# Another picture four times a second; how many answers were drawn meanwhile, and how often the page had a turn.
WATCH = """() => {
  const show = document.querySelector('[aria-label="Show Orange"]');
  window.answers = window.turns = 0;
  setInterval(() => (window.turns++, show.click()), 250);
  const place = document.getElementById("answers");
  const count = () => place.querySelector(".answer") && window.answers++;
  new MutationObserver(count).observe(place, { childList: true });
}"""


def files_of(folder: Path, images: np.ndarray, name: str) -> list[str]:
    paths = [folder / f"{name}-{k}.png" for k in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image).save(path)
    return [str(path) for path in paths]


@needs_page
def test_a_thousand_pictures(tmp_path, record_property):
    data = groceries()
    images = data.train_images
    classes = {"few": images[:FEW], "other": images[-FEW:], "first": images[:MANY], "second": images[-MANY:]}
    learner = bitreplay.Learner.from_pretrained("efficientnet_tiny", strategy="exact")
    with served() as address, chromium() as context:
        page = Page(context, address)
        for name, images in classes.items():
            if name == "first":
                page.own.evaluate(WATCH)
            page.name(name)
            before = page.hash
            page.own.set_input_files(f'input[aria-label="Add files: {name}"]', files_of(tmp_path, images, name))
            page.changed(before)
            learned = images[np.arange(len(images)) % HELD_BACK != HELD_BACK - 1]
            learner.learn(learned, [name] * len(learned))
        answers, turns = page.own.evaluate("[window.answers, window.turns]")
        assert page.hash == learner.state_hash()
        assert answers > 3, "no answers while it learned"

        page.reload()
        assert page.hash == learner.state_hash()
        for name in ("first", "second"):
            assert page.card(name).locator(".facts span").all_inner_texts() == ["500 pictures", "100 held back"]
        page.card("first").locator(".pictures button").click()
        assert page.own.locator("#dialog-pictures li").count() == MANY
        before = page.hash
        page.own.click('#dialog [aria-label="Forget picture 1 of first"]')
        page.changed(before)
        page.own.click("#close")
        page.own.click("#undo")
        page.own.wait_for_function("h => document.getElementById('hash').textContent === h", arg=learner.state_hash())
        assert page.answer_to("Orange") in classes
        heap = page.own.evaluate("performance.memory.usedJSHeapSize") / 1e6
        assert page.errors == []
    figure = f"1,000 pictures: {answers} answers in {turns / 4:.0f} s of learning, {heap:.0f} MB of heap"
    record_property("figure", figure)
