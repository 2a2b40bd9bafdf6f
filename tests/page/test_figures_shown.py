"""What the page shows: accuracy, chart, costs, requests. Files that are dropped, and a killed tab."""

from __future__ import annotations

import base64
import contextlib

from bitreplay.data.groceries import groceries
from tests.page.browser import Page, chromium, needs_page, served
from tests.page.dropping import DROP, as_text

pytestmark = needs_page


def kill(page: Page) -> None:
    with page.own.expect_event("crash"), contextlib.suppress(Exception):  # of the answer that does not come
        page.own.goto("chrome://crash", timeout=5000)


def test_accuracy_and_costs_are_shown():
    with served() as address, chromium() as context:
        page = Page(context, address)
        page.teach("Orange")
        page.teach("Satsumas")
        page.teach("Cantaloupe")
        for name in ("Orange", "Satsumas", "Cantaloupe"):
            assert page.card(name).locator(".facts b").inner_text().endswith("% right")
            assert page.card(name).locator(".pictures img").count() == 3
        right = page.own.evaluate("[...document.querySelectorAll('td.right button')].map(b => Number(b.textContent))")
        shares = [page.card(name).locator(".facts b").inner_text().split("→")[-1] for name in sorted(page.classes())]
        assert [f"{20 * count} % right" for count in right] == [text.strip() for text in shares]
        assert page.own.locator("#chart circle").count() == 3
        page.answer_to("Orange")
        page.own.wait_for_selector("#bars >> text=to answer")
        rows = page.own.locator("#bars .cost").all_inner_texts()
        for words in ("Network, its file", "What was learned", "Working memory", "The same network in float"):
            assert any(row.startswith(words) for row in rows)
        bars = page.own.evaluate("[...document.querySelectorAll('#bars .track i')].map(i => parseFloat(i.style.width))")
        assert max(bars) == 100 and bars[3] > max(bars[:2])
        page.own.select_option("#model", "react_tiny")
        page.own.wait_for_function("() => localStorage.getItem('model') === 'react_tiny'")
        page.teach("Orange")
        page.own.wait_for_function(
            "() => parseFloat(document.querySelectorAll('#bars .track i')[3].style.width) === 100"
        )
        bars = page.own.evaluate("[...document.querySelectorAll('#bars .track i')].map(i => parseFloat(i.style.width))")
        assert bars[3] == 100 > max(bars[:3]), "of a binary network all costs are below those of its floating point"
        assert page.own.inner_text("#requests").startswith("None since the page was loaded.")
        problems = context.new_cdp_session(page.own).send("Page.getInstallabilityErrors")["installabilityErrors"]
        assert [one["errorId"] for one in problems] == ["in-incognito"]  # as every browser of a test is
        assert page.errors == []


def test_files_are_dropped_and_a_killed_tab_loses_nothing():
    images = groceries().train_images
    with served() as address, chromium() as context:
        page = Page(context, address)
        page.teach("Orange")
        page.name("mine")
        before = page.hash
        broken = base64.b64encode(b"no picture").decode()
        page.own.evaluate(
            DROP,
            [
                "#classes li:has(input[aria-label='Add files: mine'])",
                "",
                [as_text(images[0]), broken, as_text(images[9])],
            ],
        )
        dropped = page.changed(before)
        assert page.card("mine").locator(".facts span").first.inner_text() == "2 pictures"
        page.own.wait_for_selector("#status:text('1 file could not be read as a picture')")
        shown = page.answered(lambda: page.own.evaluate(DROP, ["#stage", "", [as_text(images[0])]]))
        assert shown == "mine"
        assert page.errors == []
        page.own.click("[data-source=examples]")
        page.own.click('#examples button:text-is("Teach Watermelon")')
        kill(page)  # in the middle of learning
        again = Page(context, address)
        assert again.hash == dropped or "Watermelon" in again.classes()
        assert set(again.classes()) - {"Watermelon"} == {"Orange", "mine"}
        assert again.answer_to("Orange") == "Orange"
