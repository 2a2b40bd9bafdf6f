"""One process, or several under torchrun: who am I, and the few sums that all must agree on."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
from torch import Tensor
from torch import distributed as dist


@dataclass(frozen=True)
class World:
    """`rank` of `size` processes, on `device`."""

    rank: int
    size: int
    device: torch.device

    @classmethod
    def join(cls, device: str | None = None) -> World:
        """Read torchrun's environment; without it there is one process. `device` None: a GPU when there is one."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        rank, local = int(os.environ.get("RANK", "0")), int(os.environ.get("LOCAL_RANK", "0"))
        chosen = torch.device(device or (f"cuda:{local}" if torch.cuda.is_available() else "cpu"))
        if chosen.type == "cuda":
            torch.cuda.set_device(chosen)
        if size > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
        return cls(rank, size, chosen)

    def leave(self) -> None:
        if self.size > 1:
            dist.destroy_process_group()

    def total(self, value: Tensor) -> Tensor:
        """Sum over all processes."""
        if self.size > 1:
            dist.all_reduce(value)
        return value

    def agree(self, value: float) -> float:
        """The value that process 0 has."""
        if self.size == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=self.device)
        dist.broadcast(shared, 0)
        return shared.item()
