"""Model files: a graph, the codes of its replay layers and its origin, in one checked safetensors file.

    save(graph, path, about)
    graph, about = load(path)

docs/file-format.md is the specification. A reader refuses what does not fit, in one sentence (ModelFileError); nothing
is executed, and nothing larger than the file is allocated on its word.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from bitreplay.engine.graph import Graph
from bitreplay.modelfile.checks import check
from bitreplay.modelfile.container import (
    ContainerError,
    pack_container,
    parse,
    pieces,
    read_whole,
    unpack_container,
    write_whole,
)
from bitreplay.modelfile.deflate import deflate, inflate
from bitreplay.modelfile.input_sizes import check_sizes
from bitreplay.modelfile.schema import ModelFileError, need, read, write

FORMAT = "bitreplay-model"
VERSION, VERSION_WITH_DEFLATED = "1", "2"
MAX_BYTES = 256 << 20
CONVENTIONS = {
    "layout": "NHWC",
    "plus_one": 1,
    "bit_order": "least significant first",
    "word_bits": 64,
    "row_padding": 0,
}


def save(graph: Graph, path: str | os.PathLike[str], about: dict[str, Any]) -> str:
    """Check and write; returns the digest. `about` is any JSON value: training, data, accuracy, licence."""
    check_sizes(graph, check(graph))
    header, arrays = write(graph)
    stored, deflated = deflate(arrays)
    texts = {
        "format": FORMAT,
        "version": VERSION_WITH_DEFLATED if deflated else VERSION,
        "conventions": _text(CONVENTIONS),
        "graph": _text(header),
        "about": _text(about),
    } | ({"deflated": _text(deflated)} if deflated else {})
    write_whole(Path(path), pack_container(stored, texts))
    return digest(graph)


def load(path: str | os.PathLike[str]) -> tuple[Graph, dict[str, Any]]:
    """The graph and what the file says about itself."""
    try:
        arrays, texts = unpack_container(read_whole(Path(path), MAX_BYTES), str(path), copy=False)
        need(texts.get("format") == FORMAT, f"{path} is not a model file.")
        version = texts.get("version", "")[:40]
        known = version in (VERSION, VERSION_WITH_DEFLATED)
        need(known, f"{path} has version {version!r}; this program reads versions 1 and 2.")
        expected = {"sha256", "format", "version", "conventions", "graph", "about"}
        need(set(texts) == expected | ({"deflated"} if version != VERSION else set()), "Metadata is incomplete.")
        need(parse(texts["conventions"], "the conventions") == CONVENTIONS, "It packs bits in another order.")
        if version == VERSION_WITH_DEFLATED:
            arrays = inflate(arrays, parse(texts["deflated"], "the deflated tensors"), MAX_BYTES)
        graph = read(parse(texts["graph"], "the graph"), arrays)
        check_sizes(graph, check(graph))
        about = parse(texts["about"], "the description")
    except ContainerError as error:
        message = str(error)
        raise ModelFileError(message if str(path) in message else f"{path} cannot be used: {message}") from None
    return graph, about


def digest(model: Graph | str | os.PathLike[str]) -> str:
    """SHA-256 over the graph and all its arrays: equal for equal networks, whatever `about` says."""
    graph = model if isinstance(model, Graph) else load(model)[0]
    header, arrays = write(graph)
    whole = hashlib.sha256()
    for piece in pieces(arrays, {"graph": _text(header)}):
        whole.update(piece)
    return whole.hexdigest()


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
