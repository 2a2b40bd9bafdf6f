"""A trained module becomes the graph that the engine runs.

    graph, provenance = convert(module, images, class_names=names)

`images` are some hundred uint8 pictures (N, H, W, C) like those the module was trained on. They fix the ranges of the
activations and the codes of the replay layers; with `reestimate` they also renew the tail's BatchNorm statistics for
one replay layer and code. Pictures of further sizes (`also`) fix the ranges at these sizes, and nothing else. The
module itself is not changed.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx, nn

from bitreplay.engine.graph import Graph, LatentCode, Node, Ranges
from bitreplay.engine.layers.latent_code import LATENT_BITS
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.checks import check
from bitreplay.modelfile.input_sizes import check_sizes
from bitreplay.torch.convert.latent_code import WIDTHS, decode, latent_code
from bitreplay.torch.convert.layer_table import WEIGHT_BITS, ConversionError
from bitreplay.torch.convert.lowering import Lowered, Lowering, clipped_inside, windows
from bitreplay.torch.convert.narrow_weights import narrow_weights
from bitreplay.torch.convert.ranges import Spread, behind, reestimate_tail, shapes_of, wake_channels, watch, watch_tail
from bitreplay.torch.models.layers import trace

# At 8 bits Bi-Real-18 keeps 45 to 46 % of 46.05 % top-1 (2000 images) with shares of 0.0001 to 0.001, 43.9 % with 0.
OUTSIDE = 0.001
TAIL_HEADROOM = 1.25
MAX_SAMPLES = 1 << 15


def convert(
    module: nn.Module,
    images: NDArray[np.uint8],
    *,
    class_names: Sequence[str],
    replay_layers: dict[str, str] | None = None,
    replay_layer: str | None = None,
    latent_bits: int = 1,
    reestimate: bool = False,
    outside: float = OUTSIDE,
    headroom: float = TAIL_HEADROOM,
    learn_convolutions: bool = False,
    weight_bits: int = WEIGHT_BITS,
    also: Sequence[NDArray[np.uint8]] = (),
) -> tuple[Graph, dict[str, Any]]:
    """Convert a trained module into the graph that the engine runs.

    Parameters
    ----------
    module : nn.Module
        It is not changed.
    images : ndarray of uint8
        (N, height, width, 3), some hundred pictures like those it was trained on.
    class_names : sequence of str
        One per output of the head.
    replay_layers : dict, optional
        The name of each replay layer and its module path; by default `module.replay_layers`.
    replay_layer : str, optional
        The one that `reestimate` is for; by default the first.
    latent_bits : int, default 1
        The code that `reestimate` is for.
    reestimate : bool, default False
        Estimate the statistics of the BatchNorms behind `replay_layer` on coded values.
    outside : float, optional
        The share of values at either end that ranges leave out.
    headroom : float, optional
        The factor that widens ranges behind the lowest replay layer, where gamma, beta and the head move.
    learn_convolutions : bool, default False
        Let the real-valued convolutions behind the lowest replay layer learn in a tail.
    weight_bits : int, default 16
        Bits of real-valued weights in the file: 16, or 8, which is all that is used at q_f = 8.
    also : sequence of ndarray, optional
        Pictures of further sizes, to calibrate ranges there.

    Returns
    -------
    graph : Graph
    provenance : dict
        How it was made, for the model file.

    Raises
    ------
    ConversionError
        If the module has a layer that the engine lacks, or an argument does not fit.

    Examples
    --------
    >>> from bitreplay.torch.models import build
    >>> images = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3), np.uint8)
    >>> module = build("vgg_small", 2, widths=(8, 8, 8))
    >>> graph, provenance = convert(module, images, class_names=["kiwi", "pear"])
    >>> list(graph.shapes), provenance["calibration_images"]
    (['conv_5'], 8)
    """
    named = dict(getattr(module, "replay_layers", {}) if replay_layers is None else replay_layers)
    chosen = replay_layer if replay_layer is not None else next(iter(named), None)
    if chosen is not None and chosen not in named:
        raise ConversionError(f"There is no replay layer {chosen!r}; expected one of {', '.join(named)}.")
    _check_arguments((images, *also), outside, latent_bits, weight_bits)

    traced = trace(copy.deepcopy(module).cpu().float().eval())
    try:
        shapes = shapes_of(traced, images)
    except RuntimeError as error:
        height, width = images.shape[1:3]
        reason = " ".join(str(error).split())
        raise ConversionError(f"The module cannot read images of {height}x{width}: {reason}.") from error
    lowered = Lowering(traced, shapes, named).run()
    _check_replay_layers(lowered, named)
    at = {name: lowered.values[name] for name in named}
    ranged = lowered.ranged()
    spreads, latents = watch(traced, images, ranged.values(), at.values())
    for node, norm in Lowering(traced, shapes, named).norms_before_signs().items():
        wake_channels(norm, spreads[node])
    codes = {name: {bits: code_of(latents[node], bits) for bits in WIDTHS} for name, node in at.items()}
    if chosen is not None and reestimate:
        reestimate_tail(traced, at[chosen], _decoded(latents[at[chosen]], codes[chosen].get(latent_bits)))
    lowered = Lowering(traced, shapes, named).run()
    moving = behind(traced, *at.values())

    def ranges_of(spreads: dict[fx.Node, Spread], latents: dict[fx.Node, Tensor]) -> Ranges:
        if chosen is not None:
            plain = latents[at[chosen]]
            coded = _decoded(plain, codes[chosen].get(latent_bits))
            tail = {node: Spread() for node in spreads if node in behind(traced, at[chosen])}
            watch_tail(traced, at[chosen], torch.cat([plain, coded]), tail)
            spreads = spreads | tail
        ranges = {n: spreads[node].range(outside, headroom if node in moving else 1.0) for n, node in ranged.items()}
        for name, (low, high) in windows(lowered.nodes).items():
            if name in ranges and name not in named:
                ranges[name] = (max(ranges[name][0], low), min(ranges[name][1], high))
        for name, source in clipped_inside(lowered.nodes).items():
            if source in ranges and source not in named:
                ranges[name] = ranges[source]
        return ranges

    ranges = ranges_of(spreads, latents)
    height, width, colours = images.shape[1:]
    level_shapes = {name: (s[2], s[3], s[1]) for name, node in at.items() if (s := shapes[node])}
    nodes = _learning(lowered.nodes, named) if learn_convolutions else lowered.nodes
    nodes = narrow_weights(nodes, named) if weight_bits == 8 else nodes
    ranges_at = dict.fromkeys([some.shape[1] for some in also], ranges)
    graph = Graph((height, width, colours), nodes, ranges, level_shapes, codes, list(class_names), ranges_at)
    _check_head(graph)
    try:
        check_sizes(graph, check(graph))
    except ModelFileError as error:
        raise ConversionError(str(error)) from error
    for some in also:
        ranges_at[some.shape[1]] = ranges_of(*watch(traced, some, ranged.values(), at.values()))
    return graph, {
        "calibration_images": len(images),
        "calibration_sha256": hashlib.sha256(images.tobytes()).hexdigest(),
        "range_outside": outside,
        "range_headroom": headroom,
        **({"range_sizes": sorted({height, *ranges_at})} if also else {}),
        "reestimated": {"level": chosen, "code_bits": latent_bits} if reestimate and chosen is not None else None,
    }


def _rows(values: Tensor) -> NDArray[np.float32]:
    """(N, C, H, W) -> (N, H, W, C)"""
    return values.permute(0, 2, 3, 1).contiguous().numpy()


def code_of(values: Tensor, bits: int) -> LatentCode:
    """The code of a replay layer from its values (N, C, H, W)."""
    rows = _rows(values).reshape(-1, values.shape[1])
    return latent_code(rows[:: -(-len(rows) // MAX_SAMPLES)], bits)


def _decoded(values: Tensor, code: LatentCode | None) -> Tensor:
    """What the tail sees; wide codes (8 bits and more) keep what matters."""
    if code is None:
        return values
    return torch.from_numpy(decode(_rows(values), code)).permute(0, 3, 1, 2).contiguous()


def _check_arguments(pictures: Sequence[NDArray[np.uint8]], outside: float, latent_bits: int, weight_bits: int) -> None:
    for images in pictures:
        if images.dtype != np.uint8 or images.ndim != 4 or len(images) == 0:
            expected = "uint8 (N, height, width, colours)"
            raise ConversionError(f"Images are {images.dtype} {images.shape}; expected {expected}.")
    if not 0 <= outside < 0.5:
        raise ConversionError(f"outside is {outside}; expected a share from 0 to below 0.5.")
    if latent_bits not in LATENT_BITS:
        raise ConversionError(f"latent_bits is {latent_bits}; expected one of {', '.join(map(str, LATENT_BITS))}.")
    if weight_bits not in (8, WEIGHT_BITS):
        raise ConversionError(f"weight_bits is {weight_bits}; expected 8 or {WEIGHT_BITS}.")


def _learning(nodes: list[Node], replay_layers: dict[str, str]) -> list[Node]:
    """The same nodes, with the real-valued convolutions behind the lowest replay layer marked to learn."""
    first = min((index for index, node in enumerate(nodes) if node.name in replay_layers), default=len(nodes))
    learns = [
        index > first and node.kind in ("integer_conv", "depthwise_conv") and "learns" not in node.attributes
        for index, node in enumerate(nodes)
    ]
    return [
        replace(node, attributes=node.attributes | {"learns": 1}) if learn else node
        for node, learn in zip(nodes, learns, strict=True)
    ]


def _check_replay_layers(lowered: Lowered, replay_layers: dict[str, str]) -> None:
    nodes, names = lowered.nodes, [node.name for node in lowered.nodes]
    for replay_layer, path in replay_layers.items():
        if replay_layer not in names:
            raise ConversionError(f"Replay layer {replay_layer!r} names {path!r}, which is not a layer of the module.")
        index = names.index(replay_layer)
        if replay_layer not in lowered.ranged():
            raise ConversionError(f"Replay layer {replay_layer!r} is of kind {nodes[index].kind}, which has no code.")
        for node in nodes[index + 1 :]:
            early = [name for name in node.inputs if names.index(name) < index]
            if early:
                raise ConversionError(
                    f"Replay layer {replay_layer!r} is not a cut: {node.name} after it reads {early[0]} before it."
                )


def _check_head(graph: Graph) -> None:
    head = graph.nodes[-1]
    if head.kind != "dense":
        raise ConversionError(f"The last layer {head.name} is of kind {head.kind}; expected a linear head.")
    classes = len(head.arrays["bias"].values)  # type: ignore[union-attr]
    if len(graph.labels) != classes:
        raise ConversionError(f"There are {len(graph.labels)} class names for a head of {classes} classes.")
