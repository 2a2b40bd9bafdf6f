"""How long does a training step of Bi-Real-18's tail take? Latents (4, 4, 512), bits 8/1/16: binary weights frozen."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import ours
from benchmarks.bench.peers import Bench, Peer, plain_fp32, target_on
from benchmarks.bench.row import Row
from bitreplay.engine.bit_widths import Bits

# minibatch: ratios wanted to PyTorch fp32 on AVX-512 and on other instruction sets, and to its best setting
TARGETS: dict[int, tuple[float, float, float | None]] = {
    1: (15, 15, None), 8: (9, 8, None), 32: (7, 6.5, 4), 128: (6, 6, None)
}  # fmt: skip
TRAINED_STEPS = 4  # that a call takes where weights learn


def rows(bench: Bench) -> Iterator[Row]:
    for minibatch, (avx512, others, best) in TARGETS.items():
        yield from contest(bench, "tail", Bits(8, 1, 16), minibatch, target_on(avx512, others), best)


def contest(bench: Bench, question: str, bits: Bits, minibatch: int, plain: float, best: float | None) -> Iterator[Row]:
    """PyTorch's best setting is looked for only where a ratio to it is wanted: it compiles for each minibatch."""
    trained = bits.backward_binary > 1
    size = (minibatch, ours.CLASSES, trained)
    peers = [Peer("PyTorch fp32", "PyTorch", lambda t: plain_fp32(t.bireal18_step(*size, False)), plain)]
    if best is not None:
        peers.append(Peer("best PyTorch", "PyTorch", lambda t: t.bireal18_step(*size, bench.compiled), best))
    steps = TRAINED_STEPS if trained else 1
    work = ours.tail_step(
        ours.tail_program(ours.bireal18(), ours.REPLAY_LAYER, bits, minibatch), minibatch, steps=steps
    )
    weights = f"{bits.backward_binary}-bit weights trained" if trained else "binary weights frozen"
    yield from bench.contest(question, f"tail step of {minibatch}, {weights}", work, peers, steps)
