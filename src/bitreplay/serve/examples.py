"""Photographs of fruit for the page: the first pictures of some kinds, to learn and to show, one after the other."""

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
    """The page's two files: examples.bin has them as they lie in the archive, examples.json says where each is."""
    bytes_, rows = bytearray(), []
    with zipfile.ZipFile(ARCHIVE) as archive:
        for fruit in FRUIT:
            row: dict[str, object] = {"name": fruit.replace("-", " ")}
            for kind, part, count in (("learn", "train", LEARNED), ("test", "test", TESTED)):
                names = sorted(name for name in archive.namelist() if name.startswith(f"{part}/{fruit}/"))
                places = []
                for name in names[:: len(names) // count][:count]:
                    content = archive.read(name)
                    places.append((len(bytes_), len(bytes_) + len(content)))
                    bytes_ += content
                row[kind] = places
            rows.append(row)
    return {"examples.bin": bytes(bytes_), "examples.json": json.dumps(rows).encode()}
