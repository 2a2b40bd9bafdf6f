"""Networks that wheels leave out, to keep them small: brought by name from wherever the user says, checked by sha256.

    fetch("vgg_small", "https://example.org/bitreplay/zoo")     or a folder, such as src/bitreplay/zoo of a clone

catalogue.json names the files, their bytes and sha256, and the network's checksum, by which states name it. They are
stored in the folder BITREPLAY_MODELS, or in the user's data folder, where `find` looks too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from bitreplay.arguments import short_repr
from bitreplay.data.regular import read_bytes

CATALOGUE = Path(__file__).with_name("catalogue.json")
FILE = re.compile(r"(?P<name>[^.@]+)(@(?P<generation>[1-9][0-9]*))?\.(?P<kind>[^.]+\.)?safetensors")
SILENCE = 60.0  # seconds without a byte


def fetched_folder() -> Path:
    """Where fetched networks are, whether the folder exists or not."""
    if folder := os.environ.get("BITREPLAY_MODELS"):
        return Path(folder)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "bitreplay" / "models"


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """By file name: bytes, sha256 and, of networks, their digest."""
    return json.loads(CATALOGUE.read_text())


def fetched() -> list[Path]:
    """Files of the catalogue that were fetched; none where this user may not look."""
    try:
        return sorted(path for path in fetched_folder().iterdir() if path.name in catalogue())
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return []


def fetchable() -> list[str]:
    """Networks that can be fetched, as name@generation."""
    return sorted({_title(name) for name in catalogue()})


def title_of_digest(digest: str) -> str | None:
    """The network that can be fetched and has this checksum, of which at least 12 digits are given."""
    for name, row in catalogue().items():
        if len(digest) >= 12 and row.get("digest", "").startswith(digest):
            return _title(name)
    return None


def hint(title: str) -> str:
    """How to get a network that can be fetched, for an error message."""
    return (
        f"{title} is not in this package: `bitreplay models --fetch {title} --from PLACE` brings it (docs/install.md)"
    )


def fetch(title: str, source: str, folder: Path | None = None) -> list[Path]:
    """Bring a network and its companions into a folder, all of them or none; those that are there stay."""
    title = title if "@" in title else f"{title}@1"
    names = [name for name in catalogue() if _title(name) == title]
    if not names:
        raise ValueError(f"There is no network {short_repr(title)} to fetch; expected one of {', '.join(fetchable())}.")
    folder = folder or fetched_folder()
    contents = {name: _checked(name, _content(name, source)) for name in names if not _is_there(folder / name)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        part = folder / f".{name}.{os.getpid()}"
        part.write_bytes(content)
        os.replace(part, folder / name)
    return [folder / name for name in names]


def _title(file: str) -> str:
    """The name that `find` knows a network by, of its file or a companion's.

    >>> _title("quicknet.safetensors"), _title("quicknet@2.projection.safetensors"), _title("vgg_small.safetensors")
    ('quicknet@1', 'quicknet@2', 'vgg_small@1')
    """
    match = FILE.fullmatch(file)
    assert match is not None, file
    return f"{match['name']}@{match['generation'] or 1}"


def _is_there(path: Path) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == catalogue()[path.name]["sha256"]


def _content(name: str, source: str) -> bytes:
    """The file's bytes, and at most one more than it has."""
    limit = catalogue()[name]["bytes"] + 1
    if not re.match("https?://", source):
        try:
            return read_bytes(Path(source) / name)[:limit]
        except ValueError as error:
            raise ValueError(f"{Path(source) / name} cannot be read: {str(error).rstrip('.')}.") from None
    import http.client  # which takes as long to load as a short command
    import urllib.request
    from urllib.parse import quote

    address = f"{source.rstrip('/')}/{quote(name)}"
    try:
        with urllib.request.urlopen(address, timeout=SILENCE) as answer:
            return answer.read(limit)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise OSError(f"{address} could not be downloaded: {why}.") from None


def _checked(name: str, content: bytes) -> bytes:
    expected, digest = catalogue()[name]["sha256"], hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise ValueError(
            f"{name} from there has sha256 {digest[:16]}..., expected {expected[:16]}...; it was not stored."
        )
    return content
