"""How much faster are two workers than one? CIFAR-10's first experience by exact sums on a local Ray cluster.

    python experiments/cluster_time.py [PICTURES] [MODEL]        needs bitreplay[ray], and cores that are free

A node of one core each. Besides wall time: the seconds of CPU that the one who asks takes, which is what bounds many
workers (docs/cluster.md). The state's hash is compared with that of one machine.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import ray
from networks import published
from ray.cluster_utils import Cluster

from bitreplay.cluster import Workers
from bitreplay.data.cifar import cifar10
from bitreplay.learner import Learner


def main(pictures: int, model: str) -> None:
    data = cifar10()
    images, labels = data.train_images[:pictures], data.train_labels[:pictures]
    alone = Learner.from_pretrained(published(model), strategy="exact")
    start, used = time.perf_counter(), time.process_time()
    alone.learn(images, labels)
    print(f"one process: {time.perf_counter() - start:.1f} s, {time.process_time() - used:.1f} s of CPU", flush=True)
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1] / "src")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for count in (1, 2):
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        workers = Workers(cluster.address, at_once=512)
        learner = Learner.from_pretrained(published(model), strategy="exact")
        workers.learn(learner, images[:1024], labels[:1024])  # workers start and read the model
        learner = Learner.from_pretrained(published(model), strategy="exact")
        start, used = time.perf_counter(), time.process_time()
        workers.learn(learner, images, labels)
        wall, cpu = time.perf_counter() - start, time.process_time() - used
        same = learner.state_hash() == alone.state_hash()
        print(f"{count} workers: {wall:.1f} s, the asker {cpu:.2f} s of CPU, same state: {same}", flush=True)
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    pictures, model = [*sys.argv[1:], *("4096", "bireal18")[len(sys.argv) - 1 :]]
    main(int(pictures), model)
