"""The network that is trained, with all that its steps need: optimiser, running average, the engine's rounding, the
faster of eager and compiled execution, and optionally a teacher that runs beside it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bitreplay.torch.models.binarize import clip_latent_weights, set_binary_weights
from bitreplay.torch.pretraining.average import RunningAverage
from bitreplay.torch.pretraining.engine_rounding import EngineRounding
from bitreplay.torch.pretraining.fastest import FastestForward
from bitreplay.torch.pretraining.feature_match import feature_loss, head_of
from bitreplay.torch.pretraining.loss import pretraining_loss
from bitreplay.torch.pretraining.recipe import Recipe, make_optimizer
from bitreplay.torch.pretraining.report import EpochStatistics
from bitreplay.torch.pretraining.schedule import rate_factor, stage_of
from bitreplay.torch.pretraining.views import Minibatch, view_for
from bitreplay.torch.pretraining.world import World


class Trainer:
    """`calibration`: uint8 images at the model's size, for the rounding's ranges. `horizon`: steps of the average, 0
    for none. `middle`: the mean of the teacher's features, where they are matched."""

    def __init__(
        self,
        model: nn.Module,
        recipe: Recipe,
        world: World,
        calibration: Tensor,
        horizon: int,
        teacher: nn.Module | None,
        middle: Tensor | None,
        say: Callable[[str], None],
    ) -> None:
        self.model, self.recipe, self.world, self.say = model, recipe, world, say
        self.calibration, self.horizon, self.teacher, self.middle = calibration, horizon, teacher, middle
        self.classes, self.gpu = head_of(model).out_features, world.device.type == "cuda"
        self.averaged: RunningAverage | None = None
        self.rounding: EngineRounding | None = None
        self.stage = 0

    def enter_stage(self, stage: int) -> None:
        """Stage 1 trains real weights, stage 2 binary ones. The optimiser starts afresh."""
        self.stage = stage
        set_binary_weights(self.model, stage == 2)
        self.optimizer = make_optimizer(self.model, self.recipe, stage)
        if self.horizon:
            self.averaged = RunningAverage(self.model, self.horizon)
        self.choose_forward()

    def choose_forward(self) -> None:
        """Distribute and compile the model as it is now; hooks that come later need this again."""
        student: nn.Module = self.model
        if self.world.size > 1:
            student = DistributedDataParallel(student, device_ids=[self.world.device.index] if self.gpu else None)
        mode = self.recipe.compile if self.world.size == 1 and (self.gpu or self.recipe.compile == "on") else "off"
        self.forward = FastestForward([student] + ([self.teacher] if self.teacher is not None else []), mode, self.say)

    def round_from_here(self) -> None:
        """Switch the engine's rounding on, with ranges and code of the current model."""
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

    def learn(self, minibatch: Minibatch, answer: Tensor | None, scale: float, statistics: EpochStatistics) -> None:
        """Take a step; if the compiled network fails, again without the compiler."""
        try:
            self.step(minibatch, answer, scale, statistics)
        except Exception as error:
            if not self.forward.compiled:
                raise
            self.forward.give_up(error)
            self.step(minibatch, answer, scale, statistics)
        self.forward.tick()

    def step(self, minibatch: Minibatch, answer: Tensor | None, scale: float, statistics: EpochStatistics) -> None:
        """One minibatch, at `scale` times the model's size: forward, backward, update."""
        student, *teachers = self.forward.current
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.gpu):
            outputs = student(view_for(self.model, minibatch.view, scale))
            if self.teacher is not None:
                with torch.no_grad():
                    answer = teachers[0](view_for(self.teacher, minibatch.view))
        loss = self.loss(outputs, minibatch, answer)
        loss.backward()
        self.optimizer.step()
        clip_latent_weights(self.model)
        if self.averaged is not None:
            self.averaged.update(self.model)
        statistics.add(loss, outputs[:, : self.classes], minibatch.labels)

    def loss(self, outputs: Tensor, minibatch: Minibatch, answer: Tensor | None) -> Tensor:
        """The loss. Outputs are logits and, where features are matched, the projection; so is the teacher's answer."""
        logits, projected = outputs.tensor_split([self.classes], 1)
        taught, features = (None, None) if answer is None else answer.tensor_split([self.classes], 1)
        loss = pretraining_loss(
            logits,
            minibatch.labels,
            taught,
            smoothing=self.recipe.label_smoothing,
            distill=self.recipe.distill,
            temperature=self.recipe.temperature,
            others=minibatch.others,
            share=minibatch.share,
        )
        if self.middle is None or features is None:
            return loss
        return loss + self.recipe.match * feature_loss(projected, features.float() - self.middle)
