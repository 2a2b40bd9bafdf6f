"""A model file for the learner in C: the texts that its states carry, and the programs that it runs, in one piece.

Bytes (little endian; docs/c.md; core/src/learner/model.cc reads the same), everything aligned to 64:

    header   "BITLEARN", u32 version, u32 crc32 of all that follows the field, u32 sections, u32 zero
    section  char name[16], u64 offset, u64 size                                            (32 bytes each)

    model, settings, versions   sections, as a state file has them (docs/state-format.md)
    own_size                 u64, the side of the images that the network was made for
    features                 the program: one image -> its features                  (exact)
    backbone                 the program: one image -> its latent                                (replay)
    tail0, tail1, ...        the tail with room for 16 classes, for 32 and so on
    rate                     text of a fraction: gain / power, from which rates are fitted
    shrinkage                4 u32, br_shrinkage, where it is not the default: version 3 instead of 2
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.program import Program
from bitreplay.export.c_learners import c_learner_of
from bitreplay.learner import Learner
from bitreplay.lifecycle.assembly import context_of
from bitreplay.sections import packed as packed_sections
from bitreplay.settings import Settings
from bitreplay.statefile.content import model_sections, settings_sections, version_sections
from bitreplay.strategies import STRATEGIES
from bitreplay.strategies.gradient import FIRST_ROOM
from bitreplay.strategies.requirements import DevicePrograms
from bitreplay.zoo import Model

MAGIC = b"BITLEARN"
VERSION, VERSION_WITH_SHRINKAGE = 2, 3
ALIGNMENT = 64
_HEADER = struct.Struct("<8sIIII")
_SECTION = struct.Struct("<16sQQ")


def model_image(model: Model, settings: Settings, classes: int = FIRST_ROOM) -> bytes:
    """For a learner that will know at most this many classes; those that train nothing have room for any number."""
    device = _device_programs(model, settings, classes)
    return packed(model, context_of(model, settings).settings, device.programs, device.texts)


def programs_of(model: Model, settings: Settings, classes: int = FIRST_ROOM) -> Mapping[str, Program]:
    """The programs in the image, by section."""
    return _device_programs(model, settings, classes).programs


def image_of(learner: Learner, classes: int = FIRST_ROOM) -> bytes:
    """For the model and settings of a learner, as `model_image`."""
    if learner.model is None:
        raise ValueError("This learner was not made from a model file, so it cannot be exported.")
    return model_image(learner.model, learner.settings, classes)


def _device_programs(model: Model, settings: Settings, classes: int) -> DevicePrograms:
    c_learner_of(settings.strategy)
    if not isinstance(settings.bits, Bits):
        raise ValueError(f"The learner in C computes in integers, got bits {settings.bits}.")
    return STRATEGIES[settings.strategy].device_programs(context_of(model, settings), classes)


def packed(
    model: Model, settings: Settings, programs: Mapping[str, Program], texts: Mapping[str, bytes] | None = None
) -> bytes:
    sections = {
        "model": packed_sections(model_sections(model.name, model.digest, settings.size or model.size)),
        "settings": packed_sections(settings_sections(settings)),
        "versions": packed_sections(version_sections(settings.strategy)),
        "own_size": struct.pack("<Q", model.size),
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
    version = VERSION_WITH_SHRINKAGE if "shrinkage" in sections else VERSION
    return _HEADER.pack(MAGIC, version, zlib.crc32(rest), 0, 0)[:16] + rest


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
