"""The page's files, read once when the server starts. A request names a row of a table, never a file on the disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from bitreplay.serve.examples import examples

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".bin": "application/octet-stream",
}
FOLDER = Path(__file__).with_name("page")  # in a clone a link to page/, in a wheel its files
LEFT_OUT = ("offline.js", "worker.js")  # a learner in the browser, and its way to do without a server
INSTEAD = {"/offline.js": "/online.js"}


@dataclass(frozen=True)
class File:
    content: bytes
    kind: str
    tag: str


def page_files() -> dict[str, File]:
    """By the path of the request, such as /main.js."""
    if not (FOLDER / "index.html").is_file():
        raise ValueError(f"The page's files are not here: {FOLDER} has no index.html. Install bitreplay again.")
    found = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in KINDS}
    found = {name: content for name, content in found.items() if name not in LEFT_OUT} | examples()
    files = {f"/{name}": file(content, Path(name).suffix) for name, content in found.items()}
    return files | {"/": files["/index.html"]} | {path: files[other] for path, other in INSTEAD.items()}


def file(content: bytes, suffix: str) -> File:
    return File(content, KINDS[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
