"""PyTorch's settings: number type, memory layout, torch.compile. The fastest is found by timing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch._inductor import config as inductor_config
from torch.nn import functional as F

Work = Callable[[], object]


@dataclass(frozen=True)
class Setting:
    """`bits16`: "no", "all" (weights and activations are bf16) or "auto" (autocast: fp32 weights, bf16 arithmetic)."""

    bits16: str
    channels_last: bool
    compiled: bool

    def __str__(self) -> str:
        number = {"no": "fp32", "all": "bf16", "auto": "bf16 autocast"}[self.bits16]
        layout = " channels last" if self.channels_last else ""
        return f"{number}{layout}{' compiled' if self.compiled else ''}"


def settings(compiled: bool, numbers: tuple[str, ...] = ("no", "all", "auto")) -> Iterator[Setting]:
    for number in numbers:
        for channels_last in (False, True):
            yield Setting(number, channels_last, False)
            if compiled:
                yield Setting(number, channels_last, True)


def _placed(module: nn.Module, x: Tensor, setting: Setting) -> tuple[nn.Module, Tensor]:
    module, layout = copy.deepcopy(module), torch.channels_last if setting.channels_last else torch.contiguous_format
    if setting.bits16 == "all":
        module, x = module.bfloat16(), x.bfloat16()
    module.to(memory_format=layout)  # type: ignore[call-overload]
    return module, x.contiguous(memory_format=layout)


def inference(module: nn.Module, x: Tensor, setting: Setting) -> Work:
    """One forward pass. Compiled modules are frozen: BatchNorm folded, weights laid out for the kernels."""
    net, x = _placed(module.eval(), x, setting)
    automatic = setting.bits16 == "auto"
    call = torch.compile(net, dynamic=False) if setting.compiled else net

    def work() -> Tensor:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=automatic):
            return call(x)

    with inductor_config.patch(freezing=True):  # the first call compiles
        work()
    return work


def training(module: nn.Module, x: Tensor, labels: Tensor, setting: Setting) -> Work:
    """One step of plain SGD on the parameters that ask for a gradient; BatchNorm keeps its statistics."""
    net, x = _placed(module.eval(), x, setting)
    return step_of(net, x, labels, automatic=setting.bits16 == "auto", compiled=setting.compiled)


def step_of(net: nn.Module, x: Tensor, labels: Tensor, *, automatic: bool = False, compiled: bool = False) -> Work:
    optimiser = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=1e-3)

    def loss(x: Tensor, labels: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=automatic):
            logits = net(x)
        return F.cross_entropy(logits.float(), labels)

    call = torch.compile(loss, dynamic=False) if compiled else loss

    def work() -> None:
        optimiser.zero_grad()
        call(x, labels).backward()
        optimiser.step()

    return work
