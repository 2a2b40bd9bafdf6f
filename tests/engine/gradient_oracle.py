"""The gradients of a tail by float64 autograd through the engine's own forward values.

Every activation of the oracle takes the value that the engine stored, with the derivative of the real formula. So what
differs is the arithmetic of the backward pass alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.packing import signs
from bitreplay.engine.arithmetic.quant import Activation
from bitreplay.engine.graph import Fixed, Graph
from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import Program, Record
from bitreplay.engine.reference import Memory


class _TriangleSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0).double()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return g * torch.clamp(2 - 2 * x.abs(), min=0)


def real(fixed: Fixed) -> torch.Tensor:
    return torch.from_numpy(fixed.values.astype(np.float64) * 2.0**-fixed.shift)


def oracle_gradients(
    graph: Graph, replay_layer: str, forward_bits: int, machine: Memory, labels: NDArray, samples: int
) -> dict[str, NDArray]:
    """dL/dgamma, dL/dbeta and dL/d(head weights, bias) of the summed loss, by node name."""
    leaves: dict[str, torch.Tensor] = {}

    def stored(name: str) -> torch.Tensor:
        spec = Activation.of_range(*graph.ranges[name], forward_bits)
        values = machine.read(name, samples).astype(np.float64)
        return torch.from_numpy((values - spec.zero) * float(spec.scale)).permute(0, 3, 1, 2)

    def through(name: str, formula: torch.Tensor) -> torch.Tensor:
        return formula + (stored(name) - formula).detach()

    values = {replay_layer: stored(replay_layer)}
    for node in graph.nodes[graph.position(replay_layer) + 1 :]:
        x = values[node.inputs[0]]
        if node.kind == "sign":
            values[node.name] = _TriangleSign.apply(x)
        elif node.kind == "binary_conv":
            weights, scale = node.arrays["weights"], node.arrays["scale"]
            assert isinstance(weights, np.ndarray) and isinstance(scale, Fixed)
            w = torch.from_numpy(signs(weights, x.shape[1]).astype(np.float64)).permute(0, 3, 1, 2)
            values[node.name] = torch.nn.functional.conv2d(x, w, padding=1) * real(scale)[:, None, None]
        elif node.kind == "batchnorm":
            p = {key: real(array).reshape(-1, 1, 1) for key, array in node.arrays.items() if isinstance(array, Fixed)}
            gamma = leaves[f"{node.name}.gamma"] = p["gamma"].requires_grad_()
            beta = leaves[f"{node.name}.beta"] = p["beta"].requires_grad_()
            y = gamma * (x - p["mean"]) * p["inverse_sigma"] + beta
            values[node.name] = through(node.name, y + values[node.inputs[1]] if len(node.inputs) > 1 else y)
        elif node.kind == "average_pool":
            values[node.name] = through(node.name, x.mean(dim=(2, 3), keepdim=True))
        else:
            assert node.kind == "dense"
            operand = machine.read(f"{node.name}.operand").astype(np.float64)
            exponent = int(machine.read(f"{node.name}.exponent")[0])
            w = leaves[f"{node.name}.w"] = torch.from_numpy(operand * 2.0 ** (exponent - 28)).requires_grad_()
            bias = machine.read(f"{node.name}.weights")[:, -1] * 2.0**-28
            b = leaves[f"{node.name}.b"] = torch.from_numpy(bias).requires_grad_()
            formula = x.flatten(1) @ w.T + b
            held = torch.from_numpy(machine.read("logits", samples) * 2.0**-16)
            logits = formula + (held - formula).detach()
    target = torch.from_numpy(labels.astype(np.int64))
    torch.nn.functional.cross_entropy(logits, target, reduction="sum").backward()
    return {name: leaf.grad.numpy().squeeze() for name, leaf in leaves.items() if leaf.grad is not None}


def engine_gradients(graph: Graph, program: Program, machine: Memory) -> dict[str, NDArray]:
    """The same gradients from the accumulators that the update would use."""
    found = {}
    for record in program.records:
        if record.operation == "batchnorm_update":
            t, a, name = _roles(program, machine, record)
            exponent = float(t["pe"][0])
            centred = t["p"] * 2.0 ** a["mean_shift"] - t["mean"].astype(np.float64) * t["q"]
            step = a["gamma_mantissa"] * 2.0 ** -a["gamma_shift"] * 2.0**-28
            found[f"{name}.gamma"] = centred * t["factor"] * 2.0 ** (exponent - a["mean_shift"]) * step
            beta = graph.node(name).arrays["beta"]
            assert isinstance(beta, Fixed)
            beta_unit = 2.0**-beta.shift
            found[f"{name}.beta"] = t["q"] * 2.0**exponent * a["beta_mantissa"] * 2.0 ** -a["beta_shift"] * beta_unit
        elif record.operation == "dense_update":
            t, a, name = _roles(program, machine, record)
            unit = 2.0 ** (float(t["ge"][0]) - 28)
            found[f"{name}.w"] = t["gw"][:, :-1] * (a["mantissa"] * 2.0 ** -a["shift"] * unit)
            found[f"{name}.b"] = t["gw"][:, -1] * (a["bias_mantissa"] * 2.0 ** -a["bias_shift"] * unit)
    return found


def _roles(program: Program, machine: Memory, record: Record) -> tuple[dict[str, NDArray], dict[str, int], str]:
    entry = OPERATIONS[record.operation]
    names = {role: program.tensors[n].name for role, n in zip(entry.tensors, record.tensors, strict=True)}
    tensors = {role: machine.read(name) for role, name in names.items()}
    name = program.tensors[record.tensors[0]].name.rpartition(".")[0]
    return tensors, dict(zip(entry.attributes, record.attributes, strict=True)), name
