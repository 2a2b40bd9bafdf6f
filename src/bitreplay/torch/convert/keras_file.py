"""Weights that Keras saved as HDF5: its layers in the order of the network, each with its arrays by name.

A file lists the names of its layers in the attribute `layer_names`, and each layer's group those of its arrays in
`weight_names`; a whole saved model holds the same one group deeper. Whatever else a file holds is refused in a
sentence. Arrays are read one by one, when their shapes are known to fit.

HDF5 can do more than Keras asks of it, and all that is refused before anything is read: links to elsewhere, data in
other files (external or virtual), compression, and arrays or chunks that claim more bytes than the file has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import h5py
except ImportError as error:
    raise ImportError("Reading Keras files needs h5py: pip install 'bitreplay[larq]'.") from error

LONGEST_REASON = 200
MAX_NAMES = 512  # of any length each: all may point to one as long as the file


class KerasFileError(ValueError):
    """The file does not hold what is expected; the message says where."""


class KerasLayer(NamedTuple):
    """One layer of the file that has weights, as arrays that are read when asked for."""

    name: str
    weights: dict[str, h5py.Dataset]

    def read(self, key: str) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):
            values = np.asarray(self.weights[key][()], np.float32)
        if not np.isfinite(values).all():
            raise KerasFileError(f"Layer {self.name} has {key} with values that are not numbers.")
        return values


@contextmanager
def open_file(path: str | Path) -> Iterator[h5py.File]:
    """The open file; what h5py says of a damaged one becomes one sentence."""
    try:
        with h5py.File(path, "r") as file:
            yield file
    except KerasFileError:
        raise
    except (OSError, KeyError, RuntimeError, ValueError, TypeError, AttributeError, OverflowError) as error:
        reason = " ".join(str(error).split())[:LONGEST_REASON]
        raise KerasFileError(f"{path} cannot be read as a Keras file of weights: {reason}") from error


def keras_layers(file: h5py.File) -> list[KerasLayer]:
    """The layers with weights, in the order of the network."""
    size = file.id.get_filesize()
    root = _inside(file, "model_weights", "model_weights") if "model_weights" in file else file
    _need(isinstance(root, h5py.Group), "model_weights is not a group")
    if "layer_names" not in root.attrs and "layers" in root:
        raise KerasFileError(
            f"{file.filename} has the layout of newer Keras (.weights.h5), without the order of its layers; save the "
            "whole model, model.save('NAME.h5'), or with Keras 2 its weights, model.save_weights('NAME_weights.h5')."
        )
    layers, claimed = [], 0
    for name in _names(root, "layer_names", "the file", size):
        group = _inside(root, name, f"layer {name[:60]}")
        _need(isinstance(group, h5py.Group), f"layer {name[:60]} is not a group")
        weights = {}
        for key in _names(group, "weight_names", f"layer {name[:60]}", size):
            what = f"layer {name[:60]} has {key[:60]}"
            array = _array(_inside(group, key, what), what, size)
            claimed += _bytes(array.shape, array.dtype)
            weights[key.rpartition("/")[2].partition(":")[0]] = array
        if weights:
            layers.append(KerasLayer(name[:60], weights))
    _need(claimed <= size, f"its arrays claim {claimed} bytes, and the file has {size}")
    return layers


def _inside(group: h5py.Group, path: str, what: str) -> Any:
    """The object at a path, through groups of this file only: a link may lead anywhere."""
    node: Any = group
    for part in path.split("/"):
        _need(part not in ("", ".", "..") and isinstance(node, h5py.Group), f"{what}, which is not in the file")
        link = node.get(part, getlink=True)
        if link is None:
            return None
        _need(isinstance(link, h5py.HardLink), f"{what} by a link, which is not followed")
        node = node[part]
    return node


def _names(group: h5py.Group, attribute: str, whose: str, size: int) -> list[str]:
    _need(attribute in group.attrs, f"{whose} has no {attribute}")
    about = group.attrs.get_id(attribute)
    many = 0 if about.shape is None else math.prod(about.shape)
    _need(many <= MAX_NAMES, f"{whose} has {many} {attribute}, of which at most {MAX_NAMES} are read")
    if not many:
        return []  # of a layer without weights, whatever its type
    text = h5py.check_string_dtype(about.dtype)
    _need(text is not None, f"{whose} has {attribute} that are not names")
    _need(text.length is None or many * text.length <= size, f"{whose} has {attribute} longer than the file")
    listed = np.atleast_1d(group.attrs[attribute]).reshape(-1).tolist()
    names = [name.decode() if isinstance(name, bytes) else name for name in listed]
    _need(all(names), f"{whose} has {attribute} that are not names")
    return names


def _array(item: Any, what: str, size: int) -> h5py.Dataset:
    _need(isinstance(item, h5py.Dataset), f"{what}, which is not an array")
    _need(item.dtype.kind in "fiu" and item.shape is not None, f"{what} of type {item.dtype}, which are not numbers")
    properties = item.id.get_create_plist()
    here = not properties.get_external_count() and not item.is_virtual
    _need(here, f"{what} with its data in another file, which is not read")
    _need(not properties.get_nfilters(), f"{what} compressed, as Keras does not write it")
    for shape in (item.shape, item.chunks or ()):
        claimed = _bytes(shape, item.dtype)
        _need(claimed <= size, f"{what} that claims {claimed} bytes, and the file has {size}")
    return item


def _bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def _need(holds: bool, sentence: str) -> None:
    if not holds:
        raise ValueError(f"{sentence}.")
