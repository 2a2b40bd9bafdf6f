"""How much a program does for one sample: multiplications by kind, and elements that everything else touches.

binary     signs * signs, counted one by one, whatever a word holds      binary_conv
signed     numbers * signs: gradients through binary weights             binary_conv_input_grad, latent_update
whole      numbers * numbers                                             other convolutions, the head
elements   the largest tensor of every other operation
"""

from __future__ import annotations

from collections import Counter
from math import prod

from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import Program, Record

KINDS = ("binary", "signed", "whole", "elements")
# operation -> kind, the tensor that has the output's shape, the weights (outputs, rows, columns, ...)
DENSE = {
    "binary_conv": ("binary", "sums", "w"),
    "binary_conv_input_grad": ("signed", "g", "w"),
    "latent_update": ("signed", "g", "latent"),
    "integer_conv": ("whole", "sums", "w"),
    "learned_conv": ("whole", "sums", "w"),
    "integer_conv_input_grad": ("whole", "g", "w"),
    "learned_conv_update": ("whole", "g", "weights"),
    "dense": ("whole", "logits", "operand"),
    "dense_input_grad": ("whole", "g", "operand"),
    "dense_param_grad": ("whole", "g", "gw"),
}
DEPTHWISE = {
    "depthwise_conv": ("sums", "w"),
    "learned_depthwise": ("sums", "w"),
    "depthwise_conv_input_grad": ("g", "w"),
    "learned_depthwise_update": ("g", "weights"),
}


def count(program: Program, lists: tuple[str, ...]) -> Counter[str]:
    """The work for one sample, by kind, in these lists of the program."""
    counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for record in program.records:
        if record.list in lists:
            kind, count = _record(program, record)
            counts[kind] += count
    return counts


def _record(program: Program, record: Record) -> tuple[str, int]:
    entry = OPERATIONS[record.operation]
    tensors = {role: program.tensors[n] for role, n in zip(entry.tensors, record.tensors, strict=True) if n >= 0}
    attributes = dict(zip(entry.attributes, record.attributes, strict=True))
    if record.operation in DENSE:
        kind, out, weights = DENSE[record.operation]
        taps = prod(tensors[weights].shape[1:-1])  # rows, columns; none for the head
        inputs = attributes.get("channels", tensors[weights].shape[-1])
        return kind, prod(tensors[out].shape) * taps * inputs
    if record.operation in DEPTHWISE:
        out, weights = DEPTHWISE[record.operation]
        return "whole", prod(tensors[out].shape) * prod(tensors[weights].shape[1:])  # (channels, rows, columns)
    return "elements", max((prod(tensor.shape) for tensor in tensors.values() if tensor.per_sample), default=0)
