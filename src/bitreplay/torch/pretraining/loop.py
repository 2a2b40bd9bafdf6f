"""Pre-training of a binary backbone, or of its real-valued teacher.

Goes in: labelled images, a recipe, perhaps a teacher. Comes out: a file of weights and, on the way, steps and reports.
Images stay on the device as uint8; each minibatch is augmented there at the data's own size and then brought to the
model's (and the teacher's) size, so that the teacher judges the very view that the model sees. A killed run goes on
from its checkpoint.
"""

from __future__ import annotations

import copy
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bitreplay.torch.arrays import Arrays, hold_out
from bitreplay.torch.models.binarize import BinaryConv2d, clip_latent_weights, set_binary_weights
from bitreplay.torch.pretraining.average import RunningAverage
from bitreplay.torch.pretraining.checkpoint import (
    checkpoint_of,
    load_checkpoint,
    load_model_state,
    load_optimizer_state,
    save_checkpoint,
)
from bitreplay.torch.pretraining.engine_rounding import EngineRounding
from bitreplay.torch.pretraining.fastest import FastestForward
from bitreplay.torch.pretraining.loss import pretraining_loss
from bitreplay.torch.pretraining.recipe import Recipe, make_optimizer
from bitreplay.torch.pretraining.report import Report, Step, Tally
from bitreplay.torch.pretraining.schedule import Schedule, rate_factor, stage_of
from bitreplay.torch.pretraining.teacher_answers import Answers, ask, load_answers, save_answers
from bitreplay.torch.pretraining.validate import reestimate_batchnorm, top1
from bitreplay.torch.pretraining.views import Minibatch, Views, view_for
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.resizing import resize
from bitreplay.torch.weights import save_weights

CALIBRATION_IMAGES = 500
SMALL = 0.75


class Pretraining:
    """Construct, go through `walk()`, then call `finish()`.

    `clock` gives seconds; a time limit counts from its value `began` (now, unless given). A checkpoint is written after
    an epoch when the last one is `checkpoint_seconds` old. `origin` tells what the run was made from (teacher, first
    weights, data): a checkpoint of another origin is refused. `answers_at` is where a teacher's answers to fixed sets
    of views lie, or will. `say` takes a line of text.
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
        self.model = model.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.teacher = None
        if teacher is not None:
            self.teacher = teacher.to(world.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
            self.teacher.requires_grad_(False).eval()
        self.gpu = world.device.type == "cuda"
        self.binary = any(isinstance(module, BinaryConv2d) for module in model.modules())
        train, held = hold_out(train, recipe.held_out)
        self.held = held.at(self.size)
        self.averaged: RunningAverage | None = None
        self.rounding: EngineRounding | None = None
        every = -(-len(train) // CALIBRATION_IMAGES)
        self.calibration = resize(train.images[::every], self.size)
        self.views, self.plain_views = (
            Views(train, augmentation, recipe.minibatch, recipe.seed, world)
            for augmentation in (recipe.augmentation(), recipe.augmentation(blended=False))
        )
        self.answers = self.ask_once(answers_at) if recipe.sets else None
        self.schedule = Schedule(recipe.epochs, recipe.time_limit, reserve)
        self.checkpoint = checkpoint_of(out)
        self.checkpoint_seconds, self.saved_at = checkpoint_seconds, self.began
        self.stage, self.last_top1 = 0, 0.0
        self.resume()

    def ask_once(self, path: Path | None) -> Answers:
        """The teacher's answers to the recipe's sets of views, from `path` or put there."""
        if self.teacher is None or path is None or self.world.size > 1:
            raise ValueError(f"{self.recipe.sets} sets of views need a teacher that judges them, and one process.")
        recipe, teacher, self.teacher = self.recipe.as_dict(), self.teacher, None
        settings = ("minibatch", "least_area", "jitter", "mix", "cut", "held_out", "seed")
        note = {key: recipe[key] for key in settings} | {"device": self.world.device.type}
        note |= {key: self.origin.get(key) for key in ("teacher_sha256", "data", "images")}
        if not path.exists():
            self.say(f"the teacher judges {self.recipe.sets} sets of views")
            answers = ask(teacher, self.views, self.recipe.sets, note)
            save_answers(path, answers)
            return answers
        return load_answers(path, note, self.world.device)

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
        self.enter_stage(note["stage"])
        load_optimizer_state(self.optimizer, self.model, tensors)
        if self.averaged is not None:
            self.averaged.load({k.removeprefix("average/"): x for k, x in tensors.items() if k.startswith("average/")})
        if note.get("rounding"):
            self.round_from_here()
        self.say(f"resumed after epoch {note['done']}")

    def enter_stage(self, stage: int) -> None:
        """Stage 1 trains real weights, stage 2 binary ones. The optimiser starts afresh."""
        self.stage = stage
        set_binary_weights(self.model, stage == 2)
        self.optimizer = make_optimizer(self.model, self.recipe, stage)
        if self.recipe.average:
            self.averaged = RunningAverage(self.model, round(self.recipe.average * self.views.steps))
        self.choose_forward()

    def choose_forward(self) -> None:
        """Distribute and compile the model as it is now; hooks that come later need this again."""
        student: nn.Module = self.model
        if self.world.size > 1:
            student = DistributedDataParallel(student, device_ids=[self.world.device.index] if self.gpu else None)
        mode = self.recipe.compile if self.world.size == 1 and (self.gpu or self.recipe.compile == "on") else "off"
        self.forward = FastestForward([student] + ([self.teacher] if self.teacher is not None else []), mode, self.say)

    def walk(self) -> Iterator[Step | Report]:
        """Train until the schedule ends: a Step after every minibatch, a Report after every epoch."""
        while (covered := self.schedule.step_size(self.elapsed())) > 0:
            start = self.clock()
            stage, _ = stage_of(self.schedule.progress, self.recipe.first_stage)
            if stage != self.stage:
                self.enter_stage(stage)
            self.round_near_the_end()
            epoch, expected = self.schedule.done + 1, self.schedule.expected(self.elapsed())
            tally = Tally(self.world.device)
            self.model.train()
            for minibatch, answer in self.minibatches():
                self.set_rate(self.schedule.progress + covered * tally.steps / self.views.steps)
                self.step_or_give_up_compiling(minibatch, answer, tally)
                yield Step(epoch, expected, tally.steps, self.views.steps, self.stage, tally)
            loss, accuracy = (self.world.agree_on_mean(x) for x in (tally.loss(), tally.accuracy()))
            if not math.isfinite(loss):
                raise FloatingPointError(f"The loss is {loss} in epoch {epoch}: a lower rate may help.")
            self.last_top1 = top1(self.model, self.val, self.world, autocast=self.gpu)
            self.schedule.finish_epoch(covered, self.clock() - start)
            self.save_now_and_then()
            elapsed = self.elapsed()
            expected, seconds = self.schedule.expected(elapsed), self.schedule.seconds[-1]
            yield Report(epoch, expected, self.stage, self.rate, loss, accuracy, self.last_top1, seconds, elapsed)

    def minibatches(self) -> Iterator[tuple[Minibatch, Tensor | None]]:
        """Of the next epoch, with the teacher's answers where they were given before."""
        if self.answers is not None:
            yield from self.answers.minibatches(self.views, self.schedule.done)
            return
        plain = self.schedule.progress >= 1 - self.recipe.plain_end - 1e-9
        for minibatch in (self.plain_views if plain else self.views).minibatches(self.schedule.done):
            yield minibatch, None

    def round_near_the_end(self) -> None:
        """In the last part of the run the model learns under the engine's rounding, its ranges renewed each epoch."""
        if self.schedule.progress >= 1 - self.recipe.rounding - 1e-9:
            self.round_from_here()

    def round_from_here(self) -> None:
        """The engine's rounding in the loop, with ranges and code of the model as it is now."""
        if self.rounding is None:
            self.rounding = EngineRounding(self.model, self.calibration)
            self.rounding.calibrate()
            self.choose_forward()
        else:
            self.rounding.calibrate()

    def set_rate(self, progress: float) -> None:
        """The learning rate at this progress; an epoch that crosses a stage's border stays at the stage's end."""
        stage, position = stage_of(min(1.0, progress), self.recipe.first_stage)
        shape = self.recipe.rate_shape
        self.rate = self.recipe.rate * rate_factor(shape, position if stage == self.stage else 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate

    def step_or_give_up_compiling(self, minibatch: Minibatch, answer: Tensor | None, tally: Tally) -> None:
        try:
            self.step(minibatch, answer, tally)
        except Exception as error:
            if not self.forward.compiled:
                raise
            self.forward.give_up(error)
            self.step(minibatch, answer, tally)
        self.forward.tick()

    def step(self, minibatch: Minibatch, answer: Tensor | None, tally: Tally) -> None:
        """One minibatch: forward, backward, update."""
        view, labels, others, share = minibatch
        scale = SMALL if self.schedule.progress < self.recipe.small_start - 1e-9 else 1.0
        student, *teachers = self.forward.current
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.gpu):
            logits = student(view_for(self.model, view, scale))
            taught = answer
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
            others=others,
            share=share,
        )
        loss.backward()
        self.optimizer.step()
        clip_latent_weights(self.model)
        if self.averaged is not None:
            self.averaged.update(self.model)
        tally.add(loss, logits, labels)

    def save_now_and_then(self) -> None:
        if self.world.rank == 0 and self.clock() - self.saved_at >= self.checkpoint_seconds:
            note = {
                "recipe": self.recipe.as_dict(),
                "origin": self.origin,
                "rounding": self.rounding is not None,
                "done": self.schedule.done,
                "progress": self.schedule.progress,
                "stage": self.stage,
                "top1": self.last_top1,
            }
            average = {} if self.averaged is None else self.averaged.state()
            save_checkpoint(self.checkpoint, self.model, self.optimizer, note, average)
            self.saved_at = self.clock()

    def finish(self, note: dict[str, Any], most_minibatches: int = 50) -> dict[str, Any]:
        """Choose what to keep, measure it in full precision, write the file; its note."""
        set_binary_weights(self.model, True)
        torch.backends.cudnn.allow_tf32 = not self.binary  # a rounding flips signs; without signs it is noise
        if self.rounding is not None:  # with the ranges of the last weights, also when it was resumed behind them
            self.rounding.calibrate()
        running = top1(self.model, self.val, self.world, autocast=False)
        kept = self.keep_the_best(most_minibatches)
        rounded = None
        if self.rounding is not None:
            rounded = top1(self.model, self.val, self.world, autocast=False)
            self.rounding.remove()
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
            "sets": 0 if self.answers is None else len(self.answers.logits),
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
        few = itertools.islice(self.plain_views.minibatches(self.schedule.done), most_minibatches)
        reestimate_batchnorm(self.model, (view_for(self.model, minibatch.view) for minibatch in few), self.world)
        if self.rounding is not None:
            self.rounding.calibrate()

    def keep_the_best(self, most_minibatches: int) -> dict[str, Any]:
        """The last weights with the statistics they were trained with, or with new ones, or their running average: by
        the held-out images, the later of equals; without any, the last of these."""
        found = [("running", self.held_top1(), copy.deepcopy(self.model.state_dict()))]
        self.settle(most_minibatches)
        found.append(("last", self.held_top1(), copy.deepcopy(self.model.state_dict())))
        if self.averaged is not None:
            self.averaged.exchange(self.model)
            self.settle(most_minibatches)
            found.append(("average", self.held_top1(), copy.deepcopy(self.model.state_dict())))
        best = max(range(len(found)), key=lambda k: (found[k][1] or 0.0, k))
        self.model.load_state_dict(found[best][2])
        if self.rounding is not None:
            self.rounding.calibrate()
        return {"kept": found[best][0], "held_out": {name: score for name, score, _ in found}}

    def held_top1(self) -> float | None:
        return top1(self.model, self.held, self.world, autocast=False) if len(self.held) else None
