"""Pre-train a binary backbone, or its real-valued teacher.

Input: labelled images, a recipe, optionally a teacher. Output: a file of weights and, on the way, steps and reports.
Images stay on the device as uint8; each minibatch is augmented there at the size of the data and then resized for the
model and for the teacher, so that both see the same view. A run that was killed resumes from its checkpoint.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bitreplay.torch.arrays import Arrays, hold_out
from bitreplay.torch.models.binarize import BinaryConv2d, set_binary_weights
from bitreplay.torch.pretraining.best_weights import keep_best
from bitreplay.torch.pretraining.checkpoint import (
    checkpoint_of,
    load_checkpoint,
    load_model_state,
    load_optimizer_state,
    save_checkpoint,
)
from bitreplay.torch.pretraining.feature_match import add_projection, drop_projection, head_of
from bitreplay.torch.pretraining.recipe import Recipe
from bitreplay.torch.pretraining.report import EpochStatistics, Report, Step
from bitreplay.torch.pretraining.schedule import Schedule, stage_of
from bitreplay.torch.pretraining.trainer import Trainer
from bitreplay.torch.pretraining.training_data import TrainingData
from bitreplay.torch.pretraining.validate import reestimate_batchnorm, top1
from bitreplay.torch.pretraining.views import view_for
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.resizing import resize
from bitreplay.torch.weights import save_weights

CALIBRATION_IMAGES = 500
SMALL = 0.75


class Pretraining:
    """Construct, iterate over `walk()`, then call `finish()`.

    `clock` gives seconds; a time limit counts from its value `began` (now, unless given). A checkpoint is written after
    an epoch when the last one is `checkpoint_seconds` old. `origin` names the teacher, the first weights and the
    data: a checkpoint of another origin is refused. `answers_at` is the folder for a teacher's answers to fixed sets of
    views. `say` is called with lines of text.
    """

    def __init__(
        self,
        recipe: Recipe,
        model: nn.Module,
        train: Arrays,
        val: Arrays,
        out: Path,
        world: World,
        teacher: nn.Module | None = None,
        *,
        checkpoint_seconds: float = 60.0,
        reserve: float = 15.0,
        clock: Callable[[], float] = time.perf_counter,
        began: float | None = None,
        origin: Mapping[str, Any] | None = None,
        answers_at: Path | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.clock, self.began, self.say = clock, clock() if began is None else began, say
        self.recipe, self.out, self.world, self.origin = recipe, out, world, dict(origin or {})
        self.size = int(model.input_size)  # type: ignore[arg-type]
        self.val = val.at(self.size)
        self.gpu = world.device.type == "cuda"
        train, held = hold_out(train, recipe.held_out)
        self.held = held.at(self.size)
        self.data = TrainingData(recipe, train, world)
        if teacher is not None:
            teacher = teacher.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
            teacher.requires_grad_(False).eval()
            taught, n_classes = head_of(teacher).out_features, head_of(model).out_features
            if taught != n_classes:
                raise ValueError(f"The teacher has {taught} classes; expected the {n_classes} of the data.")
        if recipe.sets:
            self.data.ask_once(teacher, answers_at, self.origin, say)
        if recipe.match and teacher is not None:
            add_projection(model, head_of(teacher).in_features)
        self.model = model.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        every = -(-len(train) // CALIBRATION_IMAGES)
        self.trainer = Trainer(
            self.model,
            recipe,
            world,
            calibration=resize(train.images[::every], self.size),
            horizon=max(1, round(recipe.average * self.data.steps)) if recipe.average else 0,
            teacher=None if recipe.sets else teacher,
            middle=self.data.middle,
            say=say,
        )
        self.schedule = Schedule(recipe.epochs, recipe.time_limit, reserve)
        self.checkpoint = checkpoint_of(out)
        self.checkpoint_seconds, self.saved_at = checkpoint_seconds, self.began
        self.last_top1 = 0.0
        self.resume()

    def elapsed(self) -> float:
        return self.world.agree(self.clock() - self.began)

    def resume(self) -> None:
        self.world.agree(0.0)  # process 0 has come here before anyone looks
        here = self.checkpoint.exists()
        if here != bool(self.world.agree(here)):
            raise FileNotFoundError(f"Not every process finds {self.checkpoint}: its folder must be shared.")
        if not here:
            return
        tensors, note = load_checkpoint(self.checkpoint, self.recipe, self.origin)
        try:
            load_model_state(self.model, tensors)
        except RuntimeError as error:
            raise ValueError(f"{self.checkpoint} does not fit: another number of classes or another width.") from error
        self.schedule.done, self.schedule.progress = note["done"], note["progress"]
        self.last_top1 = note["top1"]
        trainer = self.trainer
        trainer.enter_stage(note["stage"])
        load_optimizer_state(trainer.optimizer, self.model, tensors)
        if trainer.averaged is not None:
            trainer.averaged.load(
                {k.removeprefix("average/"): x for k, x in tensors.items() if k.startswith("average/")}
            )
        if note.get("rounding"):
            trainer.round_from_here()
        self.say(f"resumed after epoch {note['done']}")

    def walk(self) -> Iterator[Step | Report]:
        """Train until the schedule ends: a Step after every minibatch, a Report after every epoch."""
        while (covered := self.schedule.step_size(self.elapsed())) > 0:
            start, progress = self.clock(), self.schedule.progress
            stage, _ = stage_of(progress, self.recipe.first_stage)
            if stage != self.trainer.stage:
                self.trainer.enter_stage(stage)
            if progress >= 1 - self.recipe.rounding - 1e-9:  # ranges are renewed each epoch
                self.trainer.round_from_here()
            scale = SMALL if progress < self.recipe.small_start - 1e-9 else 1.0
            epoch, expected = self.schedule.done + 1, self.schedule.expected(self.elapsed())
            statistics = EpochStatistics(self.world.device)
            self.model.train()
            for minibatch, answer in self.data.minibatches(self.schedule.done, progress):
                self.trainer.set_rate(progress + covered * statistics.steps / self.data.steps)
                self.trainer.learn(minibatch, answer, scale, statistics)
                yield Step(epoch, expected, statistics.steps, self.data.steps, stage, statistics)
            loss, accuracy = (self.world.agree_on_mean(x) for x in (statistics.loss(), statistics.accuracy()))
            if not math.isfinite(loss):
                raise FloatingPointError(f"The loss is {loss} in epoch {epoch}: a lower rate may help.")
            self.last_top1 = top1(self.model, self.val, self.world, autocast=self.gpu)
            self.schedule.finish_epoch(covered, self.clock() - start)
            self.save_if_due()
            elapsed = self.elapsed()
            expected, seconds = self.schedule.expected(elapsed), self.schedule.seconds[-1]
            rate = self.trainer.rate
            yield Report(epoch, expected, stage, rate, loss, accuracy, self.last_top1, seconds, elapsed)

    def save_if_due(self) -> None:
        if self.world.rank == 0 and self.clock() - self.saved_at >= self.checkpoint_seconds:
            note = {
                "recipe": self.recipe.as_dict(),
                "origin": self.origin,
                "rounding": self.trainer.rounding is not None,
                "done": self.schedule.done,
                "progress": self.schedule.progress,
                "stage": self.trainer.stage,
                "top1": self.last_top1,
            }
            average = {} if self.trainer.averaged is None else self.trainer.averaged.state()
            save_checkpoint(self.checkpoint, self.model, self.trainer.optimizer, note, average)
            self.saved_at = self.clock()

    def finish(self, note: dict[str, Any], max_minibatches: int = 50) -> dict[str, Any]:
        """Choose which weights to keep, measure them in full precision and write the file; returns its note."""
        set_binary_weights(self.model, True)
        # Rounding flips signs; in a network without signs it is only noise.
        torch.backends.cudnn.allow_tf32 = not any(isinstance(module, BinaryConv2d) for module in self.model.modules())
        rounding = self.trainer.rounding
        if rounding is not None:  # ranges of the last weights, also after a resume
            rounding.calibrate()
        running = top1(self.model, self.val, self.world, autocast=False)
        kept = keep_best(
            self.model, self.trainer.averaged, lambda: self.recalibrate(max_minibatches), self.held_out_top1
        )
        rounded = None
        if rounding is not None:
            rounding.calibrate()
            rounded = top1(self.model, self.val, self.world, autocast=False)
            rounding.remove()
        drop_projection(self.model)
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
            **kept,
            "top1_rounded": rounded,
            "top1": top1(self.model, self.val, self.world, autocast=False),
        }
        if self.world.rank == 0:
            save_weights(self.out, self.model, note)
            self.checkpoint.unlink(missing_ok=True)
        return note

    def recalibrate(self, max_minibatches: int) -> None:
        """Estimate BatchNorm statistics and rounding ranges for the current weights."""
        few = itertools.islice(self.data.plain_views.minibatches(self.schedule.done), max_minibatches)
        reestimate_batchnorm(self.model, (view_for(self.model, minibatch.view) for minibatch in few), self.world)
        if self.trainer.rounding is not None:
            self.trainer.rounding.calibrate()

    def held_out_top1(self) -> float | None:
        return top1(self.model, self.held, self.world, autocast=False) if len(self.held) else None
