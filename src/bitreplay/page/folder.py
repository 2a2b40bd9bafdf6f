"""The page as a folder that any web server can serve: no server of ours, no build step.

Models for the learner in C are made from the zoo's, so the networks are the user's choice. `offline.js`, the service
worker, gets the list of files that it keeps, named by a hash of them all.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitreplay import zoo
from bitreplay.engine.parameter_counts import total_parameters
from bitreplay.export.image import image_of
from bitreplay.learner import Learner
from bitreplay.page.contents import learner_files, static_files

DEFAULT_MODELS = (
    "efficientnet_tiny", f"{zoo.DEFAULT}:160", "efficientnet_tiny::128", f"{zoo.DEFAULT}:160:128", "react_tiny",
    "quicknet:160",
)  # fmt: skip
STRATEGIES = ("exact", "replay")
FLOAT_BYTES = 4
SERVICE_WORKER = "offline.js"
FOR_SERVERS = "online.js"  # what `bitreplay serve` gives out in its place
MODEL_LIST = "models.json"


@dataclass(frozen=True)
class WrittenPage:
    files: int
    bytes: int


def write_page(out: Path, models: Sequence[str] = DEFAULT_MODELS) -> WrittenPage:
    """Write the page into a folder, which is new, empty, or has an older page in it. Other files stay.

    `models`: names or files of networks, the first of which is loaded with the page; NAME:SIZE for another input size,
    NAME:SIZE:COMPONENTS or NAME::COMPONENTS for features that are projected to fewer, which `exact` alone learns from.
    """
    _check_folder(out)
    contents = page_files(models)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".new-") as folder:
        for name, content in contents.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        # The service worker last: browsers that have an older page load this one when its file has changed.
        for name in sorted(contents, key=lambda name: name == SERVICE_WORKER):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(folder, name), out / name)
    return WrittenPage(len(contents), sum(map(len, contents.values())))


def page_files(models: Sequence[str]) -> dict[str, bytes]:
    """All files by name."""
    if not models or "" in models:
        raise ValueError("The page needs at least one model.")
    files = {name: content for name, content in static_files().items() if name != FOR_SERVERS} | learner_files()
    rows = []
    for strategy in STRATEGIES:
        for model in models:
            if strategy != "exact" and model.count(":") > 1:
                continue
            row, content = _model(model, strategy)
            rows.append(row)
            files[str(row["file"])] = content
    files[MODEL_LIST] = json.dumps(rows, indent=1).encode()
    files[SERVICE_WORKER] = _service_worker(files, later={str(row["file"]) for row in rows[1:]})
    return files


def _check_folder(out: Path) -> None:
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise ValueError(f"{out} is not a folder.")
    names = {path.name for path in out.iterdir()}
    if names and not {SERVICE_WORKER, MODEL_LIST} <= names:
        raise ValueError(f"{out} has other files in it: expected a new or empty folder, or one with a page.")


def _model(model: str, strategy: str) -> tuple[dict[str, object], bytes]:
    name, *numbers = model.split(":")
    if len(numbers) > 2 or any(number and not number.isdecimal() for number in numbers):
        raise ValueError(f"Expected a model as NAME, NAME:SIZE or NAME:SIZE:COMPONENTS, got {model!r}.")
    size, components = ([int(number) if number else None for number in numbers] + [None, None])[:2]
    settings: dict[str, Any] = {"n_components": components} if components else {}
    learner = Learner.from_pretrained(name, strategy=strategy, size=size, **settings)
    assert learner.model is not None
    content = image_of(learner)
    reduced = {"reduced": True} if components else {}
    name, components = learner.model.name, learner.settings.n_components
    file = f"{name}{f'-{components}' if reduced else ''}.{strategy}.model"
    weights = {"bytes": len(content), "floatBytes": FLOAT_BYTES * total_parameters(learner.model.graph)}
    row: dict[str, object] = {"name": name, "strategy": strategy, "file": file, **weights}
    return row | ({"components": components} if components else {}) | reduced, content


def _service_worker(files: dict[str, bytes], later: set[str]) -> bytes:
    """The service worker with its list: all files but those that are kept when they are first loaded."""
    digest = hashlib.sha256(b"".join(files[name] for name in sorted(files))).hexdigest()[:16]
    needed = [name for name in sorted(files) if name not in later | {"index.html", SERVICE_WORKER}]
    cached = ["./", *(name for name in needed if not name.endswith(".ts"))]
    worker = files[SERVICE_WORKER].decode()
    for old, new in (('["./"]', json.dumps(cached)), ('"development"', json.dumps(f"bitreplay-{digest}"))):
        assert worker.count(old) == 1
        worker = worker.replace(old, new)
    return worker.encode()
