"""A teacher's answers to fixed sets of views: given once, read by every pupil in every epoch.

Views are drawn from (seed, set), so a pupil makes the same views again, and no teacher runs beside it. Epoch e works
with set e modulo the number of sets; each view is mirrored or not anew, which the teacher would hardly notice. The file
lies beside the teacher's and says for which views it holds; others are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bitreplay.torch import tensorfile
from bitreplay.torch.pretraining.views import Minibatch, Views, view_for


def answers_of(teacher: Path) -> Path:
    """Where the answers of the teacher in this file lie."""
    return teacher.with_name(teacher.name + ".answers")


class Answers:
    """`logits[k]` (steps, N, classes) in bfloat16: what the teacher says of set k, minibatch by minibatch."""

    def __init__(self, logits: list[Tensor], note: dict[str, Any]) -> None:
        self.logits, self.note = logits, note

    def minibatches(self, views: Views, epoch: int) -> Iterator[tuple[Minibatch, Tensor]]:
        """The views of this epoch's set and the answers to them."""
        number = epoch % len(self.logits)
        coin = views.generator(epoch, 1001)
        for minibatch, answer in zip(views.minibatches(number), self.logits[number], strict=True):
            turned = torch.rand(len(answer), generator=coin, device=coin.device) < 0.5
            view = torch.where(turned.view(-1, 1, 1, 1), minibatch.view.flip(3), minibatch.view)
            yield minibatch._replace(view=view), answer


def ask(teacher: nn.Module, views: Views, sets: int, note: dict[str, Any]) -> Answers:
    """The answers to `sets` sets of views."""
    device = views.world.device
    model = teacher.to(device, memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
    found: list[Tensor] = []
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        for number in range(sets):
            answers = [model(view_for(model, minibatch.view)).bfloat16() for minibatch in views.minibatches(number)]
            found.append(torch.stack(answers))
    return Answers(found, note)


def save_answers(path: Path, answers: Answers) -> None:
    tensorfile.save(path, {str(number): logits for number, logits in enumerate(answers.logits)}, answers.note)


def load_answers(path: Path, note: dict[str, Any], device: torch.device) -> Answers:
    """The answers of a file whose note is this one."""
    tensors, found = tensorfile.load(path)
    different = [key for key in note if found.get(key) != note[key]]
    if different:
        told = ", ".join(f"{key} {found.get(key)}, not {note[key]}" for key in different)
        raise ValueError(f"{path} answers to other views: {told}. Remove it, or give the same settings.")
    return Answers([tensors[str(number)].to(device) for number in range(len(tensors))], found)
