"""What a run learns from: the minibatches of each epoch, with the teacher's answers where they were computed before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from bitreplay.torch.arrays import Arrays
from bitreplay.torch.pretraining.feature_match import head_of
from bitreplay.torch.pretraining.recipe import Recipe
from bitreplay.torch.pretraining.teacher_answers import Answers, Kind
from bitreplay.torch.pretraining.views import Minibatch, Views
from bitreplay.torch.pretraining.world import World

VIEWS = ("minibatch", "least_area", "jitter", "mix", "cut", "held_out", "seed")  # the settings that a view depends on
PLAIN_SEED = 7  # added to the seed of plain sets, so that their crops differ from the blended ones


class TrainingData:
    """`views` are blended as the recipe says, `plain_views` never. `middle`: the mean of the teacher's features."""

    def __init__(self, recipe: Recipe, train: Arrays, world: World) -> None:
        self.recipe, self.train, self.world = recipe, train, world
        self.views, self.plain_views = self.make_views(), self.make_views(blended=False)
        self.steps = self.views.steps
        self.answers: Answers | None = None
        self.middle: Tensor | None = None

    def make_views(self, blended: bool = True, more_seed: int = 0) -> Views:
        recipe = self.recipe
        seed = recipe.seed + more_seed
        return Views(self.train, recipe.augmentation(blended), recipe.minibatch, seed, self.world)

    def ask_once(
        self, teacher: nn.Module | None, folder: Path | None, origin: Mapping[str, Any], say: Callable[[str], None]
    ) -> None:
        """Load the teacher's answers to the sets of views from `folder`, or compute them and save them there."""
        recipe = self.recipe
        if teacher is None or folder is None or self.world.size > 1:
            raise ValueError(f"{recipe.sets} sets of views need a teacher and a single process.")
        settings, head = recipe.as_dict(), head_of(teacher)
        note = {key: settings[key] for key in VIEWS} | {"device": self.world.device.type}
        note |= {key: origin.get(key) for key in ("teacher_sha256", "data", "images")}
        note |= {"classes": head.out_features, "features": head.in_features if recipe.match else 0}
        kinds = {
            "blended": Kind(self.views, recipe.sets),
            "plain": Kind(self.make_views(blended=False, more_seed=PLAIN_SEED), recipe.plain_sets),
        }
        self.answers = Answers(folder, kinds, note)
        self.answers.ask(teacher, say)
        if recipe.match:
            self.middle = self.answers.mean_features()

    def minibatches(self, epoch: int, progress: float) -> Iterator[tuple[Minibatch, Tensor | None]]:
        """Minibatches and answers of an epoch that begins at this progress of the run."""
        plain = progress >= 1 - self.recipe.plain_end - 1e-9
        if self.answers is not None:
            yield from self.answers.minibatches("plain" if plain else "blended", epoch)
            return
        for minibatch in (self.plain_views if plain else self.views).minibatches(epoch):
            yield minibatch, None
