"""Pictures unlike all that was taught: the page says so where Python does, with the same share."""

from __future__ import annotations

import numpy as np
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import Page, chromium, needs_page, served


@needs_page
def test_what_was_never_taught_is_unknown(tmp_path):
    data = groceries()
    taught = ("Orange", "Watermelon", "Granny Smith", "Red Delicious")
    labels = [data.class_names.index(name.replace(" ", "-")) for name in taught]
    fruit = data.test_images[np.isin(data.test_labels, labels)][::10]
    others = data.test_images[~np.isin(data.test_labels, labels)][::40]
    noise = np.random.default_rng(0).integers(0, 256, (4, 64, 64, 3), np.uint8)
    stripes = np.where(np.arange(64)[:, None, None] % 8 < 4, 0, 255).astype(np.uint8) + np.zeros((64, 64, 3), np.uint8)
    with served() as address, chromium(accept_downloads=True) as context:
        page = Page(context, address)
        for name in taught:
            page.teach(name)
        with page.own.expect_download() as download:
            page.own.click("#download")
        download.value.save_as(tmp_path / "page.state")
        learner = bitreplay.Learner.load(tmp_path / "page.state")

        page.own.click("[data-source=picture]")
        found, right = [], []
        for image in [*fruit, *others, *noise, stripes]:
            Image.fromarray(image).save(tmp_path / "one.png")
            likely = page.answered(lambda: page.own.set_input_files("#file", str(tmp_path / "one.png")))
            page.own.wait_for_function("() => Number(document.getElementById('answers').dataset.share) > 0")
            unknown = page.own.locator("#answers.unknown strong").count() == 1
            share = float(page.own.locator("#answers").get_attribute("data-share"))
            assert page.own.locator(".answer").count() == 3
            found.append(None if unknown else likely)
            right.append(learner.predict(image[None], unknown=share).tolist()[0])
        assert found == right
        assert found[-5:] == [None] * 5 and found[: len(fruit)].count(None) < len(fruit) // 2
        assert page.errors == []
