"""A line chart as SVG without matplotlib: percent against the number of experiences, one line per series.

`below` has words for each experience, such as its new classes; they are printed slanted below its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, RIGHT, TOP = 780, 420, 56, 48, 250, 40
ROOM_BELOW, WORDS_APART = 76, 22
COLOURS = ("#0b6e4f", "#c8553d", "#8a8d91", "#2e5eaa", "#b08900", "#6b4c9a")


def line_chart(
    title: str,
    series: Mapping[str, Sequence[float]],
    x_label: str = "experiences",
    below: Sequence[Sequence[str]] = (),
) -> str:
    """The text of the file; values are shares from 0 to 1."""
    steps = max(len(values) for values in series.values())
    height = HEIGHT + (ROOM_BELOW if below else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="16">{escape(title)}</text>',
    ]
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for step in range(1, steps + 1):
        parts.append(f'<text x="{_x(step, steps)}" y="{HEIGHT - 26}" text-anchor="middle">{step}</text>')
    for step, words in enumerate(below, 1):
        parts += [_slanted(word, _x(step, steps), line) for line, word in enumerate(words)]
    middle = (LEFT + WIDTH - RIGHT) // 2
    parts.append(f'<text x="{middle}" y="{height - 8}" text-anchor="middle">{escape(x_label)}</text>')
    for number, (name, values) in enumerate(series.items()):
        parts += _line(name, values, steps, COLOURS[number % len(COLOURS)], number)
    return "\n".join([*parts, "</svg>", ""])


def _line(name: str, values: Sequence[float], steps: int, colour: str, number: int) -> list[str]:
    points = [(_x(step, steps), _y(value)) for step, value in enumerate(values, 1)]
    path = " ".join(f"{x},{y}" for x, y in points)
    y = TOP + 16 + 22 * number
    x = WIDTH - RIGHT + 16
    last = f"{100 * values[-1]:.1f} %" if values else ""
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(f'<circle cx="{px}" cy="{py}" r="3" fill="{colour}"/>' for px, py in points),
        f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>',
        f'<text x="{x + 16}" y="{y}">{escape(name)} {last}</text>',
    ]


def _slanted(word: str, x: float, line: int) -> str:
    x, y = round(x - 4 + WORDS_APART * line, 1), HEIGHT - 12
    place = f'x="{x}" y="{y}" transform="rotate(-35 {x} {y})" text-anchor="end"'
    return f'<text {place} font-size="11" fill="#555">{escape(word)}</text>'


def _x(step: int, steps: int) -> float:
    span = WIDTH - RIGHT - LEFT - 40
    return round(LEFT + 20 + (span * (step - 1) / (steps - 1) if steps > 1 else span / 2), 1)


def _y(value: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value, 1)
