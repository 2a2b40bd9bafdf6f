"""One process, or several under torchrun: the rank of this one, and the few sums that all share.

A group's threads must end before the interpreter does: one that lets go of a tensor while Python shuts down aborts the
process. They end with the last reference to the group, and two things hold on to one: DistributedDataParallel objects,
and modules first imported while the group exists, since some take it as the default of an argument.
"""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch import distributed as dist


def resolve_device(device: str | None, local: int) -> torch.device:
    """The device of the process that is number `local` on its machine; "cuda" without a number is its own GPU."""
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    name = device or ("cuda" if n_gpus else "cpu")
    try:
        chosen = torch.device(name)
    except RuntimeError:
        raise ValueError(f"The device is {name!r}; expected cpu, cuda or cuda:NUMBER.") from None
    if chosen.type != "cuda":
        return chosen
    chosen = torch.device("cuda", local if chosen.index is None else chosen.index)
    if chosen.index >= n_gpus:
        raise ValueError(f"The device is {chosen}, but PyTorch finds {n_gpus} GPUs.")
    return chosen


@dataclass(frozen=True)
class World:
    """`rank` of `size` processes, on `device`."""

    rank: int
    size: int
    device: torch.device

    @staticmethod
    def rank_here() -> int:
        """The rank of this process, also without a group."""
        return int(os.environ.get("RANK", "0"))

    @classmethod
    @contextmanager
    def join(cls, device: str | None = None) -> Iterator[World]:
        """Read torchrun's environment; without it there is one process. `device` None: a GPU when there is one.

        Whatever was built on the group has to be out of reach when the block ends.
        """
        size, rank = int(os.environ.get("WORLD_SIZE", "1")), cls.rank_here()
        chosen = resolve_device(device, int(os.environ.get("LOCAL_RANK", "0")))
        if chosen.type == "cuda":
            torch.cuda.set_device(chosen)
        if size == 1:
            yield cls(rank, size, chosen)
            return
        importlib.import_module("torch.distributed.nn.functional")  # DistributedDataParallel would, too late
        dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
        try:
            yield cls(rank, size, chosen)
        finally:
            dist.destroy_process_group()
            gc.collect()

    def total(self, value: Tensor) -> Tensor:
        """Sum over all processes."""
        if self.size > 1:
            dist.all_reduce(value)
        return value

    def agree_on_mean(self, value: float) -> float:
        """The mean over all processes."""
        return self.total(torch.tensor(value, dtype=torch.float64, device=self.device)).item() / self.size

    def agree(self, value: float) -> float:
        """The value that process 0 has."""
        if self.size == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=self.device)
        dist.broadcast(shared, 0)
        return shared.item()
