"""Bi-Real-18 on the page: twenty files of a class and single pictures, with Python's hash and answers.

How long it took is told, not asserted.
"""

from __future__ import annotations

from statistics import median

import numpy as np
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import Page, chromium, needs_page, served

PICTURES, HELD_BACK = 20, 5
# From the moment that files are given to the one that a condition holds, in milliseconds.
CLOCK = """([selector, place, name]) => {
  const now = () => (name ? document.getElementById(place).dataset[name] : document.getElementById(place).textContent);
  const before = now();
  window.took = new Promise((done) =>
    document.querySelector(selector).addEventListener("change", () => {
      const start = performance.now();
      const look = () => (now() !== before ? done(performance.now() - start) : setTimeout(look, 2));
      look();
    }, { capture: true, once: true }));
}"""


@needs_page
def test_twenty_pictures_of_a_class(tmp_path, record_property):
    data = groceries()
    names = ["Orange", "Watermelon", "Granny-Smith"]
    learner = bitreplay.Learner.from_pretrained("bireal18", strategy="exact")
    with served() as address, chromium() as context:
        page = Page(context, address)
        page.own.select_option("#model", "bireal18")
        page.own.wait_for_function("() => localStorage.getItem('model') === 'bireal18'")
        learned, answered, found = [], [], []
        for name in names:
            rows = np.flatnonzero(data.train_labels == data.class_names.index(name))[:PICTURES]
            files = [str(tmp_path / f"{row}.png") for row in rows]
            for file, row in zip(files, rows, strict=True):
                Image.fromarray(data.train_images[row]).save(file)
            page.own.fill("#name", name)
            page.own.keyboard.press("Enter")
            place = f'input[aria-label="Add files: {name}"]'
            page.own.evaluate(CLOCK, [place, "hash", ""])
            page.own.set_input_files(place, files)
            learned.append(page.own.evaluate("window.took"))
            rows = rows[np.arange(PICTURES) % HELD_BACK != HELD_BACK - 1]
            learner.learn(data.train_images[rows], [name] * len(rows))
            assert page.hash == learner.state_hash()

        page.own.click("[data-source=picture]")
        tested = data.test_images[::45]
        for image in tested:
            Image.fromarray(image).save(tmp_path / "one.png")
            page.own.evaluate(CLOCK, ["#file", "answers", "shown"])
            found.append(page.answered(lambda: page.own.set_input_files("#file", str(tmp_path / "one.png"))))
            answered.append(page.own.evaluate("window.took"))
        assert found == list(learner.predict(tested))
        assert page.errors == []
    first, *later = learned
    twenty = f"20 files learned in {min(later) / 1e3:.2f} s (the first class in {first / 1e3:.2f} s)"
    one = f"a picture answered in {median(answered):.0f} ms, at most {max(answered):.0f} ms"
    record_property("figure", f"bireal18: {twenty}, {one}")
