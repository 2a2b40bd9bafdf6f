"""The models that ship with the package: every model file in this folder, and those that were fetched (fetching.py).

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
from bitreplay.zoo import fetching

FOLDER = Path(__file__).parent
DEFAULT = "efficientnet_lite0"  # the best on photographs: docs/instead.md
SUFFIX = ".safetensors"
FILE = re.compile(r"(?P<name>[^.@]+)(@(?P<generation>[1-9][0-9]*))?\.safetensors")
DIGEST = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True)
class Model:
    """A model file as it was read.

    Attributes
    ----------
    name : str
        The name in the zoo, or that of the file.
    path : Path
        The file.
    graph : Graph
        The network.
    about : dict
        What the file says of itself: licence, training, accuracy.
    digest : str
        A sha256 of the network, by which states name it.

    Examples
    --------
    >>> find("react_tiny").size
    32
    """

    name: str
    path: Path
    graph: Graph
    about: dict[str, Any]
    digest: str

    @property
    def size(self) -> int:
        """The side of the square images that it was made for."""
        return self.graph.input_shape[0]

    @property
    def sizes(self) -> list[int]:
        """The sizes that it can be used at."""
        return sorted({self.size, *sizes(self.graph)})

    @property
    def sizes_in_words(self) -> str:
        """The sizes as text, such as "64 to 512 in steps of 32"."""
        others = sizes(self.graph)
        if not others:
            return f"{self.size} alone"
        exception = "" if self.size in others else f", and {self.size}"
        return f"{others[0]} to {others[-1]} in steps of {others.step}{exception}"

    def at_size(self, size: int | None) -> Graph:
        """Return the network for square images of another size.

        Parameters
        ----------
        size : int or None
            The side; None for the model's own.

        Returns
        -------
        Graph

        Raises
        ------
        ValueError
            If the model cannot be used at this size.

        Examples
        --------
        >>> find("react_tiny").at_size(None).input_shape
        (32, 32, 3)
        """
        if size in (None, self.size):
            return self.graph
        if size not in self.sizes:
            raise ValueError(f"{self.name} can be used at size {self.sizes_in_words}, got {short_repr(size)}.")
        return at_size(self.graph, size)

    def companion(self, kind: str) -> Path:
        """Return the path of a file that belongs to this network, whether it exists or not.

        Parameters
        ----------
        kind : str
            What the file holds, such as "projection".

        Returns
        -------
        Path

        Examples
        --------
        >>> find("react_tiny").companion("projection").name
        'react_tiny.projection.safetensors'
        """
        return self.path.with_name(f"{self.path.stem}.{kind}{SUFFIX}")

    @property
    def replay_layers(self) -> list[str]:
        """The layers that can be replay layers, from the image to the head."""
        return sorted(self.graph.replay_layers, key=self.graph.position)


def names() -> list[str]:
    """List the shipped models.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "react_tiny" in names()
    True
    """
    return sorted(_shipped())


def generations(name: str) -> list[int]:
    """List the generations of a shipped model, the oldest first.

    Parameters
    ----------
    name : str
        Without a generation.

    Returns
    -------
    list of int

    Examples
    --------
    >>> generations("quicknet")
    [1, 2]
    """
    return sorted(_shipped().get(name, {}))


def knows(model: str) -> bool:
    """Return whether this is the name or the checksum of a shipped model.

    Parameters
    ----------
    model : str
        Also name@generation; of a checksum at least 12 digits.

    Returns
    -------
    bool

    Examples
    --------
    >>> knows("quicknet@2"), knows("resnet")
    (True, False)
    """
    return _by_name(model) is not None or _by_digest(model) is not None


def find(model: str | Path) -> Model:
    """Read a model.

    Parameters
    ----------
    model : str or Path
        A shipped model by name, name@generation or checksum; or a model file.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        If there is no such model, or the file is not a model.

    Examples
    --------
    >>> find("react_tiny").replay_layers[-1]
    'add_11'
    """
    path = path_of(model, "A model")
    file = _by_name(str(path))
    if file is not None:
        return _read(file)
    if not os.path.exists(path):
        shipped = _by_digest(str(path))
        if shipped is None:
            if title := _fetchable(str(path)):
                raise ValueError(f"{fetching.hint(title)}.")
            expected = ", ".join(names()) or "a path"
            raise ValueError(f"There is no model {short_repr(str(model))}: expected {expected} or a file.")
        return shipped
    return _read(path)


def find_by_digest(name: str, digest: str) -> Model | None:
    """Find the shipped model with a checksum; those of the name are tried first, the newest first of all.

    Parameters
    ----------
    name : str
        The name that a state has for it; another name may have the model too.
    digest : str
        The checksum, or how it begins.

    Returns
    -------
    Model or None

    Examples
    --------
    >>> find_by_digest("", find("react_tiny").digest).name
    'react_tiny'
    """
    table = _shipped()
    for other in sorted(table, key=lambda other: (other != name, other)):
        for generation in sorted(table[other], reverse=True):
            model = _read(table[other][generation])
            if model.digest.startswith(digest):
                return model
    return None


def _shipped() -> dict[str, dict[int, Path]]:
    """Return the files by name and generation."""
    files: dict[str, dict[int, Path]] = {}
    for path in (*fetching.fetched(), *sorted(FOLDER.glob("*" + SUFFIX))):  # of two files of one name, the package's
        if match := FILE.fullmatch(path.name):
            files.setdefault(match["name"], {})[int(match["generation"] or 1)] = path
    return files


def _fetchable(text: str) -> str | None:
    """Return the network of this name or checksum, if it is one that can be fetched."""
    title = text if "@" in text else f"{text}@1"
    return title if title in fetching.fetchable() else fetching.title_of_digest(text)


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
