"""The loop: fresh views, the teacher's outputs for them, a step of each student.

Several students share views and outputs, since the teacher costs more than any of them. Those of the next step are
computed while the students learn, on a stream of their own where there is a GPU. Everything random is drawn from
(seed, step), so a view can be made again without being kept; the teacher's outputs for it can be kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from bitreplay.torch import tensorfile
from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.distillation.distillation_recipe import DistillationRecipe
from bitreplay.torch.distillation.pool import PicturePool
from bitreplay.torch.distillation.student import Student
from bitreplay.torch.models.efficientnet_lite import EfficientNetLite
from bitreplay.torch.pretraining.augmentation import draw
from bitreplay.torch.pretraining.best_weights import keep_best
from bitreplay.torch.pretraining.feature_match import drop_projection
from bitreplay.torch.pretraining.validate import reestimate_batchnorm
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.resizing import resize, resize_view
from bitreplay.torch.weights import save_weights

REPORT_STEPS, CALIBRATION_STEPS, RECALIBRATION_MINIBATCHES, METRIC_PICTURES = 50, 400, 40, 16_384


class TeacherBatch(NamedTuple):
    """Views (N, 3, S, S) in [-1, 1] and the teacher's outputs for them: logits, and features less their mean
    (in the metric of the recipe)."""

    view: Tensor
    logits: Tensor
    features: Tensor


class TeacherOutputs:
    """The teacher's outputs for the views of some steps, and how many pictures the pool had when a view was made."""

    def __init__(self, steps: int, minibatch: int, like: TeacherBatch) -> None:
        self.logits = like.logits.new_empty(steps, minibatch, like.logits.shape[1])
        self.features = like.features.new_empty(steps, minibatch, like.features.shape[1])
        self.pictures: dict[int, int] = {}

    def keep(self, step: int, pictures: int, batch: TeacherBatch) -> None:
        self.logits[step], self.features[step] = batch.logits, batch.features
        self.pictures[step] = pictures


class Report(NamedTuple):
    """After some steps: means of the two losses for each student."""

    step: int
    views: int
    progress: float
    rate: float
    pictures: int
    views_a_second: float
    losses: list[tuple[float, float]]


class Distillation:
    """Construct, iterate over `walk()`, then call `finish()`. `reserve`: seconds of the time limit for the end."""

    def __init__(
        self,
        recipe: DistillationRecipe,
        teacher: EfficientNetLite,
        students: Sequence[Student],
        pool: PicturePool,
        *,
        compiled: bool,
        reserve: float = 30.0,
        checkpoint_seconds: float = 300.0,
        clock: Callable[[], float] = time.perf_counter,
        began: float | None = None,
    ) -> None:
        self.recipe, self.pool, self.students, self.clock = recipe, pool, list(students), clock
        self.began, self.reserve = clock() if began is None else began, reserve
        self.checkpoint_seconds, self.saved_at = checkpoint_seconds, clock()
        self.device, self.gpu = pool.device, pool.device.type == "cuda"
        self.augment = recipe.augmentation()
        self.step, self.spent = 0, 0.0
        self.round = None if recipe.judged_views is None else max(1, recipe.judged_views // recipe.minibatch)
        self.outputs: TeacherOutputs | None = None
        self.teacher = teacher.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.teacher.fold_batchnorm()
        self.side_stream = torch.cuda.Stream() if self.gpu else None
        optional = torch.compile if compiled else lambda function, **options: function
        self.make_view, self.ask = optional(self._view, dynamic=False), optional(self._answer, dynamic=False)
        least = 1 if recipe.whiten is None else METRIC_PICTURES
        while pool.refresh() < least and pool.pending:
            time.sleep(0.2)
        self.held_logits, features = self.whole_pictures(pool.held)
        self.middle = features.mean(0)
        self.metric = None if recipe.whiten is None else self.discriminant_metric(recipe.whiten)
        for student in self.students:
            student.begin(recipe, self.teacher.head.in_features, self.device, compiled)
        self.resume()

    def generator(self, stream: int, step: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed((self.recipe.seed * 1_000_003 + step) * 1009 + stream)

    def _view(self, images: Tensor, noise: Tensor) -> Tensor:
        view = self.augment(images, noise)
        return self.augment.blend(view, noise)[0] if self.augment.mix or self.augment.cut else view

    def _answer(self, large: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16):
            features = self.teacher.features(large)
            return self.teacher.head(features), features

    def whole_pictures(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """The teacher's logits and features of pictures as they are."""
        with torch.no_grad():
            answers = [self._answer(self.for_teacher(scale_pixels(part))) for part in images.split(256)]
        return torch.cat([logits for logits, _ in answers]), torch.cat([f for _, f in answers]).float()

    def discriminant_metric(self, share: float) -> Tensor:
        """(features, features): (C + share m)^-1/2, C the covariance of the teacher's features, m its mean variance."""
        _, features = self.whole_pictures(self.pool.images[:METRIC_PICTURES])
        covariance = torch.cov(features.double().T)
        values, axes = torch.linalg.eigh(covariance)
        floor = share * covariance.diagonal().mean()
        return ((axes / (values.clamp(min=0) + floor).sqrt()) @ axes.T).float()

    def for_teacher(self, view: Tensor) -> Tensor:
        return resize_view(view, self.recipe.teacher_size).contiguous(memory_format=torch.channels_last)

    def batch(self, step: int) -> TeacherBatch:
        """Views of a step and the teacher's outputs for them, which are kept if views will come again."""
        if self.round is None:
            return self.judged(step)
        turn, first = divmod(step, self.round)
        if self.outputs is None or first not in self.outputs.pictures:
            pictures, batch = len(self.pool.images), self.judged(first)
            self.outputs = self.outputs or TeacherOutputs(self.round, self.recipe.minibatch, batch)
            self.outputs.keep(first, pictures, batch)
        else:
            view = self.view(first, self.outputs.pictures[first])
            batch = TeacherBatch(view, self.outputs.logits[first], self.outputs.features[first])
        return batch._replace(view=batch.view.flip(3)) if turn % 2 else batch

    def judged(self, step: int) -> TeacherBatch:
        view = self.view(step)
        with torch.no_grad():
            logits, features = self.ask(self.for_teacher(view))
            features = features - self.middle.to(features.dtype)
            return TeacherBatch(view, logits, features if self.metric is None else features.float() @ self.metric)

    def view(self, step: int, pictures: int | None = None) -> Tensor:
        generator = self.generator(0, step)
        with torch.no_grad():
            images = self.pool.sample(self.recipe.minibatch, generator, pictures)
            return self.make_view(images, draw(len(images), generator))

    def batches(self) -> Iterator[TeacherBatch]:
        """One batch per step, made a step ahead."""
        if self.side_stream is None:
            while True:
                yield self.batch(self.step)
        main = torch.cuda.current_stream()
        ahead: tuple[TeacherBatch, torch.cuda.Event] | None = None
        while True:
            batch, ready = ahead or self.on_side_stream(self.step)
            ahead = self.on_side_stream(self.step + 1)
            main.wait_event(ready)
            for tensor in batch:
                tensor.record_stream(main)
            yield batch

    def on_side_stream(self, step: int) -> tuple[TeacherBatch, torch.cuda.Event]:
        assert self.side_stream is not None
        self.side_stream.wait_stream(torch.cuda.current_stream())  # the step before last; this one runs beside it
        with torch.cuda.stream(self.side_stream):
            batch = self.batch(step)
            ready = torch.cuda.Event()
            ready.record()
        return batch, ready

    def elapsed(self) -> float:
        return self.spent + self.clock() - self.began

    def progress(self) -> float:
        """0 to 1, by the views or by the clock, whichever is further."""
        by_views = self.step * self.recipe.minibatch / self.recipe.views
        limit = self.recipe.time_limit
        return max(by_views, self.elapsed() / max(1e-9, limit - self.reserve) if limit else 0.0)

    def warm_up(self) -> None:
        """Compile what will run, with and without the rounding; the weights stay."""
        for rounded in (True, False):
            for student in (student for student in self.students if student.binary or not rounded):
                weights = {key: value.clone() for key, value in student.model.state_dict().items()}
                if rounded:
                    student.round_from_here(self.pool.held)
                batch = self.batch(0)
                losses = student.losses(student.fitted(batch.view), batch.logits, batch.features)
                losses.sum().backward()
                student.optimizer.zero_grad(set_to_none=True)
                student.leave_rounding()
                student.model.load_state_dict(weights)

    def walk(self) -> Iterator[Report]:
        """Train until views or time are used up; a Report after every REPORT_STEPS steps."""
        for student in self.students:
            student.train()
        totals = torch.zeros(len(self.students), 2, device=self.device)
        rounding, started = False, self.clock()
        for batch in self.batches():
            progress = self.progress()
            if progress >= 1:
                break
            if progress >= 1 - self.recipe.rounding and (not rounding or self.step % CALIBRATION_STEPS == 0):
                rounding = True
                for student in self.students:
                    student.round_from_here(self.pool.held)
            rate = self.recipe.rate_at(self.step, progress)
            for k, student in enumerate(self.students):
                totals[k] += student.learn(*batch, rate)
            self.step += 1
            if self.step % REPORT_STEPS:
                continue
            means = (totals / REPORT_STEPS).tolist()  # waits for the device
            totals.zero_()
            now = self.clock()
            a_second = REPORT_STEPS * self.recipe.minibatch / (now - started)
            pictures = self.pool.refresh()
            if now - self.saved_at >= self.checkpoint_seconds:
                self.save()
            started = self.clock()
            views = self.step * self.recipe.minibatch
            yield Report(self.step, views, progress, rate, pictures, a_second, [(a, b) for a, b in means])

    def save(self) -> None:
        note = {"recipe": self.recipe.as_dict(), "step": self.step, "elapsed": self.elapsed()}
        for student in self.students:
            student.save({**note, "model": student.name, "rate": student.rate})
        self.saved_at = self.clock()

    def resume(self) -> None:
        """Resume from checkpoints, if every student has one."""
        if not all(student.checkpoint.exists() for student in self.students):
            return
        free = ("views", "time_limit")
        for student in self.students:
            tensors, note = tensorfile.load(student.checkpoint)
            current = {**self.recipe.as_dict(), "model": student.name, "rate of it": student.rate}
            saved = {**note.get("recipe", {}), "model": note.get("model"), "rate of it": note.get("rate")}
            different = [key for key in current if key not in free and saved.get(key) != current[key]]
            if different:
                differences = ", ".join(f"{key} {saved.get(key)}, not {current[key]}" for key in different)
                raise ValueError(
                    f"{student.checkpoint} was made with {differences}: use the same settings, or remove it."
                )
            student.load(tensors)
            self.step, self.spent = note["step"], note["elapsed"]

    def agreement(self, student: Student) -> dict[str, float]:
        """Agreement with the teacher on held-out pictures, in full precision: top-1 in percent, divergence."""
        student.model.eval()
        outputs = []
        with torch.no_grad():
            for part in resize(self.pool.held, student.size).split(256):
                outputs.append(student.model(scale_pixels(part).contiguous(memory_format=torch.channels_last)))
        student.train()
        logits, wanted = torch.cat(outputs).float(), self.held_logits.float()
        same = (logits.argmax(1) == wanted.argmax(1)).float().mean().item()
        divergence = F.kl_div(logits.log_softmax(1), wanted.log_softmax(1), reduction="batchmean", log_target=True)
        return {"top1": 100 * same, "divergence": divergence.item()}

    def finish(self, note: dict[str, Any]) -> list[dict[str, Any]]:
        """Choose which weights of each student to keep, measure them and write the files; returns their notes."""
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False  # rounding flips signs
        notes = []
        for student in self.students:
            kept = keep_best(
                student.model,
                student.average,
                lambda student=student: self.recalibrate(student),  # type: ignore[misc]
                lambda student=student: 1 / (1 + self.agreement(student)["divergence"]),  # type: ignore[misc]
            )
            rounded = self.agreement(student) if student.rounds else None
            student.leave_rounding()
            drop_projection(student.model)
            described = {
                **note,
                "model": student.name,
                "options": student.options,
                "input_size": student.size,
                "recipe": self.recipe.as_dict() | ({} if student.rate is None else {"rate": student.rate}),
                "views": self.step * self.recipe.minibatch,
                "pictures": len(self.pool.images),
                "pool_sha256": self.pool.digest(),
                "seconds": round(self.elapsed(), 1),
                "before": student.before,
                "keeps_statistics": student.keeps_statistics,
                "kept": kept["kept"],
                "agreement": self.agreement(student),
                "agreement_rounded": rounded,
            }
            save_weights(student.out, student.model, described)
            student.checkpoint.unlink(missing_ok=True)
            notes.append(described)
        return notes

    def recalibrate(self, student: Student) -> None:
        """Estimate BatchNorm statistics and rounding ranges for the current weights."""

        def views() -> Iterator[Tensor]:
            for k in range(RECALIBRATION_MINIBATCHES):
                images = self.pool.sample(min(512, self.recipe.minibatch), self.generator(1, k))
                with torch.no_grad():
                    view = self.augment(images, draw(len(images), self.generator(2, k)))
                yield student.fitted(view)

        if not student.keeps_statistics:
            reestimate_batchnorm(student.model, views(), World(0, 1, self.device))
        if student.rounds:
            student.round_from_here(self.pool.held)
