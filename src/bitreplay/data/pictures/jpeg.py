"""The cost of decoding a JPEG, from its markers, and the scale at which a large one is decoded.

A sequential JPEG of one scan is decoded row by row. For all others (progressive, or a scan for each colour) the decoder
holds every coefficient, and every scan goes over all of them: a short file may have thousands of scans.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.JpegImagePlugin import JpegImageFile

LARGE = 1 << 22
SCALES = (8, 4, 2)
SCAN, END = 0xDA, 0xD9
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # DHT, JPG and DAC lie in the same range
PROGRESSIVE = {0xC2, 0xC6, 0xCA, 0xCE}
ALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length
MARKER = re.compile(rb"\xff+([\x01-\xfe])", re.DOTALL)
MARKER_AFTER_SCAN = re.compile(rb"\xff+([\x01-\xcf\xd8-\xfe])", re.DOTALL)


def passes(content: bytes) -> int:
    """How often the decoder goes over the picture: 1 if row by row, else the number of scans (2 or more)."""
    at, scans, colours, held = 2, 0, 0, False
    while match := (MARKER_AFTER_SCAN if scans else MARKER).search(content, at):
        marker, at = match[1][0], match.end()
        if marker == END:
            break
        if marker in ALONE:
            continue
        if marker in FRAMES:
            held, colours = marker in PROGRESSIVE, int.from_bytes(content[at + 7 : at + 8], "big")
        if marker == SCAN:
            held = held or content[at + 2 : at + 3] < bytes([colours])
            if not held:
                return 1
            scans += 1
        at += max(2, int.from_bytes(content[at : at + 2], "big"))
    return max(scans, 2) if held else 1


def reduce(image: JpegImageFile, min_side: int) -> None:
    """Decode a JPEG of more than LARGE pixels at 1/8, 1/4 or 1/2, its shorter side not below `min_side`."""
    width, height = image.size
    if width * height > LARGE:
        scale = next((scale for scale in SCALES if min(width, height) // scale >= min_side), 1)
        image.draft(None, (width // scale, height // scale))
