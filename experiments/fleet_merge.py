"""How long does it take to merge ten thousand states on a Ray cluster, and how much memory has a worker?

    python experiments/fleet_merge.py 128 10000          rows in results/fleet_merge.csv; needs bitreplay[ray]
    python experiments/fleet_merge.py 2048 200

States of 20 pictures of 10 classes each, of random features (the sums do not care), in a folder; two workers of one
core. A quarter of them, half and all, to see whether time is linear and memory flat; then all of them with a worker
killed in the middle. The hash is compared with that of one learner that learned all features at once.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import ray
from networks import published
from ray.cluster_utils import Cluster
from rows import RESULTS, append

from bitreplay.cluster import tasks_on
from bitreplay.fleet.tree import merge_tree
from bitreplay.learner import Learner

PICTURES, CLASSES = 20, 10
HEADER = ("features", "states", "state_bytes", "workers", "killed", "seconds", "cpu_seconds", "cpu_ms_a_state",
          "most_worker_mb", "counted", "same_hash", "hash")  # fmt: skip


def empty(features: int) -> Learner:
    if features == 2048:
        return Learner.from_pretrained(published("react18"), strategy="exact")
    return Learner.from_pretrained("react_tiny", strategy="exact", n_components=features)


def features_of(device: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(device)
    return rng.integers(-127, 128, (PICTURES, features)).astype(np.int8), rng.integers(0, CLASSES, PICTURES)


def write_states(folder: Path, features: int, states: int) -> int:
    learner = empty(features)
    nothing = learner.state()
    for device in range(states):
        learner.restore(nothing)
        learner.learn_encoded(*features_of(device, features))
        data = learner.to_bytes()
        (folder / f"device-{device:06}.state").write_bytes(data)
    return len(data)


def alone(features: int, states: int) -> str:
    learner = empty(features)
    for start in range(0, states, 500):
        both = [features_of(device, features) for device in range(start, min(start + 500, states))]
        learner.learn_encoded(np.concatenate([x for x, _ in both]), np.concatenate([names for _, names in both]))
    return learner.state_hash()


def main(features: int, states: int) -> None:
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1] / "src")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    run = tasks_on(cluster.address)
    with tempfile.TemporaryDirectory() as place:
        folder, killed = Path(place) / "states", False
        folder.mkdir()
        size = write_states(folder, features, states)

        def kill(done: int, total: int) -> None:
            nonlocal killed
            if killing and not killed and done >= total // 3:
                killed = True
                cluster.remove_node(nodes[1], allow_graceful=False)
                cluster.add_node(num_cpus=1)

        for share, killing in ((states // 16, False), (4, False), (2, False), (1, False), (1, True)):
            some = Path(place) / "some"
            shutil.rmtree(some, ignore_errors=True)
            some.mkdir()
            for path in sorted(folder.iterdir())[: states // share]:
                os.link(path, some / path.name)
            work = Path(place) / f"work-{share}-{killing}"
            start = time.perf_counter()
            at_once = 64 if features < 1000 else 8
            merged = merge_tree(some, work, files_a_task=at_once, run=run, progress=kill)
            seconds, state_hash = time.perf_counter() - start, merged.content.state.hash()
            counted = sum(line.verdict == "counted" for line in merged.report)
            row = (features, states // share, size, 2, killing, round(seconds, 1), round(merged.cpu_seconds, 1),
                   round(1e3 * merged.cpu_seconds * share / states, 2), round(merged.most_bytes / 1e6), counted,
                   state_hash == alone(features, states // share), state_hash[:16])  # fmt: skip
            if states // share != 16:  # the first starts the workers
                append(RESULTS / "fleet_merge.csv", HEADER, row)
            shutil.rmtree(work)
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
