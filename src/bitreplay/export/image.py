"""A model file for the learner in C: the texts that its states carry, and the programs that it runs, in one piece.

Bytes (little endian; docs/c.md; core/src/learner/model.cc reads the same), everything aligned to 64:

    header   "BITLEARN", u32 version, u32 crc32 of all that follows the field, u32 sections, u32 zero
    section  char name[16], u64 offset, u64 size                                            (32 bytes each)

    model, settings, parts   JSON, as the texts of a state file have it
    features                 the program: one image -> the numbers of a picture                  (exact)
    backbone                 the program: one image -> its latent                                (replay)
    tail0, tail1, ...        the tail with room for 16 classes, for 32 and so on
    rate                     text of a fraction: gain / power, from which rates are fitted
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

from bitreplay.assembly import context_of
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.features import compile_features
from bitreplay.engine.program import Program
from bitreplay.learner import Learner
from bitreplay.rates import feature_power
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES
from bitreplay.strategies.gradient import FIRST_ROOM
from bitreplay.strategies.replay import Replay
from bitreplay.zoo import Model, projections

MAGIC = b"BITLEARN"
VERSION = 1
ALIGNMENT = 64
MAX_TAILS = 8
MAX_CLASSES = FIRST_ROOM << (MAX_TAILS - 1)
_HEADER = struct.Struct("<8sIIII")
_SECTION = struct.Struct("<16sQQ")


def exact_image(model: Model, settings: Settings) -> bytes:
    """For a learner by sums; settings as `Learner.settings` has them, which name the numbers of a picture."""
    if settings.strategy != "exact":
        raise ValueError(f"The learner in C has the strategy exact, got {settings.strategy}.")
    if not isinstance(settings.bits, Bits):
        raise ValueError(f"The learner in C works in whole numbers, got bits {settings.bits}.")
    return packed(model, context_of(model, settings).settings, {"features": features_of(model, settings)})


def features_of(model: Model, settings: Settings) -> Program:
    """The program of one picture's numbers."""
    assert isinstance(settings.bits, Bits)
    feature_layers, projection = projections.resolve(
        model, settings.feature_layers, settings.n_components, settings.projection
    )
    return compile_features(model.at_size(settings.size), feature_layers, settings.bits, 1, projection)


def replay_image(model: Model, settings: Settings, classes: int = FIRST_ROOM) -> bytes:
    """For a learner by replay that may come to know so many classes."""
    programs = replay_programs(model, settings, classes)
    context = context_of(model, settings)
    graph = context.graph
    features = next(t for t in programs["tail0"].tensors if t.name == f"{graph.nodes[-1].name}.weights").shape[1] - 1
    rate = Replay.gain / feature_power(graph, features)
    return packed(model, context.settings, programs, {"rate": str(rate).encode()})


def replay_programs(model: Model, settings: Settings, classes: int = FIRST_ROOM) -> dict[str, Program]:
    """Backbone of one picture, and a tail for each room that so many classes come to."""
    if settings.strategy != "replay":
        raise ValueError(f"The learner in C has the strategies exact and replay, got {settings.strategy}.")
    if not isinstance(settings.bits, Bits):
        raise ValueError(f"The learner in C works in whole numbers, got bits {settings.bits}.")
    if settings.augment:
        raise ValueError("The learner in C keeps no pictures to change them in each epoch: export with augment=False.")
    if settings.unknown:
        raise ValueError("The learner in C does not compare with stored samples: export replay with unknown=0.")
    if not 1 <= classes <= MAX_CLASSES:
        raise ValueError(f"classes must be a whole number from 1 to {MAX_CLASSES}, got {classes}.")
    context = context_of(model, settings)
    graph, replay_layer = context.graph, context.replay_layer
    programs = {"backbone": compile_backbone(graph, replay_layer, settings.bits, 1, settings.latent_bits)}
    room = FIRST_ROOM
    for number in range(MAX_TAILS):
        programs[f"tail{number}"] = compile_tail(
            graph, replay_layer, settings.bits, settings.minibatch_size, room, settings.latent_bits
        )
        if room >= classes:
            break
        room *= 2
    return programs


def image_of(learner: Learner, classes: int = FIRST_ROOM) -> bytes:
    """For the model and settings of a learner; by replay with room for so many classes, by exact for any number."""
    if learner.model is None:
        raise ValueError("This learner was not made from a model file, so it cannot be exported.")
    if learner.settings.strategy == "replay":
        return replay_image(learner.model, learner.settings, classes)
    return exact_image(learner.model, learner.settings)


def packed(
    model: Model, settings: Settings, programs: dict[str, Program], texts: dict[str, bytes] | None = None
) -> bytes:
    parts = {name: kind.version for name, kind in STRATEGIES[settings.strategy].kinds.items()}
    sections = {
        "model": _text({"name": model.name, "digest": model.digest}),
        "settings": _text(settings.to_file()),
        "parts": _text(parts),
        **(texts or {}),
        **{name: program.to_bytes() for name, program in programs.items()},
    }
    table, body = b"", b""
    start = _padded(_HEADER.size + _SECTION.size * len(sections))
    for name, content in sections.items():
        table += _SECTION.pack(name.encode(), start + len(body), len(content))
        body += content + b"\0" * (_padded(len(content)) - len(content))
    rest = struct.pack("<II", len(sections), 0) + table
    rest += b"\0" * (start - 16 - len(rest)) + body
    return _HEADER.pack(MAGIC, VERSION, zlib.crc32(rest), 0, 0)[:16] + rest


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _text(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
