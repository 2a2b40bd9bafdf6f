"""The paper's strategy on the page: a bar while it learns, answers meanwhile, and Python's hash in the end."""

from __future__ import annotations

import numpy as np
from PIL import Image

import bitreplay
from bitreplay import statefile
from bitreplay.data.groceries import groceries
from tests.corpus.make_corpus import HERE as CORPUS
from tests.page.browser import Page, chromium, needs_page, served

PICTURES, HELD_BACK = 15, 5
# When the bar appears another picture is shown; whether it was answered, and seconds told, before the bar went.
WATCH = """() => {
  const bar = document.getElementById("progress");
  const answers = document.getElementById("answers");
  window.watched = { bars: 0, answers: 0, told: "" };
  new MutationObserver(() => {
    if (bar.hidden) return;
    window.watched.bars++;
    document.querySelector('[aria-label="Show Orange"]').click();
  }).observe(bar, { attributes: true, attributeFilter: ["hidden"] });
  new MutationObserver(() => {
    if (bar.hidden) return;
    window.watched.answers++;
    window.watched.told = document.getElementById("progress-text").textContent;
  }).observe(answers, { childList: true });
}"""


@needs_page
def test_replay_learns_in_steps_and_answers_meanwhile(tmp_path):
    data = groceries()
    learner = bitreplay.Learner.from_pretrained("react_tiny", strategy="replay")
    with served() as address, chromium(accept_downloads=True) as context:
        page = Page(context, address)
        page.own.select_option("#model", "react_tiny")
        page.own.wait_for_function("() => localStorage.getItem('model') === 'react_tiny'")
        exact = page.teach("Orange")
        page.own.select_option("#strategy", "replay")
        page.own.wait_for_function("() => localStorage.getItem('model') === 'react_tiny replay'")
        page.own.wait_for_function("() => !document.querySelector('#classes h3')")
        page.requests.clear()
        page.own.evaluate(WATCH)
        for name in ("Orange", "Watermelon", "Conference"):
            rows = np.flatnonzero(data.train_labels == data.class_names.index(name))[:PICTURES]
            files = [tmp_path / f"{name}-{row}.png" for row in rows]
            for file, row in zip(files, rows, strict=True):
                Image.fromarray(data.train_images[row]).save(file)
            page.name(name)
            before = page.hash
            page.own.set_input_files(f'input[aria-label="Add files: {name}"]', [str(file) for file in files])
            page.changed(before)
            learned = [row for k, row in enumerate(rows) if k % HELD_BACK != HELD_BACK - 1]
            learner.learn(data.train_images[learned], [name] * len(learned))
            assert page.hash == learner.state_hash()
        watched = page.own.evaluate("window.watched")
        assert watched["bars"] == 3 and watched["answers"] >= 1
        assert watched["told"].startswith("Learning: ") and watched["told"].endswith(" left")
        assert not page.own.locator("#progress").is_visible()
        assert not page.own.locator("#merge-button").is_visible()

        three = page.hash
        forgotten = page.menu("Conference", "Forget")
        page.own.click("#undo")
        assert page.changed(forgotten) == three
        assert [url for url in page.requests if not url.startswith("blob:")] == []
        page.reload()
        assert page.hash == three and page.own.input_value("#strategy") == "replay"

        with page.own.expect_download() as download:
            page.own.click("#download")
        download.value.save_as(tmp_path / "page.state")
        again = bitreplay.Learner.load(tmp_path / "page.state")
        assert again.state_hash() == three
        page.own.click("[data-source=picture]")
        found = []
        for k in range(0, len(data.test_images), 110):
            Image.fromarray(data.test_images[k]).save(tmp_path / "one.png")
            found.append(page.answered(lambda: page.own.set_input_files("#file", str(tmp_path / "one.png"))))
        assert found == list(again.predict(data.test_images[::110]))

        page.own.select_option("#strategy", "exact")
        page.own.wait_for_function("h => document.getElementById('hash').textContent === h", arg=exact)
        page.own.set_input_files("#open", str(tmp_path / "page.state"))
        page.own.wait_for_function("h => document.getElementById('hash').textContent === h", arg=three)
        assert page.own.input_value("#strategy") == "replay" and "Conference" in page.classes()
        for folder in ("states", "states-2"):  # of format 3, and of format 2
            state = CORPUS / folder / "whole.state"
            other = statefile.from_bytes(state.read_bytes(), "The state").model
            page.own.set_input_files("#open", str(state))
            page.own.wait_for_selector(f"#status:text('belongs to the network {other} with the strategy exact')")
            page.own.evaluate("document.getElementById('status').textContent = ''")
        assert page.hash == three
        assert page.errors == []
