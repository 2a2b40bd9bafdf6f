"""A teacher's answers to fixed sets of views: computed once, read by every student in every epoch.

Views are drawn from (seed, set), so a student makes the same views again, and no teacher runs beside it. Epoch e works
with set e modulo the number of sets of its kind; each view is mirrored at random, which hardly changes
the answers. A kind is "blended" or "plain".

The answers are in a folder beside the teacher's weights: `note.json` says which views they belong to,
KIND_K.safetensors has those to set K, (steps, N, classes + features) in bfloat16. Missing sets are computed, answers to
other views are refused. One set is in memory at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bitreplay.torch import tensorfile
from bitreplay.torch.pretraining.feature_match import logits_and_features
from bitreplay.torch.pretraining.views import Minibatch, Views, view_for

NOTE = "note.json"


def answers_of(teacher: Path) -> Path:
    """The folder for the answers of the teacher in this file."""
    return teacher.with_name(teacher.name + ".answers")


class Kind(NamedTuple):
    """Sets 0 to `sets` - 1 of these views."""

    views: Views
    sets: int


class Answers:
    """`note` says which views the answers belong to; `classes` logits and `features` features are read."""

    def __init__(self, folder: Path, kinds: Mapping[str, Kind], note: Mapping[str, Any]) -> None:
        self.folder, self.kinds, self.note = folder, kinds, dict(note)
        self.width = self.note["classes"] + self.note["features"]
        if folder.is_file():
            raise ValueError(f"{folder} is a file; expected a folder of answers, one file per set. Remove it.")
        if not (folder / NOTE).exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / NOTE).write_text(json.dumps(self.note))
        self.stored_note: dict[str, Any] = json.loads((folder / NOTE).read_text())
        required = {key: x for key, x in self.note.items() if key != "features" or x}  # features serve all students
        different = [key for key in required if self.stored_note.get(key) != required[key]]
        if different:
            differences = ", ".join(f"{key} {self.stored_note.get(key)}, not {required[key]}" for key in different)
            raise ValueError(f"{folder} belongs to other views: {differences}. Remove it, or use the same settings.")

    def path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}_{number}.safetensors"

    def ask(self, teacher: nn.Module, say: Callable[[str], None]) -> None:
        """Compute the missing answers, set by set: a run that was killed resumes with the next."""
        every = [(kind, number) for kind in self.kinds for number in range(self.kinds[kind].sets)]
        missing = [(kind, number) for kind, number in every if not self.path(kind, number).exists()]
        if missing:
            say(f"the teacher judges {len(missing)} sets of views")
        for kind, number in missing:
            answers = judge(teacher, self.kinds[kind].views, number, self.stored_note["features"] > 0)
            tensorfile.save(self.path(kind, number), {"answers": answers}, self.stored_note)

    def of_set(self, kind: str, number: int) -> Tensor:
        """(steps, N, classes + features)"""
        tensors, _ = tensorfile.load(self.path(kind, number))
        return tensors["answers"][..., : self.width].to(self.kinds[kind].views.world.device)

    def minibatches(self, kind: str, epoch: int) -> Iterator[tuple[Minibatch, Tensor]]:
        """The views of this epoch's set and the answers to them."""
        views, sets = self.kinds[kind]
        number, coin = epoch % sets, views.generator(epoch, 1001)
        for minibatch, answer in zip(views.minibatches(number), self.of_set(kind, number), strict=True):
            turned = torch.rand(len(answer), generator=coin, device=coin.device) < 0.5
            view = torch.where(turned.view(-1, 1, 1, 1), minibatch.view.flip(3), minibatch.view)
            yield minibatch._replace(view=view), answer

    def mean_features(self) -> Tensor:
        """Over the first set of blended views."""
        return self.of_set("blended", 0)[..., self.note["classes"] :].float().mean(dim=(0, 1))


def judge(teacher: nn.Module, views: Views, number: int, features: bool) -> Tensor:
    """A teacher's logits for one set, minibatch by minibatch; with the inputs of its head if `features`."""
    device, answers = views.world.device, list[Tensor]()
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        for minibatch in views.minibatches(number):
            view = view_for(teacher, minibatch.view)
            answers.append((logits_and_features(teacher, view) if features else teacher(view)).bfloat16())
    return torch.stack(answers)
