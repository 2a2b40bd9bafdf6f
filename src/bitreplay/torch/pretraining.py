"""Pre-training of a binary backbone, or of its real-valued teacher.

Goes in: labelled images, a recipe, perhaps a teacher. Comes out: a file of weights and, epoch by epoch, a report.
Images stay on the device as uint8; each minibatch is augmented there at the data's own size and then brought to the
model's (and the teacher's) size, so that the teacher judges the very view that the model sees. A killed run goes on
from its checkpoint.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from . import tensorfile
from .arrays import Arrays, resize
from .binarize import clip_latent_weights, set_binary_weights
from .checkpoint import load_model_state, load_optimizer_state, save_checkpoint
from .fastest import FastestForward
from .loss import pretraining_loss
from .recipe import Recipe, make_optimizer
from .schedule import Schedule, rate_factor, stage_of
from .validate import reestimate_batchnorm, top1
from .views import Views, view_for
from .weights import save_weights
from .world import World

CHECKPOINT_SECONDS = 60.0


@dataclass(frozen=True)
class Report:
    """One epoch: its number, how many are expected in all, stage, last learning rate, mean loss, validation top-1 in
    percent, its seconds, and the seconds since the start."""

    epoch: int
    expected: int
    stage: int
    rate: float
    loss: float
    top1: float
    seconds: float
    elapsed: float

    def line(self) -> str:
        left = (self.expected - self.epoch) * self.seconds
        return (
            f"epoch {self.epoch}/{self.expected} stage {self.stage} rate {self.rate:.2e} loss {self.loss:.4f} "
            f"top1 {self.top1:.2f} % {self.seconds:.1f} s, {self.elapsed:.0f} s so far, about {left:.0f} s left"
        )


class Pretraining:
    """Construct, go through `epochs()`, then call `finish()`."""

    def __init__(
        self,
        recipe: Recipe,
        model: nn.Module,
        train: Arrays,
        val: Arrays,
        out: Path,
        world: World,
        teacher: nn.Module | None = None,
        began: float | None = None,
    ) -> None:
        """`began`: the moment (time.perf_counter) from which a time limit counts; now, unless it is given."""
        self.began = time.perf_counter() if began is None else began
        self.recipe, self.out, self.world = recipe, out, world
        self.size = int(model.input_size)  # type: ignore[arg-type]
        self.val = Arrays(resize(val.images, self.size), val.labels)
        self.model = model.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.teacher = None
        if teacher is not None:
            self.teacher = teacher.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
            self.teacher.requires_grad_(False).eval()
        self.gpu = world.device.type == "cuda"
        self.views = Views(train, recipe.augmentation(), recipe.minibatch, recipe.seed, world)
        self.schedule = Schedule(recipe.epochs, recipe.time_limit)
        self.checkpoint = out.with_name(out.name + ".checkpoint")
        self.stage = 0
        self.last_top1 = 0.0
        self.saved_at = self.began
        self.resume()

    def say(self, text: str) -> None:
        if self.world.rank == 0:
            print(text, flush=True)

    def elapsed(self) -> float:
        return self.world.agree(time.perf_counter() - self.began)

    def resume(self) -> None:
        if not self.checkpoint.exists():
            return
        tensors, note = tensorfile.load(self.checkpoint)
        if note["recipe"]["model"] != self.recipe.model:
            raise ValueError(f"{self.checkpoint} belongs to {note['recipe']['model']}, not to {self.recipe.model}.")
        load_model_state(self.model, tensors)
        self.schedule.done, self.schedule.progress = note["done"], note["progress"]
        self.last_top1 = note["top1"]
        self.enter_stage(note["stage"])
        load_optimizer_state(self.optimizer, self.model, tensors)
        self.say(f"resumed after epoch {note['done']}")

    def enter_stage(self, stage: int) -> None:
        """Stage 1 trains real weights, stage 2 binary ones. The optimiser starts afresh."""
        self.stage = stage
        set_binary_weights(self.model, stage == 2)
        self.optimizer = make_optimizer(self.model, self.recipe, stage)
        student: nn.Module = self.model
        if self.world.size > 1:
            student = DistributedDataParallel(student, device_ids=[self.world.device.index] if self.gpu else None)
        mode = self.recipe.compile if self.world.size == 1 and (self.gpu or self.recipe.compile == "on") else "off"
        self.forward = FastestForward([student] + ([self.teacher] if self.teacher is not None else []), mode, self.say)

    def epochs(self) -> Iterator[Report]:
        """Train until the schedule ends, one report an epoch."""
        while (covered := self.schedule.step_size(self.elapsed())) > 0:
            start = time.perf_counter()
            stage, _ = stage_of(self.schedule.progress, self.recipe.first_stage)
            if stage != self.stage:
                self.enter_stage(stage)
            loss, rate = self.run_epoch(covered)
            self.last_top1 = top1(self.model, self.val, self.world, autocast=self.gpu)
            self.schedule.finish_epoch(covered, time.perf_counter() - start)
            expected = self.schedule.done + self.schedule.remaining(self.elapsed())
            self.save_now_and_then()
            yield Report(
                self.schedule.done,
                expected,
                self.stage,
                rate,
                loss,
                self.last_top1,
                self.schedule.seconds[-1],
                self.elapsed(),
            )

    def run_epoch(self, covered: float) -> tuple[float, float]:
        """One pass over the training images; mean loss and last learning rate."""
        self.model.train()
        total = torch.zeros((), device=self.world.device)
        rate, count = 0.0, 0
        for view, labels in self.views.minibatches(self.schedule.done):
            progress = min(1.0, self.schedule.progress + covered * count / self.views.steps)
            rate = self.recipe.rate * rate_factor(self.recipe.rate_shape, self.position(progress))
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            try:
                total += self.step(view, labels)
            except Exception as error:
                if not self.forward.compiled:
                    raise
                self.forward.give_up(error)
                total += self.step(view, labels)
            self.forward.tick()
            count += 1
        mean = self.world.total(total / count).item() / self.world.size
        if mean != mean:
            raise FloatingPointError(f"The loss is not a number in epoch {self.schedule.done + 1}.")
        return mean, rate

    def position(self, progress: float) -> float:
        """How far the current stage is; an epoch that crosses its border stays at the stage's end."""
        stage, position = stage_of(progress, self.recipe.first_stage)
        return position if stage == self.stage else 1.0

    def step(self, view: Tensor, labels: Tensor) -> Tensor:
        """One minibatch: forward, backward, update."""
        student, *teachers = self.forward.current
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.gpu):
            logits = student(view_for(self.model, view))
            taught = None
            if self.teacher is not None:
                with torch.no_grad():
                    taught = teachers[0](view_for(self.teacher, view))
        loss = pretraining_loss(
            logits,
            labels,
            taught,
            smoothing=self.recipe.label_smoothing,
            distill=self.recipe.distill,
            temperature=self.recipe.temperature,
        )
        loss.backward()
        self.optimizer.step()
        clip_latent_weights(self.model)
        return loss.detach()

    def save_now_and_then(self) -> None:
        if self.world.rank == 0 and time.perf_counter() - self.saved_at >= CHECKPOINT_SECONDS:
            note = {
                "recipe": self.recipe.as_dict(),
                "done": self.schedule.done,
                "progress": self.schedule.progress,
                "stage": self.stage,
                "top1": self.last_top1,
            }
            save_checkpoint(self.checkpoint, self.model, self.optimizer, note)
            self.saved_at = time.perf_counter()

    def finish(self, note: dict[str, Any], most_minibatches: int = 100) -> dict[str, Any]:
        """Estimate BatchNorm's statistics anew in full precision, measure, write the file; its note."""
        set_binary_weights(self.model, True)
        torch.backends.cudnn.allow_tf32 = False
        running = top1(self.model, self.val, self.world, autocast=False)
        views = itertools.islice(self.views.minibatches(self.schedule.done), most_minibatches)
        reestimate_batchnorm(self.model, (view_for(self.model, view) for view, _ in views), self.world)
        note = {
            **note,
            "model": self.recipe.model,
            "input_size": self.size,
            "recipe": self.recipe.as_dict(),
            "epochs": self.schedule.done,
            "progress": round(self.schedule.progress, 4),
            "seconds": round(self.elapsed(), 1),
            "top1_mixed": self.last_top1,
            "top1_running": running,
            "top1": top1(self.model, self.val, self.world, autocast=False),
        }
        if self.world.rank == 0:
            save_weights(self.out, self.model, note)
        return note
