"""The peers that are installed, each in its best setting, raced against ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from benchmarks.bench import ours
from benchmarks.bench.row import Row
from benchmarks.bench.timing import race
from bitreplay.engine import native

Work = Callable[[], object]
Settings = Iterable[tuple[str, Callable[[], Work]]]
PACKAGES = {"PyTorch": "benchmarks.bench.pytorch.contestants", "ONNX Runtime": "benchmarks.bench.onnx_peer"}
SHORT_ROUNDS = 3


@dataclass
class Bench:
    """`rounds`: turns of each contestant. `compiled`: let PyTorch compile (tens of seconds for each network).

    `say` is called with what is being done.
    """

    rounds: int = 20
    compiled: bool = True
    say: Callable[[str], None] = lambda sentence: None
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    _modules: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name, module in PACKAGES.items():
            try:
                self._modules[name] = import_module(module)
                self.versions[name] = self._modules[name].version()
            except ImportError as error:
                self.absent[name] = f"absent: {error}"

    def package(self, name: str) -> Any | None:
        """The module that drives a peer, or None if the peer is absent. "ours" is always there."""
        return None if name in self.absent else self._modules.get(name, ours)

    def contest(self, question: str, work: str, mine: Work, peers: list[Peer], steps: int = 1) -> Iterator[Row]:
        """One row for each peer: milliseconds of ours and theirs from one race. A call of ours takes `steps`."""
        contestants, notes = {"ours": mine}, {}
        for peer in peers:
            driver = self.package(peer.package)
            if driver is not None:
                self.say(f"  {work}: preparing {peer.name}")
                try:
                    notes[peer.name], contestants[peer.name] = fastest(peer.settings(driver), self.say)
                except RuntimeError as error:  # one peer that does not run costs its own figure, not the others'
                    notes[peer.name] = str(error)
        self.say(f"  {work}: {self.rounds} rounds of {', '.join(contestants)}")
        times = race(contestants, self.rounds)
        for peer in peers:
            theirs = 1000 * times[peer.name] if peer.name in times else None
            note = notes.get(peer.name, self.absent.get(peer.package, ""))
            yield Row(question, work, peer.name, "ms", 1000 * times["ours"] / steps, theirs, peer.target, note)


@dataclass(frozen=True)
class Peer:
    """A name for the row, the package it needs, its settings made with that package's driver, and the target."""

    name: str
    package: str
    settings: Callable[[Any], Settings]
    target: float | None = None


def target_on(avx512: float, others: float) -> float:
    """The target on the instruction set in use."""
    return avx512 if native.isa() == "avx512" else others


def plain_fp32(settings: Settings) -> Settings:
    """PyTorch as it comes: fp32, not compiled, either memory layout."""
    return [(name, make) for name, make in settings if name.startswith("fp32") and not name.endswith("compiled")]


def fastest(settings: Settings, say: Callable[[str], None] = lambda sentence: None) -> tuple[str, Work]:
    """The quickest by a short race; a setting that cannot be made or run is passed over."""
    best: tuple[float, str, Work] | None = None
    failure: Exception | None = None
    for name, make in settings:
        say(f"    trying {name}")
        try:
            work = make()
            time = race({name: work}, SHORT_ROUNDS)[name]
        except Exception as error:  # whatever a peer's compiler throws: that setting is no candidate
            failure = error
            continue
        if best is None or time < best[0]:
            best = (time, name, work)
    if best is None:
        raise RuntimeError(f"no setting of the peer runs: {failure}")
    return best[1], best[2]
