"""The page's files, read once when the server starts. A request selects one of them, never a file on the disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from bitreplay.page.contents import core_files, static_files

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".ts": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".webmanifest": "application/manifest+json",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".bin": "application/octet-stream",
}
EXCLUDED = ("offline.js", "worker.js")  # they are for a learner in the browser
REPLACED = {"/offline.js": "/online.js"}


@dataclass(frozen=True)
class File:
    content: bytes
    content_type: str
    etag: str


def page_files() -> dict[str, File]:
    """By path, such as /main.js."""
    contents = {name: content for name, content in (static_files() | core_files()).items() if name not in EXCLUDED}
    files = {f"/{name}": make_file(content, Path(name).suffix) for name, content in contents.items()}
    return files | {"/": files["/index.html"]} | {path: files[other] for path, other in REPLACED.items()}


def make_file(content: bytes, suffix: str) -> File:
    return File(content, CONTENT_TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
