"""Learning by sums: each image passes the frozen network once, and its features are added to exact sums.

    n_c, s_c = sum of x (per class),   G = sum of x x^T (one for all)                    integers only

No steps, no learning rate, no epochs, no stored images. From the sums follows a linear discriminant with a shared,
shrunk covariance (discriminant.py), computed for the first prediction. The order of images, their division into
experiences, threads and processes do not matter: the same images end in the same state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import native, native_sums
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.feature_program import HEAD, default_feature_layers
from bitreplay.engine.mahalanobis import factor_bytes
from bitreplay.learning.classes import Classes, Name
from bitreplay.learning.progress import Watch
from bitreplay.learning.reports import Learned
from bitreplay.learning.samples import ENCODED_AT_ONCE, Samples, encoded
from bitreplay.parts.class_statistics import ClassStatistics, ClassStatisticsState, need_factor, need_possible
from bitreplay.parts.digests import Digests, DigestsState
from bitreplay.parts.feature_extractor import FeatureExtractor
from bitreplay.parts.lineage import Lineage, brought
from bitreplay.parts.part import ArrayState, Part, need
from bitreplay.parts.state import State
from bitreplay.prediction.discriminant_predictor import DiscriminantPredictor, FloatDiscriminant, IntegerDiscriminant
from bitreplay.strategies import exact_requirements
from bitreplay.strategies.requirements import DevicePrograms, Requirements
from bitreplay.strategies.strategy import Strategy, StrategyContext
from bitreplay.zoo import Model

if TYPE_CHECKING:
    from bitreplay.settings import Settings

NOT_FORGOTTEN = "The rest would not be sums of images; nothing is forgotten."
ADDED_AT_ONCE = 16 * ENCODED_AT_ONCE


class Exact(Strategy):
    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "exact sums"
    latents: ClassVar[str] = "features"
    keeps: ClassVar[str] = "sums"
    augments: ClassVar[bool] = False
    unlearns: ClassVar[bool] = True
    merges: ClassVar[bool] = True
    proposed: ClassVar[bool] = True
    c_learner: ClassVar[str | None] = "exact"
    exported_settings: ClassVar[tuple[str, ...]] = ("feature_layers", "n_components")
    refuses: ClassVar[bool] = True
    own_settings: ClassVar[frozenset[str]] = frozenset(
        {"feature_layers", "n_components", "projection", "digests", "exact_forget"}
    )
    kinds: ClassVar[Mapping[str, type[Part]]] = {"sums": ClassStatistics, "digests": Digests}
    notes: ClassVar[tuple[str, ...]] = ("experiences",)
    note_arrays: ClassVar[tuple[str, ...]] = ("lineage.merged", "lineage.since")
    latent_type = np.int8

    def __init__(self, features: FeatureExtractor, settings: Settings) -> None:
        self.features, self.settings = features, settings
        self.side, self.latent_shape = features.input_shape[0], (len(features),)
        self.class_statistics = ClassStatistics(len(features), settings.exact_forget)
        self.digests, self.lineage = Digests(), Lineage()
        self.experiences = 0

    @classmethod
    def on(cls, context: StrategyContext, state: State | None = None) -> Exact:
        settings = context.settings
        layers, projection = exact_requirements.features_of(context)
        bits = settings.bits if isinstance(settings.bits, Bits) else Bits()
        features = FeatureExtractor(context.graph, layers, bits, projection=projection)
        digest = None if projection is None else projection.digest()
        components = None if projection is None else len(projection)
        return cls(features, settings.changed(feature_layers=layers, n_components=components, projection=digest))

    @classmethod
    def usage(cls, context: StrategyContext) -> str:
        layers = context.settings.feature_layers or default_feature_layers(context.graph)
        return f"with bits {context.settings.bits}, feature layers {layers}"

    # planning

    @classmethod
    def requirements(cls, context: StrategyContext, classes: int) -> Requirements:
        return exact_requirements.planned(context, classes)

    def memory_items(self) -> dict[tuple[str, str], int]:
        return exact_requirements.used(self)

    @classmethod
    def small_settings(cls, model: Model, on_device: bool = False) -> list[dict[str, Any]]:
        """One layer; the head has the fewest features but for a few components."""
        layers = (model.replay_layers[-1], *([HEAD] if on_device else []))
        few = [{"n_components": 64}] if on_device and model.companion("projection").exists() else []
        return [{"feature_layers": each} for each in layers] + few

    @classmethod
    def summary(cls, settings: Settings) -> str:
        layers = f", feature layers {settings.feature_layers}" if settings.feature_layers else ""
        return cls.name + layers + (f", {settings.n_components} components" if settings.n_components else "")

    @classmethod
    def device_programs(cls, context: StrategyContext, classes: int) -> DevicePrograms:
        return exact_requirements.device_programs(context)

    # learning

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.int8]:
        return self.features.extract(images)

    def learn(self, samples: Samples, names: list[Name], watch: Watch) -> Learned:
        known, before, again = set(self.class_statistics.names), self.digests.state_dict(), 0
        self.class_statistics.make_room(names)
        experience = hashlib.sha256()
        for x, labels in self._in_parts(samples, names, watch):
            self.class_statistics.add(x, labels)
            if self.settings.digests:
                again += before.known(x, labels)
                self.digests.add(x, labels)
            experience.update(brought(x, labels))
        self.experiences += 1
        self.lineage = self.lineage.learned(experience.digest())
        added = [name for name in self.class_statistics.names if name not in known]
        return Learned(self.experiences - 1, range(0), added, 0, len(samples), again)

    def unlearn(self, samples: Samples, names: list[Name], watch: Watch) -> None:
        """Become the state that never saw these images, bit for bit. What cannot have been learned is refused; an image
        that was not learned but might have been is noticed with digests only."""
        names = [self._known(name) for name in names]
        for x, labels in self._in_parts(samples, names, watch):
            if self.settings.digests:
                self.digests.remove(x, labels)
            self.class_statistics.remove(x, labels)
        self.class_statistics.prove()
        self._nothing_is_nothing()

    def _nothing_is_nothing(self) -> None:
        """Without classes, the state is that of a new learner."""
        if not self.class_statistics.names:
            self.lineage = Lineage()

    def _in_parts(
        self, samples: Samples, names: list[Name], watch: Watch
    ) -> Iterator[tuple[NDArray[np.int8], list[Name]]]:
        for start in range(0, len(samples), ADDED_AT_ONCE):
            end = min(start + ADDED_AT_ONCE, len(samples))
            yield encoded(samples, range(start, end), watch), names[start:end]

    def forget(self, label: Name) -> None:
        """The class's count and sum go, and what they make of the products; its share of their scatter stays. Where the
        setting `exact_forget` has kept its products, all goes: the state is that of a learner that never saw it."""
        name = self._known(label)
        self.class_statistics.forget(name)
        self.class_statistics.settle(NOT_FORGOTTEN)
        self.class_statistics.prove(NOT_FORGOTTEN)
        self.digests.forget(name)
        self._nothing_is_nothing()

    def rename(self, old: Name, new: Name) -> None:
        classes = self.classes
        classes.rename(old, new)
        (name,) = set(classes.known) - set(self.class_statistics.names) or {self._known(old)}
        self.digests.rename(self._known(old), name)
        self.class_statistics.rename(self._known(old), name)

    def _known(self, label: Name) -> Name:
        return self.class_statistics.names[self.classes.number(label)]

    @property
    def classes(self) -> Classes:  # type: ignore[override]
        return Classes(self.class_statistics.names)

    # asking

    def predictor(self) -> DiscriminantPredictor:
        rule = IntegerDiscriminant if isinstance(self.settings.bits, Bits) else FloatDiscriminant
        statistics, features = self.class_statistics, self.features
        return DiscriminantPredictor(
            statistics.names, statistics.sums.shared(), features.lengths, rule, features.shrinkage
        )

    def state(self) -> State:
        parts = {"sums": self.class_statistics.state_dict(), "digests": self.digests.state_dict()}
        notes = {"experiences": self.experiences}
        return State(self.class_statistics.names, parts, {}, notes, self.lineage.arrays())

    def load_state(self, state: State) -> None:
        statistics, digests = statistics_of(state), digests_of(state)
        by_class = (statistics.class_products is not None) == self.settings.exact_forget
        need(by_class, "its class products do not match its settings.")
        need(self.class_statistics.fits(statistics), "it has another number of features.")
        need_possible(statistics.sums)
        fits = bool(digests.arrays) == self.settings.digests or not statistics.names
        need(fits, "its digests do not match its settings.")
        self.class_statistics.load_state_dict(statistics)
        self.digests.load_state_dict(digests)
        self.experiences = state.notes["experiences"]
        self.lineage = Lineage.read(state.note_arrays)

    def footprint(self) -> dict[str, int]:
        footprint = native.footprint(self.features.program)
        sums, n_features, classes = self.class_statistics.sums, len(self.features), len(self.class_statistics.names)
        axes = {"projection": self.features.projection.bytes} if self.features.projection is not None else {}
        return axes | {
            "network_working_memory": footprint.total,
            "network_another_arena": footprint.arena + footprint.scratch,
            "products": sums.products.nbytes,
            "class_sums": sums.class_sums.nbytes + sums.counts.nbytes,
            **(
                {}
                if self.class_statistics.class_products is None
                else {"class_products": self.class_statistics.class_products.nbytes}
            ),
            "discriminant": classes * (4 * n_features + 8),
            "factor": factor_bytes(n_features),
            "memory_to_make_it": native_sums.solve_bytes(n_features, classes),
        }

    @classmethod
    def pictures(cls, state: State) -> int:
        return statistics_of(state).sums.pictures

    @classmethod
    def counted(cls, state: State) -> dict[str, int]:
        return dict(zip(map(str, state.names), statistics_of(state).sums.counts.tolist(), strict=True))

    @classmethod
    def memory_bytes(cls, state: State) -> int:
        return sum(array.nbytes for part in state.parts.values() for array in part.arrays.values())

    @classmethod
    def described(cls, state: State) -> dict[str, Any]:
        sums = statistics_of(state).sums
        return {
            "pictures": cls.counted(state),
            "n_features": sums.n_features,
            "experiences": state.notes["experiences"],
            "classes_forgotten": state.parts["sums"].counters["forgotten"],
            "memory_bytes": cls.memory_bytes(state),
        }

    @classmethod
    def read(
        cls, names: tuple[Name | None, ...], content: dict[str, ArrayState], counters: Mapping[str, Any],
        note_arrays: Mapping[str, NDArray[np.uint64]],
    ) -> State:  # fmt: skip
        Lineage.read(note_arrays)
        state = super().read(names, content, counters, note_arrays)
        digests = digests_of(state).arrays
        fits = not digests or np.array_equal(digests["sizes"], statistics_of(state).sums.counts)
        need(fits, "It must have one digest per image.")
        return state

    @classmethod
    def prove(cls, state: State) -> None:
        """The scatter within classes has a factor: engine/possible.py."""
        need_factor(statistics_of(state).sums)


def statistics_of(state: State) -> ClassStatisticsState:
    """The class statistics of a state of this strategy."""
    statistics = state.parts["sums"]
    assert isinstance(statistics, ClassStatisticsState)
    return statistics


def digests_of(state: State) -> DigestsState:
    digests = state.parts["digests"]
    assert isinstance(digests, DigestsState)
    return digests
