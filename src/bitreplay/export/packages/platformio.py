"""A PlatformIO library: library.json, src/, examples/."""

from __future__ import annotations

import json

from bitreplay.export.packages.package import ABOUT, TITLE, Package, examples, version


def files(package: Package) -> dict[str, str]:
    manifest = {
        "name": "bitreplay",
        "version": version(),
        "description": f"{TITLE}. {ABOUT} Model: {package.about['model']}, {package.about['classes']} classes.",
        "keywords": ["machine learning", "binary neural network", "continual learning", "camera", "on-device"],
        "authors": [{"name": "The bitreplay authors"}],
        "license": "Apache-2.0",
        "frameworks": "*",
        "platforms": "*",
        "headers": ["bitreplay_device.h", "bitreplay_model.h"],
        "build": {"srcDir": "src", "includeDir": "src", "unflags": ["-std=gnu++11"], "flags": ["-std=gnu++17"]},
        "examples": [
            {"name": name.split("/")[1], "base": name.rpartition("/")[0], "files": [name.rpartition("/")[2]]}
            for name in sorted(examples("arduino"))
        ],
    }
    return {"library.json": json.dumps(manifest, indent=2) + "\n"} | examples("arduino")
