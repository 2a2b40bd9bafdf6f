"""A folder of files by its address: a plain path, a web server (read only), or anything that fsspec opens (s3://, gs://).

    place = Place("/mnt/states")        Place("s3://bucket/states")        Place("https://example.org/fleet")
    place.names(), place.read(name), place.write(name, data), place.has(name)

A file that is written is there whole or not at all: on a disk it is renamed into its place, object stores do so anyway.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path, PurePosixPath
from typing import Any

TIMEOUT = 60.0
MAX_BYTES = 4 << 30


class Place:
    def __init__(self, address: str | Path) -> None:
        self.address = str(address)
        scheme = urllib.parse.urlsplit(self.address).scheme if "://" in self.address else ""
        self._web = scheme in ("http", "https")
        self._files: Any = None
        if scheme and not self._web:
            try:
                from fsspec.core import url_to_fs
            except ImportError:
                raise ValueError(
                    f"{self.address} needs the package fsspec: install it, and that of {scheme}."
                ) from None
            try:
                self._files, self._root = url_to_fs(self.address)
            except (ImportError, ValueError) as error:
                raise ValueError(f"{self.address} cannot be opened: {error}") from None

    def names(self) -> list[tuple[str, str]]:
        """Files of the folder by name, each with what changes when its content does: its size, and its time or tag."""
        if self._web:
            raise ValueError(f"{self.address} is a web server, whose files cannot be listed.")
        if self._files is None:
            folder = Path(self.address)
            if not folder.is_dir():
                raise ValueError(f"There is no folder {self.address}.")
            with os.scandir(folder) as entries:
                found = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
            return sorted((name, f"{stat.st_size} {stat.st_mtime_ns}") for name, stat in found)
        details = [one for one in self._files.ls(self._root, detail=True) if one.get("type") == "file"]
        tags = ("size", "ETag", "mtime", "created", "LastModified")
        return sorted(
            (PurePosixPath(one["name"]).name, " ".join(str(one.get(tag, "")) for tag in tags)) for one in details
        )

    def read(self, name: str) -> bytes:
        """ValueError if there is no such file, or it cannot be read."""
        try:
            if self._web:
                with urllib.request.urlopen(
                    f"{self.address.rstrip('/')}/{urllib.parse.quote(name)}", None, TIMEOUT
                ) as reply:
                    data = reply.read(MAX_BYTES + 1)
            elif self._files is None:
                data = (Path(self.address) / name).read_bytes()
            else:
                data = self._files.cat_file(f"{self._root}/{name}")
        except (OSError, urllib.error.URLError) as error:
            raise ValueError(f"{self.address}/{name} cannot be read: {_reason(error)}") from None
        if len(data) > MAX_BYTES:
            raise ValueError(f"{self.address}/{name} has more than {MAX_BYTES} bytes.")
        return data

    def has(self, name: str) -> bool:
        if self._web:
            try:
                self.read(name)
            except ValueError:
                return False
            return True
        if self._files is None:
            return (Path(self.address) / name).is_file()
        return bool(self._files.isfile(f"{self._root}/{name}"))

    def write(self, name: str, data: bytes) -> None:
        """ValueError if it cannot be written."""
        try:
            if self._web:
                raise ValueError(f"{self.address} is a web server, which is read only: write to its folder.")
            if self._files is not None:
                self._files.makedirs(self._root, exist_ok=True)
                self._files.pipe_file(f"{self._root}/{name}", data)
                return
            folder = Path(self.address)
            folder.mkdir(parents=True, exist_ok=True)
            begun = folder / f".{name}.{os.getpid()}.new"
            with begun.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            begun.replace(folder / name)
        except OSError as error:
            raise ValueError(f"{self.address}/{name} cannot be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code}."
    return f"{getattr(error, 'strerror', None) or getattr(error, 'reason', None) or type(error).__name__}."
