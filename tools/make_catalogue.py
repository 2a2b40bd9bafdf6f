"""The networks that wheels leave out (`wheel.exclude` in pyproject.toml), into src/bitreplay/zoo/catalogue.json.

python tools/make_catalogue.py
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from bitreplay import modelfile
from bitreplay.zoo import FILE, FOLDER
from bitreplay.zoo.fetching import CATALOGUE

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def excluded() -> list[str]:
    return sorted(set(re.findall(r'"bitreplay/zoo/([^"/]+\.safetensors)"', PROJECT.read_text())))


def row(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    digest = {"digest": modelfile.digest(modelfile.load(path)[0])} if FILE.fullmatch(path.name) else {}
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), **digest}


def rows() -> dict[str, dict[str, Any]]:
    return {name: row(FOLDER / name) for name in excluded()}


if __name__ == "__main__":
    CATALOGUE.write_text(json.dumps(rows(), indent=1) + "\n")
