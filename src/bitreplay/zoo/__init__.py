"""The models that ship with the package: every model file in this folder.

    find("react18")           the newest generation of the network of this name
    find("react18@1")         a certain one, so that states and published rows keep what they were made with
    find("fbc436af89c1")      the one with this checksum, or its first 12 digits or more
    find("mine.safetensors")  a file

NAME.safetensors is generation 1, NAME@2.safetensors and so on are those that came later. NAME.KIND.safetensors is no
network but a companion of one, such as a projection: it may come or change while the network's checksum stays.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitreplay import modelfile
from bitreplay.arguments import path_of, short_repr
from bitreplay.engine.graph import Graph
from bitreplay.modelfile.input_sizes import at_size, sizes

FOLDER = Path(__file__).parent
DEFAULT = "quicknet"  # the best on photographs: docs/instead.md
SUFFIX = ".safetensors"
FILE = re.compile(r"(?P<name>[^.@]+)(@(?P<generation>[1-9][0-9]*))?\.safetensors")
DIGEST = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True)
class Model:
    """A model file as it was read."""

    name: str
    path: Path
    graph: Graph
    about: dict[str, Any]
    digest: str

    @property
    def size(self) -> int:
        """The side of the pictures that it was made for."""
        return self.graph.input_shape[0]

    @property
    def sizes(self) -> list[int]:
        """All that it can be used at."""
        return sorted({self.size, *sizes(self.graph)})

    @property
    def sizes_in_words(self) -> str:
        """Such as "64 to 512 in steps of 32"."""
        found = sizes(self.graph)
        if not found:
            return f"{self.size} alone"
        own = "" if self.size in found else f", and {self.size}"
        return f"{found[0]} to {found[-1]} in steps of {found.step}{own}"

    def at_size(self, size: int | None) -> Graph:
        """The network for squares of this side; None is its own."""
        if size in (None, self.size):
            return self.graph
        if size not in self.sizes:
            raise ValueError(f"{self.name} can be used at size {self.sizes_in_words}, got {short_repr(size)}.")
        return at_size(self.graph, size)

    def companion(self, kind: str) -> Path:
        """Where a file lies that belongs to this network, if there is one."""
        return self.path.with_name(f"{self.path.stem}.{kind}{SUFFIX}")

    @property
    def replay_layers(self) -> list[str]:
        """Replay levels, from the image to the head."""
        return sorted(self.graph.replay_layers, key=self.graph.position)


def names() -> list[str]:
    return sorted(_shipped())


def generations(name: str) -> list[int]:
    """Those that ship of a name, oldest first."""
    return sorted(_shipped().get(name, {}))


def knows(model: str) -> bool:
    """Whether it is the name or the checksum of a shipped model."""
    return _by_name(model) is not None or _by_digest(model) is not None


def find(model: str | Path) -> Model:
    """A model by its name in the zoo, by name@generation, by its checksum, or by the path of its file."""
    path = path_of(model, "A model")
    found = _by_name(str(path))
    if found is not None:
        return _read(found)
    if not os.path.exists(path):
        shipped = _by_digest(str(path))
        if shipped is None:
            expected = ", ".join(names()) or "a path"
            raise ValueError(f"There is no model {short_repr(str(model))}: expected {expected} or a file.")
        return shipped
    return _read(path)


def find_by_digest(name: str, digest: str) -> Model | None:
    """The shipped model with this checksum; those of this name are tried first, the newest first of all."""
    table = _shipped()
    for other in sorted(table, key=lambda other: (other != name, other)):
        for generation in sorted(table[other], reverse=True):
            model = _read(table[other][generation])
            if model.digest.startswith(digest):
                return model
    return None


def _shipped() -> dict[str, dict[int, Path]]:
    """The files by name and generation."""
    found: dict[str, dict[int, Path]] = {}
    for path in sorted(FOLDER.glob("*" + SUFFIX)):
        if match := FILE.fullmatch(path.name):
            found.setdefault(match["name"], {})[int(match["generation"] or 1)] = path
    return found


def _by_name(text: str) -> Path | None:
    name, at, number = text.partition("@")
    files = _shipped().get(name)
    if files is None or (at and not number.isdecimal()):
        return None
    return files.get(int(number) if at else max(files))


def _by_digest(text: str) -> Model | None:
    return find_by_digest("", text) if DIGEST.fullmatch(text) else None


def _read(path: Path) -> Model:
    graph, about = modelfile.load(path)
    return Model(str(about.get("name", path.stem)), path, graph, about, modelfile.digest(graph))
