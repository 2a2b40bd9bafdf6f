"""Draws docs/plots/walk.svg: what happens to one photograph of groceries, and what the network sees of it.

python tools/draw_walk.py
"""

from __future__ import annotations

import base64
import io
from pathlib import Path

from PIL import Image

from bitreplay.data.groceries import groceries
from bitreplay.data.pictures import fitting

OUT = Path(__file__).resolve().parents[1] / "docs" / "plots" / "walk.svg"
PICTURE, SEEN = 12, 32
BLUE, GREY, INK = "#2f6f9f", "#eef2f5", "#1d2b36"


def picture(image: Image.Image, x: int, y: int, side: int, caption: str) -> str:
    held = io.BytesIO()
    image.save(held, "PNG" if image.width <= SEEN else "JPEG", quality=80)
    kind = "png" if image.width <= SEEN else "jpeg"
    data = base64.b64encode(held.getvalue()).decode()
    return (
        f'<image x="{x}" y="{y}" width="{side}" height="{side}" style="image-rendering:pixelated" '
        f'href="data:image/{kind};base64,{data}"/>' + text(x + side // 2, y + side + 20, caption)
    )


def text(x: int, y: int, line: str, size: int = 13, weight: str = "normal", colour: str = INK) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="middle">{line}</text>'
    )


def box(x: int, y: int, width: int, title: str, *lines: str, colour: str = GREY, ink: str = INK) -> str:
    height = 42 + 18 * len(lines)
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{colour}"/>']
    parts.append(text(x + width // 2, y + 27, title, 15, "bold", ink))
    parts += [text(x + width // 2, y + 49 + 18 * row, line, colour=ink) for row, line in enumerate(lines)]
    return "".join(parts)


def arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{INK}" stroke-width="2" marker-end="url(#tip)"/>'


def main() -> None:
    images = groceries().test_images
    photograph = Image.fromarray(images[PICTURE])
    seen = Image.fromarray(fitting.fit_pictures(images[PICTURE : PICTURE + 1], SEEN)[0])
    parts = [
        picture(photograph.resize((112, 112)), 20, 50, 112, "a photograph"),
        arrow(140, 106, 170, 106),
        picture(seen, 178, 50, 112, "32 x 32 pixels"),
        arrow(294, 106, 324, 106),
        box(332, 64, 164, "binary network", "frozen, 1 bit a weight", colour=BLUE, ink="white"),
        arrow(500, 90, 534, 52),
        arrow(500, 124, 534, 170),
        box(540, 10, 150, "numbers", "2,048, 8 bits each"),
        arrow(694, 48, 722, 48),
        box(730, 10, 150, "exact sums", "added up, once"),
        arrow(884, 48, 912, 48),
        box(920, 10, 130, "discriminant", "answers"),
        text(795, 92, "exact, the default", 13, "bold", BLUE),
        box(540, 140, 150, "latents", "8,192, 1 bit each"),
        arrow(694, 178, 722, 178),
        box(730, 140, 150, "replay memory", "30 a class"),
        arrow(884, 178, 912, 178),
        box(920, 140, 130, "tail, head", "learn, answer"),
        text(795, 222, "replay, the paper's method", 13, "bold", BLUE),
    ]
    tip = '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
    tip += f'<path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>'
    frame = '<rect width="1070" height="240" fill="white"/>'
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1070 240" font-family="sans-serif">'
    OUT.write_text("\n".join([head, tip, frame, *parts, "</svg>\n"]))


if __name__ == "__main__":
    main()
