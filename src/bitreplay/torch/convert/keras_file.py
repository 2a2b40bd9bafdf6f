"""Weights that Keras saved as HDF5: its layers in the order of the network, each with its arrays by name.

A file lists the names of its layers in the attribute `layer_names`, and each layer's group those of its arrays in
`weight_names`; a whole saved model holds the same one group deeper. Whatever else a file holds is refused in a
sentence. Arrays are read one by one, when their shapes are known to fit.
"""

from __future__ import annotations

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
            raise KerasFileError(f"Layer {self.name} has {key} with values that are no numbers.")
        return values


@contextmanager
def opened(path: str | Path) -> Iterator[h5py.File]:
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
    root = file.get("model_weights", file)
    _need(isinstance(root, h5py.Group), "model_weights is no group")
    if "layer_names" not in root.attrs and "layers" in root:
        raise KerasFileError(
            f"{file.filename} has the layout of newer Keras (.weights.h5), without the order of its layers; save the "
            "whole model, model.save('NAME.h5'), or with Keras 2 its weights, model.save_weights('NAME_weights.h5')."
        )
    found = []
    for name in _names(root, "layer_names", "the file"):
        group = root.get(name)
        _need(isinstance(group, h5py.Group), f"layer {name[:60]} is no group")
        weights = {
            key.rpartition("/")[2].partition(":")[0]: _array(group.get(key), name, key)
            for key in _names(group, "weight_names", f"layer {name[:60]}")
        }
        if weights:
            found.append(KerasLayer(name[:60], weights))
    return found


def _names(group: h5py.Group, attribute: str, whose: str) -> list[str]:
    listed: Any = group.attrs.get(attribute)
    _need(listed is not None, f"{whose} has no {attribute}")
    names = [name.decode() if isinstance(name, bytes) else name for name in np.atleast_1d(listed).reshape(-1).tolist()]
    _need(all(isinstance(name, str) and name for name in names), f"{whose} has {attribute} that are no names")
    return names


def _array(found: Any, layer: str, key: str) -> h5py.Dataset:
    what = f"layer {layer[:60]} has {key[:60]}"
    _need(isinstance(found, h5py.Dataset), f"{what}, which is no array")
    _need(found.dtype.kind in "fiu" and found.shape is not None, f"{what} of type {found.dtype}, which are no numbers")
    return found


def _need(holds: bool, sentence: str) -> None:
    if not holds:
        raise ValueError(f"{sentence}.")
