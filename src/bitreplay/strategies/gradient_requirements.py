"""What learning by gradient steps needs: planned from settings, and used by a strategy that has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bitreplay.engine import minibatch_parts
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.parts.tail import Tail
from bitreplay.strategies.requirements import FROZEN_BATCH, RAM, Item, Requirements, program_items, used_by_program

if TYPE_CHECKING:
    from bitreplay.strategies.gradient import Gradient
    from bitreplay.strategies.strategy import StrategyContext

SAMPLE_RECORD_BYTES = 12  # a stored sample's experience and number, beside its latents


def planned(kind: type[Gradient], context: StrategyContext, classes: int, room: int) -> Requirements:
    """For this many classes, with the memory full; head and tail have `room`."""
    settings = context.settings
    assert isinstance(settings.bits, Bits)
    backbone = compile_backbone(context.graph, context.replay_layer, settings.bits, FROZEN_BATCH, settings.latent_bits)
    micro_batch_size = min(settings.micro_batch_size or settings.minibatch_size, settings.minibatch_size)
    in_parts = micro_batch_size < settings.minibatch_size
    tail = compile_tail(context.graph, context.replay_layer, settings.bits, micro_batch_size, room,
                        settings.latent_bits, train=kind.trains, in_parts=in_parts)  # fmt: skip
    head = room * 4 * tail.tensor(f"{context.graph.nodes[-1].name}.weights").shape[1] + room * 8
    latent_bytes = backbone.tensor("latents").sample_bytes
    samples = classes * settings.memory_per_class if kind.stores_samples else 0
    items = (
        *program_items("backbone", backbone),
        *program_items("tail", tail),
        Item(RAM, "tail", "sums of a sample", minibatch_parts.work_bytes(tail) if in_parts else 0),
        Item(RAM, "head", "consolidated weights and counts", head),
        Item(RAM, "memory", f"{samples} samples of {latent_bytes} bytes", samples * latent_bytes),
        Item(RAM, "memory", "their numbers", samples * SAMPLE_RECORD_BYTES),
    )
    learned = sum(tensor.bytes(1) for tensor in tail.tensors if tensor.region == "parameter")
    stored = samples * (latent_bytes + SAMPLE_RECORD_BYTES) + (16 * classes if samples else 0)
    passes = 2 if in_parts else 1  # exponents are measured first, then sums are added up
    return Requirements(items, learned + head + stored, {"backbone": backbone, "tail": tail}, "tail", passes)


def used(strategy: Gradient, tail: Tail) -> dict[tuple[str, str], int]:
    """Bytes of RAM, as `planned` names them."""
    reservoirs = strategy.memory.reservoirs.values()
    latent_bytes = 8 * int(np.prod(strategy.latent_shape))
    samples = f"{len(strategy.memory)} samples of {latent_bytes} bytes"
    return {
        **used_by_program("backbone", strategy.backbone.footprint),
        **used_by_program("tail", tail.footprint),
        ("tail", "sums of a sample"): tail.parts_bytes,
        ("head", "consolidated weights and counts"): strategy.head.consolidated_weights.nbytes
        + strategy.head.past.nbytes,
        ("memory", samples): sum(reservoir.latents.nbytes for reservoir in reservoirs),
        ("memory", "their numbers"): sum(reservoir.origins.nbytes + reservoir.ids.nbytes for reservoir in reservoirs),
    }
