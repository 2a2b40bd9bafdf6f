"""Learning by sums on many machines: images go to the workers of a Ray cluster, and their states are merged.

    workers = Workers("auto")                          a running cluster; needs bitreplay[ray] here and there
    workers.learn(learner, images, labels)             the state that the learner alone would have, same hash
    workers.encode(learner, images)
    merge_tree(folder, work, base, run=tasks_on("auto"))       files of many devices (fleet/tree.py)

A worker gets some pictures, learns them as a learner that knows nothing, and its state is merged with another's
(lifecycle/merging.py), two and two, until one is left. Tasks depend on nothing but their arguments: one that a dying
worker leaves unfinished is run again elsewhere, and nothing is counted twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay import statefile, zoo
from bitreplay.data.pictures import fitting
from bitreplay.fleet.tree import Task, Used
from bitreplay.learner import Learner
from bitreplay.learning.classes import Classes, Name, names_of
from bitreplay.learning.progress import Progress
from bitreplay.learning.reports import Learned
from bitreplay.lifecycle.merging import Total

AT_ONCE = 1024  # pictures of one task
AHEAD = 2  # tasks given out for each core that the cluster has
RETRIES = 5


def connect(address: str) -> Any:
    """The module ray, connected to a running cluster."""
    try:
        import ray
    except ImportError:
        raise ValueError("A cluster needs Ray: install bitreplay[ray].") from None
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except ConnectionError as error:
            raise ValueError(f"There is no Ray cluster at {address}: {str(error).splitlines()[0]}") from None
    return ray


class Workers:
    """`at_once` images are one task."""

    def __init__(self, address: str = "auto", at_once: int = AT_ONCE) -> None:
        self._ray, self._at_once = connect(address), at_once
        once = {"num_cpus": 1, "max_retries": RETRIES}
        self._learned, self._both, self._coded = (
            self._ray.remote(**once)(function) for function in (_learned, _both, _coded)
        )

    @property
    def cores(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def learn(
        self, learner: Learner, images: Any, labels: Any, progress: Callable[[Progress], None] | None = None
    ) -> Learned:  # fmt: skip
        """Learn one experience, as `learner.learn`; all of it, or nothing."""
        strategy = type(learner.strategy)
        if not strategy.merges:
            raise ValueError(f"A cluster learns with the strategy exact, got {strategy.name}.")
        state = learner.state()
        names = Classes(state.names).spelled(names_of(labels))
        job = _job(learner)
        tasks = (
            lambda part=part, part_labels=part_labels: self._learned.remote(*job, part, part_labels)
            for part, part_labels in self._parts(learner, images, names)
        )
        content = statefile.from_bytes(self._ray.get(self._reduced(tasks, len(names), progress)), "The workers' state")
        total = Total()
        if any(name is not None for name in state.names):
            total.add(replace(content, state=state), "the learner")
        total.add(content, "what the workers learned")
        merged = total.content().state
        learner.restore(replace(merged, notes=dict(merged.notes) | {"experiences": learner.experiences + 1}))
        added = [name for name in merged.names if name is not None and name not in state.names]
        return Learned(learner.experiences - 1, range(0), added, 0, len(names))

    def encode(self, learner: Learner, images: Any) -> NDArray:
        job = _job(learner)
        parts = self._parts(learner, images, [0] * len(images))
        return np.concatenate(self._ray.get([self._coded.remote(*job, part) for part, _ in parts]))

    def _parts(self, learner: Learner, images: Any, names: list[Name]) -> Iterator[tuple[NDArray, list[Name]]]:
        if len(images) != len(names) or not names:
            raise ValueError(f"There must be as many labels as pictures, got {len(names)} and {len(images)}.")
        for start in range(0, len(names), self._at_once):
            end = start + self._at_once
            yield fitting.fit_pictures(images[start:end], learner.strategy.side), names[start:end]

    def _reduced(
        self, tasks: Iterator[Callable[[], Any]], pictures: int, progress: Callable[[Progress], None] | None
    ) -> Any:  # fmt: skip
        """The merged state of all tasks, of which only a few are under way at a time."""
        running: list[Any] = []
        done: list[Any] = []
        limit, learned = AHEAD * self.cores, 0
        first: set[Any] = set()

        def wait() -> None:
            nonlocal running, learned
            ready, running = self._ray.wait(running)
            for ref in ready:
                if ref in first:
                    first.remove(ref)
                    learned += 1
                    if progress is not None:
                        progress(Progress("pictures", min(learned * self._at_once, pictures), pictures))
            done.extend(ready)
            while len(done) > 1:
                running.append(self._both.remote(done.pop(), done.pop()))

        for task in tasks:
            ref = task()
            running.append(ref)
            first.add(ref)
            if len(running) >= limit:
                wait()
        while running:
            wait()
        (last,) = done
        return last


def tasks_on(address: str = "auto") -> Callable[[Iterable[Task]], Iterator[Used]]:
    """How `fleet.tree.merge_tree` runs its tasks on a cluster: a few for each core, again if a worker dies."""
    ray = connect(address)
    limit = AHEAD * int(ray.cluster_resources().get("CPU", 1))

    def run(tasks: Iterable[Task]) -> Iterator[Used]:
        running: list[Any] = []
        for function, arguments in tasks:
            if len(running) >= limit:
                ready, running = ray.wait(running)
                yield from ray.get(ready)
            running.append(ray.remote(num_cpus=1, max_retries=RETRIES)(function).remote(*arguments))
        yield from ray.get(running)

    return run


def _job(learner: Learner) -> tuple[str, str, str]:
    """What a worker needs to make an equal learner: the model by name or file, its checksum, the settings."""
    model = learner.model
    if model is None:
        raise ValueError("A cluster needs a learner that was made from a model file.")
    shipped = model.path.parent == zoo.FOLDER
    settings = json.dumps(learner.settings.to_dict(), sort_keys=True)
    return (model.name if shipped else str(model.path)), model.digest, settings


@lru_cache(maxsize=2)
def _fresh(model: str, digest: str, settings: str) -> Learner:
    pretrained = zoo.find_by_digest(model, digest) or zoo.find(model)
    if pretrained.digest != digest:
        raise ValueError(f"A worker has another {model}, {pretrained.digest[:12]} instead of {digest[:12]}.")
    return Learner.from_pretrained(pretrained, **json.loads(settings))


def _learned(model: str, digest: str, settings: str, images: NDArray[np.uint8], names: list[Name]) -> bytes:
    learner = _fresh(model, digest, settings)
    empty = learner.state()
    try:
        learner.learn(images, names)
        content = statefile.Content(model, digest, learner.settings, learner.state(), learner.strategy.side)
        return statefile.to_bytes(content)
    finally:
        learner.restore(empty)


def _coded(model: str, digest: str, settings: str, images: NDArray[np.uint8]) -> NDArray:
    return _fresh(model, digest, settings).encode(images)


def _both(one: bytes, other: bytes) -> bytes:
    total = Total()
    total.add(statefile.from_bytes(one, "one part"), "one part")
    total.add(statefile.from_bytes(other, "another"), "another")
    return statefile.to_bytes(total.content())
