"""Pre-training of a binary backbone, or of its real-valued teacher.

Goes in: labelled images, a recipe, perhaps a teacher. Comes out: a file of weights and, on the way, steps and reports.
Images stay on the device as uint8; each minibatch is augmented there at the data's own size and then brought to the
model's (and the teacher's) size, so that the teacher judges the very view that the model sees. A killed run goes on
from its checkpoint.
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
from bitreplay.torch.pretraining.checkpoint import (
    checkpoint_of,
    load_checkpoint,
    load_model_state,
    load_optimizer_state,
    save_checkpoint,
)
from bitreplay.torch.pretraining.feature_match import add_projection, drop_projection, head_of
from bitreplay.torch.pretraining.keeping import keep_the_best
from bitreplay.torch.pretraining.lessons import Lessons
from bitreplay.torch.pretraining.pupil import Pupil
from bitreplay.torch.pretraining.recipe import Recipe
from bitreplay.torch.pretraining.report import ClassStatistics, Report, Step
from bitreplay.torch.pretraining.schedule import Schedule, stage_of
from bitreplay.torch.pretraining.validate import reestimate_batchnorm, top1
from bitreplay.torch.pretraining.views import view_for
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.resizing import resize
from bitreplay.torch.weights import save_weights

CALIBRATION_IMAGES = 500
SMALL = 0.75


class Pretraining:
    """Construct, go through `walk()`, then call `finish()`.

    `clock` gives seconds; a time limit counts from its value `began` (now, unless given). A checkpoint is written after
    an epoch when the last one is `checkpoint_seconds` old. `origin` tells what the run was made from (teacher, first
    weights, data): a checkpoint of another origin is refused. `answers_at` is the folder where a teacher's answers to
    fixed sets of views lie, or will. `say` takes a line of text.
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
        self.lessons = Lessons(recipe, train, world)
        if teacher is not None:
            teacher = teacher.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
            teacher.requires_grad_(False).eval()
            taught, asked = head_of(teacher).out_features, head_of(model).out_features
            if taught != asked:
                raise ValueError(f"The teacher tells {taught} classes apart; expected the {asked} of the data.")
        if recipe.sets:
            self.lessons.ask_once(teacher, answers_at, self.origin, say)
        if recipe.match and teacher is not None:
            add_projection(model, head_of(teacher).in_features)
        self.model = model.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        every = -(-len(train) // CALIBRATION_IMAGES)
        self.pupil = Pupil(
            self.model,
            recipe,
            world,
            calibration=resize(train.images[::every], self.size),
            horizon=max(1, round(recipe.average * self.lessons.steps)) if recipe.average else 0,
            teacher=None if recipe.sets else teacher,
            middle=self.lessons.middle,
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
        self.world.agree(0.0)  # nobody looks before process 0 has come here
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
        pupil = self.pupil
        pupil.enter_stage(note["stage"])
        load_optimizer_state(pupil.optimizer, self.model, tensors)
        if pupil.averaged is not None:
            pupil.averaged.load({k.removeprefix("average/"): x for k, x in tensors.items() if k.startswith("average/")})
        if note.get("rounding"):
            pupil.round_from_here()
        self.say(f"resumed after epoch {note['done']}")

    def walk(self) -> Iterator[Step | Report]:
        """Train until the schedule ends: a Step after every minibatch, a Report after every epoch."""
        while (covered := self.schedule.step_size(self.elapsed())) > 0:
            start, progress = self.clock(), self.schedule.progress
            stage, _ = stage_of(progress, self.recipe.first_stage)
            if stage != self.pupil.stage:
                self.pupil.enter_stage(stage)
            if progress >= 1 - self.recipe.rounding - 1e-9:  # ranges are renewed each epoch
                self.pupil.round_from_here()
            scale = SMALL if progress < self.recipe.small_start - 1e-9 else 1.0
            epoch, expected = self.schedule.done + 1, self.schedule.expected(self.elapsed())
            tally = ClassStatistics(self.world.device)
            self.model.train()
            for minibatch, answer in self.lessons.minibatches(self.schedule.done, progress):
                self.pupil.set_rate(progress + covered * tally.steps / self.lessons.steps)
                self.pupil.learn(minibatch, answer, scale, tally)
                yield Step(epoch, expected, tally.steps, self.lessons.steps, stage, tally)
            loss, accuracy = (self.world.agree_on_mean(x) for x in (tally.loss(), tally.accuracy()))
            if not math.isfinite(loss):
                raise FloatingPointError(f"The loss is {loss} in epoch {epoch}: a lower rate may help.")
            self.last_top1 = top1(self.model, self.val, self.world, autocast=self.gpu)
            self.schedule.finish_epoch(covered, self.clock() - start)
            self.save_now_and_then()
            elapsed = self.elapsed()
            expected, seconds = self.schedule.expected(elapsed), self.schedule.seconds[-1]
            rate = self.pupil.rate
            yield Report(epoch, expected, stage, rate, loss, accuracy, self.last_top1, seconds, elapsed)

    def save_now_and_then(self) -> None:
        if self.world.rank == 0 and self.clock() - self.saved_at >= self.checkpoint_seconds:
            note = {
                "recipe": self.recipe.as_dict(),
                "origin": self.origin,
                "rounding": self.pupil.rounding is not None,
                "done": self.schedule.done,
                "progress": self.schedule.progress,
                "stage": self.pupil.stage,
                "top1": self.last_top1,
            }
            average = {} if self.pupil.averaged is None else self.pupil.averaged.state()
            save_checkpoint(self.checkpoint, self.model, self.pupil.optimizer, note, average)
            self.saved_at = self.clock()

    def finish(self, note: dict[str, Any], most_minibatches: int = 50) -> dict[str, Any]:
        """Choose what to keep, measure it in full precision, write the file; its note."""
        set_binary_weights(self.model, True)
        # A rounding flips signs; in a network without signs it is noise.
        torch.backends.cudnn.allow_tf32 = not any(isinstance(module, BinaryConv2d) for module in self.model.modules())
        rounding = self.pupil.rounding
        if rounding is not None:  # with the ranges of the last weights, also when it was resumed behind them
            rounding.calibrate()
        running = top1(self.model, self.val, self.world, autocast=False)
        kept = keep_the_best(self.model, self.pupil.averaged, lambda: self.settle(most_minibatches), self.held_top1)
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

    def settle(self, most_minibatches: int) -> None:
        """BatchNorm's statistics and the rounding's ranges of the weights as they are."""
        few = itertools.islice(self.lessons.plain_views.minibatches(self.schedule.done), most_minibatches)
        reestimate_batchnorm(self.model, (view_for(self.model, minibatch.view) for minibatch in few), self.world)
        if self.pupil.rounding is not None:
            self.pupil.rounding.calibrate()

    def held_top1(self) -> float | None:
        return top1(self.model, self.held, self.world, autocast=False) if len(self.held) else None
