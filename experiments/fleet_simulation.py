"""A thousand devices in Flower's simulation: is the merged state that of one learner that saw what arrived?

    python experiments/fleet_simulation.py groceries 1000          rows in results/fleet_simulation.csv
    python experiments/fleet_simulation.py cifar100 1000           needs BITREPLAY_DATA; both bitreplay[flower]

Pictures are divided unevenly (shares by a Dirichlet distribution; a device without a picture sends nothing). A tenth of
the devices fail, one in a hundred answers seconds late, a tenth are asked twice. Once openly, once masked, where
devices fail at a random step of the round. Each run ends in a hash that is compared with one learner's, which learns
the pictures of those who came.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Context
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation
from numpy.typing import NDArray
from rows import RESULTS, append

from bitreplay.adapters.flower import ExactFleet, client_app
from bitreplay.data.named import load_dataset
from bitreplay.fleet import begun
from bitreplay.learner import Learner
from bitreplay.parts.state import State

MODEL, N_COMPONENTS = "react_tiny", 128
STEPS = ("join", "shares", "masked", "unmask")
HEADER = ("data", "devices", "masked", "pictures", "counted", "refused", "repeats", "failed", "late", "bytes_a_device",
          "seconds", "same_hash", "hash")  # fmt: skip


def divided(pictures: int, devices: int) -> list[NDArray]:
    """Numbers of pictures for each device, few for most and many for some."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(devices, 1.0))
    ends = np.round(np.cumsum(shares) * pictures).astype(int)
    return np.split(rng.permutation(pictures), ends[:-1])


def failing(devices: int) -> dict[int, str]:
    """A tenth of the devices, and the step at which each fails."""
    rng = np.random.default_rng(1)
    return {int(k): STEPS[int(rng.integers(len(STEPS)))] for k in rng.permutation(devices)[: devices // 10]}


def late(devices: int) -> set[int]:
    return set(np.random.default_rng(2).permutation(devices)[: max(devices // 100, 1)].tolist()) - set(failing(devices))


@lru_cache(maxsize=1)
def process_learner() -> tuple[Learner, State]:
    """This process's learner, and its state before it learned anything."""
    learner = Learner.from_pretrained(MODEL, strategy="exact", n_components=N_COMPONENTS)
    return learner, learner.state()


def taught(folder: Path, chosen: NDArray, device: str) -> Learner:
    """This process's learner, with nothing but these pictures."""
    learner, empty = process_learner()
    learner.restore(empty)
    begun(learner, device, 0)
    if len(chosen):
        images, labels = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("images", "labels"))
        learner.learn(np.asarray(images[chosen]), labels[chosen])
    return learner


def device_app(folder: Path, devices: int, delay: float) -> ClientApp:
    def fails(message: Any, context: Context, call_next: Callable[[Any, Context], Any]) -> Any:
        """Flower's mod around every answer: some devices fail, some are late."""
        number, step = int(context.node_config["partition-id"]), message.metadata.message_type.partition(".")[2]
        planned = failing(devices).get(number)
        if planned is not None and step in ("sums", planned):
            raise RuntimeError("the power failed")
        if number in late(devices) and step == "sums":
            time.sleep(delay)
        return call_next(message, context)

    def own(context: Context) -> Learner:
        number = int(context.node_config["partition-id"])
        images = np.load(folder / "images.npy", mmap_mode="r")
        return taught(folder, divided(len(images), devices)[number], f"device-{number}")

    return client_app(own, min_pictures=1, mods=[fails])


def simulated(folder: Path, devices: int, masked: bool, delay: float = 3.0, timeout: float = 540.0) -> dict[str, Any]:
    """One run; what the server had at its end."""
    labels = np.load(folder / "labels.npy")
    found: dict[str, Any] = {}

    def main(grid: Grid, context: Context) -> None:
        fleet = ExactFleet(Learner.from_pretrained(MODEL, strategy="exact", n_components=N_COMPONENTS), 1, timeout)
        start = time.perf_counter()
        nodes = list(grid.get_node_ids())
        if masked:
            fleet.gather_masked(
                grid, sorted(set(labels.tolist())), max_pictures=max(map(len, divided(len(labels), devices)))
            )
        else:
            fleet.gather(grid, enough=devices - len(late(devices)))
            fleet.gather(grid, nodes[: max(devices // 10, 1)])  # asked twice; late answers come here or below
            fleet.gather_late(grid)
        state = fleet.gathering.content().state
        found.update(seconds=time.perf_counter() - start, hash=state.hash(), report=list(fleet.gathering.report),
                     pictures=int(state.parts["sums"].arrays["counts"].sum()), bytes=fleet.bytes_received)  # fmt: skip

    app = ServerApp()
    app.main()(main)
    backend: Any = {"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": 2, "include_dashboard": False}}
    run_simulation(app, device_app(folder, devices, delay), devices, backend_config=backend)
    return found


def planned(folder: Path, devices: int, masked: bool) -> set[int]:
    """Devices that have pictures and do not fail before they have sent them."""
    parts = divided(len(np.load(folder / "labels.npy")), devices)
    lost = {number for number, step in failing(devices).items() if not masked or step != "unmask"}
    return {number for number, part in enumerate(parts) if len(part) and number not in lost}


def counted(run: dict[str, Any]) -> set[int]:
    """Devices that the server says it has counted."""
    return {int(said.device.rpartition("-")[2]) for said in run["report"] if said.verdict == "counted"}


def expected(folder: Path, devices: int, came: set[int]) -> Learner:
    """One learner that saw the pictures of these devices."""
    parts = divided(len(np.load(folder / "labels.npy")), devices)
    return taught(folder, np.concatenate([parts[number] for number in sorted(came)]), "one")


def main(data: str, devices: int, limit: int | None = None) -> None:
    dataset = load_dataset(data).data
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        np.save(folder / "images.npy", dataset.train_images[:limit])
        np.save(folder / "labels.npy", dataset.train_labels[:limit])
        for masked in (False, True):
            run = simulated(folder, devices, masked)
            one = expected(folder, devices, planned(folder, devices, masked)).state_hash()
            said = [verdict.verdict for verdict in run["report"]]
            came = said.count("counted")
            row = (data, devices, masked, run["pictures"], came, said.count("refused"), said.count("repeat"),
                   len(failing(devices)), len(late(devices)), run["bytes"] // max(came, 1), round(run["seconds"], 1),
                   run["hash"] == one, run["hash"][:16])  # fmt: skip
            append(RESULTS / "fleet_simulation.csv", HEADER, row)


if __name__ == "__main__":
    import fleet_simulation  # Ray's workers find functions by the name of their module, and that on their path

    here = Path(__file__).resolve().parent
    os.environ["PYTHONPATH"] = os.pathsep.join([str(here), str(here.parent / "src")])
    fleet_simulation.main(sys.argv[1], int(sys.argv[2]), *(int(text) for text in sys.argv[3:4]))
