"""What was learned, shared: a link that another browser opens with the same hash, and fragments that are refused."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import Page, chromium, needs_page, served
from tests.page.test_firefox import AGAIN, firefox
from tests.page.test_webkit import HASH, READY
from tests.page.webkit import webkit

pytestmark = needs_page

NO_LINK, MAX_LINK, HEAD = "", 64_000, 48
FRUITS = ("Orange", "Watermelon", "Granny Smith", "Red Delicious", "Conference", "Cantaloupe")


def use(page: Page, network: str) -> None:
    if page.own.input_value("#model") != network:
        page.own.select_option("#model", network)
    page.own.wait_for_function("name => localStorage.getItem('model') === name", arg=network)


def shared(page: Page) -> tuple[str, str]:
    """The link that the page offers, and what it says about it."""
    page.own.click("#share")
    page.own.wait_for_function("() => !/^Making/.test(document.getElementById('link-note').textContent)")
    link, note = page.own.input_value("#link"), page.own.inner_text("#link-note")
    assert page.own.is_enabled("#copy-link") == bool(link)
    page.own.click("#close-sharing")
    return link, note


def file_of(page: Page) -> bytes:
    page.own.click("#share")
    with page.own.expect_download() as download:
        page.own.click("#share-file")
    page.own.click("#close-sharing")
    return download.value.path().read_bytes()


def answers(page: Page) -> list[str]:
    return [page.answer_to(fruit) for fruit in FRUITS]


@contextmanager
def visitor(address: str, **options: Any) -> Iterator[Page]:
    with chromium(accept_downloads=True, **options) as context:
        page = Page(context, address)
        yield page
        assert page.errors == []


@pytest.mark.parametrize("network", ["efficientnet_lite0", "efficientnet_tiny", "efficientnet_tiny 128"])
def test_a_link_opens_in_another_browser(network, record_property):
    with served() as address:
        with visitor(address, permissions=["clipboard-read", "clipboard-write"]) as page:
            use(page, network)
            page.teach("Orange")
            taught = page.teach("Watermelon")
            link, note = shared(page)
            assert len(link) <= MAX_LINK and f"{len(link):,} characters" in note
            page.own.click("#share")
            page.own.click("#copy-link:enabled")
            page.own.wait_for_selector("#copy-link:text('Copied.')")
            assert page.own.evaluate("navigator.clipboard.readText()") == link
            page.own.click("#close-sharing")
            before, state = answers(page), file_of(page)
        with visitor(link) as page:
            assert page.hash == taught and page.classes() == ["Orange", "Watermelon"]
            assert page.own.input_value("#model") == network and page.own.url == address
            assert answers(page) == before and file_of(page) == state
            assert not any("state=" in url for url in page.requests), "a server was sent what was learned"
            page.reload()
            assert page.hash == taught
    record_property("figure", f"{network}, 40 pictures: {len(link):,} characters for {len(state):,} bytes")


def test_firefox_and_webkit_open_a_link_of_chromium(tmp_path):
    with served() as address:
        with visitor(address) as page:
            use(page, "efficientnet_lite0")
            page.teach("Orange")
            taught = page.teach("Watermelon")
            link, _ = shared(page)
            assert len(link) > MAX_LINK / 2, "one of the longer ones"
        (tmp_path / "profile").mkdir()
        with firefox(tmp_path / "profile") as browser:
            browser.go(link)
            assert browser.run(AGAIN) == taught
        with webkit(tmp_path) as other:
            other.go(link)
            other.wait(READY)
            assert other.run(f"return {HASH}") == taught
            other.end()


def until_it_forgets(page: Page) -> tuple[str, str]:
    use(page, "efficientnet_lite0")
    assert shared(page) == (NO_LINK, "It knows nothing yet: there is nothing to share.")
    for fruit in FRUITS:
        page.teach(fruit)
    link, note = shared(page)
    length = int(re.findall(r"would have ([\d,]+) characters", note)[0].replace(",", ""))
    assert link == NO_LINK and length > MAX_LINK and "more than 64,000 are not offered" in note
    use(page, "efficientnet_lite0 128")
    for fruit in FRUITS:
        page.teach(fruit)
    assert len(shared(page)[0]) < 24_000, "of the pictures' features"
    page.menu("Orange", "Forget")
    link, _ = shared(page)
    assert 24_000 < len(link) < MAX_LINK, "the whole state: the sums still have what was forgotten"
    return page.hash, link


def test_a_link_is_offered_only_while_it_is_short():
    with served() as address:
        with visitor(address) as page:
            forgotten, link = until_it_forgets(page)
        with visitor(link) as page:
            assert page.hash == forgotten


def test_what_the_visitor_has_taught_is_asked_for():
    with served() as address:
        with visitor(address) as page:
            theirs = page.teach("Conference")
            link, _ = shared(page)
        with visitor(address) as page:
            mine = page.teach("Orange")
            for choice, expected in (("keep", mine), ("open", theirs)):
                page.own.evaluate("link => { location.href = link; }", link)
                page.own.wait_for_selector("#linked[open]")
                assert "You have taught 1 class here." in page.own.inner_text("#linked-note")
                page.own.click(f"#linked-{choice}")
                page.own.wait_for_function(f"hash => {HASH} === hash", arg=expected)
                assert "#" not in page.own.url
            page.own.evaluate("link => { location.href = link; }", link)  # is there already: nothing to ask
            page.own.wait_for_function("() => !location.hash")
            page.own.click("#undo")
            assert page.changed(theirs) == mine and page.classes() == ["Orange"]


def fragment(content: bytes) -> str:
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(squeezed.compress(content) + squeezed.flush()).decode().rstrip("=")


def content_of(link: str) -> bytes:
    text = link.partition("#state=")[2]
    return zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), -15)


def resealed(state: bytes) -> bytes:
    return state[:16] + hashlib.sha256(state[HEAD:]).digest() + state[HEAD:]


def hostile(link: str, state: bytes) -> dict[str, str]:
    """Fragments by what is wrong with them; `link` is one of `state` as it should be."""
    text, packed = link.partition("#state=")[2], content_of(link)
    counts = state.index(b"learned/parts/sums.counts") + 36  # name, its zeros, shape
    model = state.index(b"model/name") + len("model/name") + 10
    length = b"".join(number.to_bytes(8, "little") for number in (16, 8, 4))
    return {
        "empty": "",
        "no letters of base64": "%00!!",
        "cut off": text[: len(text) // 2],
        "one letter changed": text[:500] + ("A" if text[500] != "A" else "B") + text[501:],
        "too long": "A" * 1_000_001,
        "no state": fragment(b"hello"),
        "a magic alone": fragment(b"PACKED 1"),
        "packed, without a state": fragment(b"PACKED 1" + length + bytes(32)),
        "packed, one feature changed": fragment(packed[:-1] + bytes([packed[-1] ^ 1])),
        "packed, without features": fragment(packed[: -40 * 256]),
        "packed, more features than pictures": fragment(packed + bytes(256)),
        "zeros without end": fragment(bytes(40_000_000)),
        "a damaged state": fragment(state[:-9] + b"x" + state[-8:]),
        "a state of fewer than no pictures": fragment(
            resealed(state[:counts] + (-5).to_bytes(8, "little", signed=True) + state[counts + 8 :])
        ),
        "a state of another network": fragment(resealed(state[:model] + b"efficientnet_tony" + state[model + 17 :])),
    }


def test_hostile_links_are_refused_and_nothing_taught_is_lost():
    with served() as address:
        with visitor(address) as page:
            page.teach("Orange")
            page.teach("Watermelon")
            bad = hostile(shared(page)[0], file_of(page))
        with visitor(address) as page:
            use(page, "efficientnet_tiny 128")
            page.teach("Conference")
            mine = page.teach("Cantaloupe")
            for what, text in bad.items():
                page.own.evaluate("document.getElementById('status').textContent = ''")
                page.own.evaluate("text => { location.hash = `state=${text}`; }", text)
                page.own.wait_for_selector("#status:text('This did not work: ')")
                said = page.own.inner_text("#status")
                assert said.count(".") <= 2 and len(said) < 200, (what, said)
                assert page.own.input_value("#model") == "efficientnet_tiny 128" and page.hash == mine, what
                assert not page.own.evaluate("location.hash") and page.classes() == ["Conference", "Cantaloupe"], what
            page.reload()
            assert page.hash == mine and page.classes() == ["Conference", "Cantaloupe"]
            assert page.answer_to("Conference") == "Conference"
        with visitor(f"{address}#state={bad['a damaged state']}") as page:  # the first visit, too
            assert "This did not work" in page.own.inner_text("#status") and page.classes() == []
            page.teach("Orange")


def test_a_state_of_python_opens_by_its_components(tmp_path):
    data = groceries()
    learner = bitreplay.Learner.from_pretrained("efficientnet_lite0", size=160, n_components=128)
    learner.learn(data.train_images[::40], [data.class_names[label] for label in data.train_labels[::40]])
    learner.save(tmp_path / "python.state")
    state = (tmp_path / "python.state").read_bytes()
    link = f"#state={fragment(state)}"
    assert len(link) < MAX_LINK
    with served() as address, visitor(address + link) as page:
        assert page.own.input_value("#model") == "efficientnet_lite0 128" and page.hash == learner.state_hash()
        assert set(page.classes()) == set(learner.labels)
