"""Pictures of the page in every state, at the sizes of a phone, a tablet and a desk, light and dark.

    make screens            docs/screens/STATE.webp: a row for light and one for dark; and docs/page.webp

To look at, beside Teachable Machine's three steps, after a change of the page's looks. Nothing compares them.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from tests.page.browser import Page, chromium, served
from tests.page.test_first_screen import CAMERA, Finger, things

SIZES = {"phone": (390, 844), "tablet": (768, 1024), "desk": (1440, 900)}
SCALE, MARGIN = 0.5, 12


def first(page: Page) -> None:
    pass


def camera(page: Page) -> None:
    page.own.click("#start")
    page.own.wait_for_selector("#video:visible")
    for number in range(2):
        page.own.evaluate("k => { window.shown = k; }", number)
        page.own.wait_for_timeout(300)
        before = page.hash
        Finger(page.own).hold(f"Class {number + 1}", 3)
        page.changed(before)
    page.own.wait_for_selector(".answer")


def examples(page: Page) -> None:
    page.own.click("#try-examples")
    for fruit in ("Orange", "Watermelon", "Granny Smith"):
        page.teach(fruit)
    page.answer_to("Orange")


def advanced(page: Page) -> None:
    examples(page)
    page.own.click("#more")
    page.own.wait_for_timeout(2500)  # costs are drawn every two seconds


def share(page: Page) -> None:
    examples(page)
    page.own.click("#share")
    page.own.wait_for_selector("#copy-link:enabled")


STATES: dict[str, Callable[[Page], None]] = {
    "first": first,
    "camera": camera,
    "examples": examples,
    "advanced": advanced,
    "share": share,
}


def shot(address: str, size: tuple[int, int], scheme: str, make: Callable[[Page], None]) -> Image.Image:
    width, height = size
    options: dict[str, Any] = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    with chromium(service_workers="block", **options) as context:
        context.add_init_script(CAMERA % json.dumps(things()))
        page = Page(context, address, first_screen=True)
        make(page)
        page.own.wait_for_timeout(500)
        return Image.open(io.BytesIO(page.own.screenshot())).convert("RGB")


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with served() as address:
        for state, make in STATES.items():
            rows = [[shot(address, size, scheme, make) for size in SIZES.values()] for scheme in ("light", "dark")]
            if state == "examples":
                rows[0][2].save(out.parent / "page.webp", quality=80)
            width = sum(image.width for image in rows[0]) + MARGIN * (len(SIZES) + 1)
            height = sum(max(image.height for image in row) + MARGIN for row in rows) + MARGIN
            sheet = Image.new("RGB", (width, height), "#888888")
            top = MARGIN
            for row in rows:
                left = MARGIN
                for image in row:
                    sheet.paste(image, (left, top))
                    left += image.width + MARGIN
                top += max(image.height for image in row) + MARGIN
            sheet.resize((round(width * SCALE), round(height * SCALE))).save(out / f"{state}.webp", quality=75)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
