"""The models that ship with the package: every model file in this folder, by its name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitreplay import modelfile
from bitreplay.engine.graph import Graph
from bitreplay.told import path_of, told

FOLDER = Path(__file__).parent
SUFFIX = ".safetensors"


@dataclass(frozen=True)
class Model:
    """A model file as it was read."""

    name: str
    path: Path
    graph: Graph
    about: dict[str, Any]
    digest: str

    @property
    def levels(self) -> list[str]:
        """Replay levels, from the image to the head."""
        return sorted(self.graph.levels, key=self.graph.position)


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*" + SUFFIX))


def find(model: str | Path) -> Model:
    """A model by its name in the zoo, or by the path of its file."""
    path = path_of(model, "A model")
    path = FOLDER / f"{path}{SUFFIX}" if str(path) in names() else path
    if not os.path.exists(path):
        raise ValueError(f"There is no model {told(str(model))}: expected {', '.join(names()) or 'a path'} or a file.")
    graph, about = modelfile.load(path)
    return Model(str(about.get("name", path.stem)), path, graph, about, modelfile.digest(graph))


def find_by_digest(name: str, digest: str) -> Model | None:
    """The shipped model with this checksum, the one of this name tried first."""
    for candidate in sorted(names(), key=lambda other: other != name):
        model = find(candidate)
        if model.digest == digest:
            return model
    return None
