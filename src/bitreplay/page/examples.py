"""Photographs of fruit for the page: some of each kind to learn and some to show."""

from __future__ import annotations

import json
import zipfile

from bitreplay.data.groceries import ARCHIVE

FRUIT = (
    "Orange",
    "Granny-Smith",
    "Watermelon",
    "Conference",
    "Red-Delicious",
    "Cantaloupe",
    "Satsumas",
    "Honeydew-Melon",
)
LEARNED, TESTED = 25, 10


def examples() -> dict[str, bytes]:
    """Two files of the page: examples.bin has the pictures one after another, examples.json their offsets."""
    bytes_, rows = bytearray(), []
    with zipfile.ZipFile(ARCHIVE) as archive:
        for fruit in FRUIT:
            row: dict[str, object] = {"name": fruit.replace("-", " ")}
            for kind, part, count in (("learn", "train", LEARNED), ("test", "test", TESTED)):
                names = sorted(name for name in archive.namelist() if name.startswith(f"{part}/{fruit}/"))
                ranges = []
                for name in names[:: len(names) // count][:count]:
                    content = archive.read(name)
                    ranges.append((len(bytes_), len(bytes_) + len(content)))
                    bytes_ += content
                row[kind] = ranges
            rows.append(row)
    return {"examples.bin": bytes(bytes_), "examples.json": json.dumps(rows).encode()}
