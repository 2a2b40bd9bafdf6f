"""A real Ray cluster of several nodes on this machine: the state of one machine, also when nodes die in the middle."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bitreplay.learning.progress import Progress

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'bitreplay[ray]', or make test-ray")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cluster():
    """A head without cores and two nodes of one core each; workers find the package where the tests do."""
    from ray.cluster_utils import Cluster

    paths = [str(ROOT), str(ROOT / "src"), str(ROOT / "experiments"), os.environ.get("PYTHONPATH", "")]
    before = dict(os.environ)
    os.environ.update({"PYTHONPATH": os.pathsep.join(paths), "RAY_DEDUP_LOGS": "0", "OMP_NUM_THREADS": "1"})
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def pictures():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(6), 40))
    return (40 * labels[:, None, None, None] + rng.integers(0, 40, (240, 16, 16, 3))).astype(np.uint8), labels


def taught(model, pictures, learn):
    from bitreplay.learner import Learner

    learner = Learner.from_pretrained(model, strategy="exact")
    images, labels = pictures
    for first in (0, 3):
        now = (labels >= first) & (labels < first + 3)
        learn(learner, images[now], labels[now])
    return learner


def test_the_state_is_that_of_one_machine(cluster, tiny_model, pictures):
    from bitreplay.cluster import Workers
    from bitreplay.learner import Learner

    alone = taught(tiny_model, pictures, lambda learner, *given: learner.learn(*given))
    seen: list[Progress] = []
    for at_once in (7, 64, 1000):
        workers = Workers(cluster.address, at_once)
        assert workers.cores == 2
        together = taught(tiny_model, pictures, partial(workers.learn, progress=seen.append))
        assert together.state_hash() == alone.state_hash() and together.experiences == alone.experiences == 2
    assert seen[-1].done == seen[-1].total == 120
    assert (workers.encode(alone, pictures[0]) == alone.encode(pictures[0])).all()
    replaying = Learner.from_pretrained(tiny_model, strategy="replay")
    with pytest.raises(ValueError, match="A cluster learns with the strategy exact, got replay."):
        workers.learn(replaying, *pictures)


def test_a_node_that_dies_in_the_middle_changes_nothing(cluster, tiny_model, pictures):
    from bitreplay.cluster import Workers

    alone = taught(tiny_model, pictures, lambda learner, *given: learner.learn(*given))
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    workers = Workers(cluster.address, 3)
    died: list[int] = []

    def kill(progress):
        if progress.done >= 12 and not died:
            died.append(progress.done)
            cluster.remove_node(doomed, allow_graceful=False)

    together = taught(tiny_model, pictures, partial(workers.learn, progress=kill))
    assert died and died[0] < 120, "a node died before the first experience was over"
    assert together.state_hash() == alone.state_hash()


def test_rows_are_made_once_though_a_worker_is_killed(cluster, tiny_model, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    monkeypatch.syspath_prepend(str(ROOT))
    from grid import finish, rows
    from on_ray import finish_on
    from run import Run

    from bitreplay.data.cifar import CIFAR10_MD5

    folder, rng = tmp_path / "cifar-10-batches-bin", np.random.default_rng(0)
    folder.mkdir()
    for name in CIFAR10_MD5:
        labels = rng.permutation(10)
        records = np.concatenate([labels[:, None], 25 * labels[:, None] + rng.integers(0, 12, (10, 3072))], axis=1)
        (folder / name).write_bytes(records.astype(np.uint8).tobytes())
    monkeypatch.setenv("BITREPLAY_DATA", str(tmp_path))
    runs = [Run(model=str(tiny_model), memory_per_class=3, images=None, seed=seed) for seed in range(6)]
    alone = {row["seed"]: row["hash"] for row in finish(runs, tmp_path / "alone.jsonl", tmp_path / "codes")}
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    path, made = tmp_path / "together.jsonl", 0
    for _ in finish_on(cluster.address, runs, path, tmp_path / "far", data=str(tmp_path)):
        made += 1
        if made == 1:  # others are under way on it, or wait for it
            cluster.remove_node(doomed, allow_graceful=False)
    assert {row["seed"]: row["hash"] for row in rows(path)} == alone and made == len(rows(path)) == 6
    assert list(finish_on(cluster.address, runs, path, tmp_path / "far", data=str(tmp_path))) == []


def test_a_folder_of_states_is_merged_though_a_node_dies(cluster, tiny_model, pictures, tmp_path):
    from bitreplay.cluster import tasks_on
    from bitreplay.fleet.tree import merge_tree
    from bitreplay.learner import Learner

    images, labels = pictures
    (tmp_path / "in").mkdir()
    for number in range(60):
        learner = Learner.from_pretrained(tiny_model, strategy="exact")
        learner.learn(images[number::60], labels[number::60])
        (tmp_path / "in" / f"{number}.state").write_bytes(learner.to_bytes())
    (tmp_path / "in" / "again.state").write_bytes((tmp_path / "in" / "7.state").read_bytes())
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    died: list[int] = []

    def kill(done: int, total: int) -> None:
        if done >= 6 and not died:
            died.append(done)
            cluster.remove_node(doomed, allow_graceful=False)

    run = tasks_on(cluster.address)
    merged = merge_tree(tmp_path / "in", tmp_path / "work", files_a_task=2, run=run, progress=kill)
    alone = Learner.from_pretrained(tiny_model, strategy="exact")
    alone.learn(images, labels)
    assert died and merged.content.state.hash() == alone.state_hash()
    assert sorted(line.verdict for line in merged.report) == ["counted"] * 60 + ["repeat"]
