"""Draws docs/terminal.svg, the moving picture of README.md: commands as they run here, their output and their seconds.

    python tools/record_terminal.py

The commands run one after another in an empty folder; what they print appears when they print it. Typing and the pauses
after an answer are added. The picture is text in SVG, animated by CSS alone; it stands still for readers who asked for
less motion.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "terminal.svg"
COLUMNS = 92
TYPING, PAUSE, END = 0.02, 1.2, 4.0  # seconds: a character, after each command, at the end
WIDTH, LINE, MARGIN = 8.05, 19, 16  # pixels: a character, a line, around all of them
COMMANDS = (
    "# photographs of fruit ship with the package; yours are folders named after their classes",
    "bitreplay data photographs photos --each 12 --classes Orange,Kaiser,Watermelon",
    "bitreplay learn scale.state photos/train",
    "bitreplay predict scale.state photos/test/Watermelon/001.webp",
    "# a kind that nobody thought of, in the field",
    "bitreplay data photographs more --each 12 --classes Red-Delicious -q",
    "bitreplay learn scale.state more/train",
    "bitreplay predict scale.state more/test/Red-Delicious/001.webp photos/test/Kaiser/003.webp",
)


@dataclass(frozen=True)
class Line:
    """A line of the terminal, and the second at which it appears."""

    text: str
    second: float
    kind: str


def recorded() -> tuple[list[Line], float]:
    lines, now = [], 0.3
    known = os.environ | {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            if command.startswith("#"):
                lines.append(Line(command, now, "note"))
                now += PAUSE / 2
                continue
            lines.append(Line(f"$ {command}", now, "typed"))
            now += TYPING * len(command)
            start = time.perf_counter()
            words = [sys.executable, "-m", *command.split()]
            done = subprocess.run(words, cwd=folder, env=known, capture_output=True, text=True, check=True)
            now += time.perf_counter() - start
            lines += [Line(text, now, "said") for text in done.stdout.splitlines()]
            now += PAUSE
    return lines, now + END


def drawn(lines: list[Line], seconds: float) -> str:
    width, height = round(COLUMNS * WIDTH) + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    style, text = [], []
    for number, line in enumerate(lines):
        at = 100 * line.second / seconds
        style.append(f"@keyframes l{number}{{0%,{at:.2f}%{{opacity:0}}{at + 0.01:.2f}%,100%{{opacity:1}}}}")
        style.append(f"#l{number}{{animation:l{number} {seconds:.1f}s infinite}}")
        y = MARGIN + LINE * number + 14
        text.append(f'<text id="l{number}" class="{line.kind}" x="{MARGIN}" y="{y}">{escape(line.text)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
            "<title>bitreplay learns three kinds of fruit, answers, and learns a fourth</title>",
            "<style>text{font:13.4px ui-monospace,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}",
            ".note{fill:#8b949e}.typed{fill:#7ee787}",
            *style,
            "@media(prefers-reduced-motion){text{animation:none!important}}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            *text,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    OUT.write_text(drawn(*recorded()))
    print(OUT)
