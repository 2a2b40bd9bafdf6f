"""Bi-Real-18 on the page: twenty files of a class and single pictures, with Python's hash and answers.

How long it took is told, not asserted.
"""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import Page, chromium, needs_page, served
from tests.page.clock import took

PICTURES, HELD_BACK = 20, 5


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
            page.name(name)
            place = f'input[aria-label="Add files: {name}"]'
            learned.append(took(page.own, place, "hash", "", partial(page.own.set_input_files, place, files)))
            rows = rows[np.arange(PICTURES) % HELD_BACK != HELD_BACK - 1]
            learner.learn(data.train_images[rows], [name] * len(rows))
            assert page.hash == learner.state_hash()

        page.own.click("[data-source=picture]")
        tested = data.test_images[::45]
        for image in tested:
            Image.fromarray(image).save(tmp_path / "one.png")
            show = partial(page.own.set_input_files, "#file", str(tmp_path / "one.png"))
            answered.append(took(page.own, "#file", "answers", "shown", show))
            found.append(page.answered(lambda: None))
        assert found == list(learner.predict(tested))
        assert page.errors == []
    first, *later = learned
    twenty = f"20 files learned in {min(later) / 1e3:.2f} s (the first class in {first / 1e3:.2f} s)"
    one = f"a picture answered in {median(answered):.0f} ms, at most {max(answered):.0f} ms"
    record_property("figure", f"bireal18: {twenty}, {one}")
