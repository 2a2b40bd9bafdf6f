"""Devices of two classes each, each in its own light: merged sums, FedAvg and FedProx of a linear head, in Flower.

    python experiments/fleet_fedavg.py groceries          rows in results/fleet_fedavg.csv; needs bitreplay[flower]
    python experiments/fleet_fedavg.py cifar10            5,000 pictures, 50 devices; needs BITREPLAY_DATA

The same network and features (react_tiny, all 640 or 128 components) for all. A class is divided among several devices,
a device has two classes, and a light of its own: gains of the three colours and a gamma, drawn by seed. Test pictures
have lights that no device has. FedAvg and FedProx are Flower's strategies, every device in every round; the head begins
at zero, features have mean 0 and deviation 1 by the pooled statistics, which only sums could tell such a fleet.
Learning rate, local epochs and mu were chosen by the accuracy after the last round on a fifth of the training pictures,
held out; the head is then trained on all of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg, FedProx
from flwr.simulation import run_simulation
from numpy.typing import NDArray
from rows import RESULTS, append

from bitreplay.adapters.flower import ExactFleet, client_app
from bitreplay.data.named import load_dataset
from bitreplay.fleet import begun
from bitreplay.learner import Learner

MODEL, ROUNDS, BATCH = "react_tiny", 50, 16
SHOWN = (1, 5, 20, 50)
RATES, EPOCHS, MUS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0), (1, 5), (0.01, 0.1, 1.0)
HEADER = ("data", "features", "devices", "pictures", "method", "rate", "epochs", "mu", "rounds",
          *(f"accuracy_{count}" for count in SHOWN), "bytes_sent", "withdrawal", "hash")  # fmt: skip
Head = list[NDArray[np.float32]]


# the devices


def lit(images: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """All pictures in one light."""
    gains, gamma = rng.uniform(0.6, 1.4, 3), rng.uniform(0.7, 1.4)
    return (255 * np.clip(gains * images / 255, 0, 1) ** gamma).astype(np.uint8)


def divided(labels: NDArray, devices: int) -> list[NDArray]:
    """Pictures of each device, of two classes: a class is cut into as many parts as devices have it."""
    rng, classes = np.random.default_rng(0), int(labels.max()) + 1
    slots = np.concatenate([rng.permutation(classes) for _ in range(-(-2 * devices // classes))])[: 2 * devices]
    wanted = slots.reshape(devices, 2)
    parts: dict[int, Iterator[NDArray]] = {}
    for label in range(classes):
        places = rng.permutation(np.flatnonzero(labels == label))
        parts[label] = iter(np.array_split(places, max(int((wanted == label).sum()), 1)))
    return [np.concatenate([next(parts[int(label)]) for label in pair]) for pair in wanted]


def make_devices(folder: Path, data: str, n_components: int | None) -> int:
    """Write the features of each device, and of the test pictures; how many devices there are."""
    source, devices = load_dataset(data).data, 28 if data == "groceries" else 50
    images, labels = source.train_images, source.train_labels
    tests, test_labels = source.test_images, source.test_labels
    if data != "groceries":
        images, labels, tests, test_labels = images[:5000], labels[:5000], tests[:2000], test_labels[:2000]
    learner = Learner.from_pretrained(MODEL, strategy="exact", n_components=n_components)
    parts = divided(labels, devices)
    for number, chosen in enumerate(parts):
        x = learner.encode(lit(images[chosen], np.random.default_rng(1000 + number)))
        held = np.random.default_rng(number).permutation(len(chosen)) < len(chosen) // 5
        np.savez(folder / f"{number}.npz", x=x, y=labels[chosen], held=held)
    shown = np.concatenate([lit(tests[k : k + 1], np.random.default_rng(10**6 + k)) for k in range(len(tests))])
    np.savez(folder / "test.npz", x=learner.encode(shown), y=test_labels)
    return devices


def of_device(folder: Path, number: int) -> dict[str, NDArray]:
    return dict(np.load(folder / f"{number}.npz"))


# a linear head by gradients


def trained(head: Head, x: NDArray, y: NDArray, rate: float, epochs: int, mu: float, seed: int) -> Head:
    """Some epochs of SGD on softmax cross entropy from a head; mu pulls it back to where it began."""
    weights, bias = (part.copy() for part in head)
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            logits = x[chosen] @ weights.T + bias
            logits -= logits.max(axis=1, keepdims=True)
            p = np.exp(logits)
            p /= p.sum(axis=1, keepdims=True)
            p[np.arange(len(chosen)), y[chosen]] -= 1
            weights -= rate * (p.T @ x[chosen] / len(chosen) + mu * (weights - head[0]))
            bias -= rate * (p.mean(axis=0) + mu * (bias - head[1]))
    return [weights.astype(np.float32), bias.astype(np.float32)]


def accuracy(head: Head, x: NDArray, y: NDArray) -> float:
    return 100 * float(((x @ head[0].T + head[1]).argmax(axis=1) == y).mean())


@lru_cache(maxsize=1)
def pooled(folder: Path, devices: int) -> tuple[NDArray, NDArray]:
    x = np.concatenate([of_device(folder, number)["x"] for number in range(devices)]).astype(np.float32)
    return x.mean(axis=0), np.maximum(x.std(axis=0), 1e-3)


def scaled(folder: Path, devices: int, x: NDArray) -> NDArray:
    mean, deviation = pooled(folder, devices)
    return ((x.astype(np.float32) - mean) / deviation).astype(np.float32)


def chosen_settings(folder: Path, devices: int, classes: int) -> dict[str, tuple[float, int, float]]:
    """The best of each method on held-out training pictures. The rounds are those of Flower, without messages."""
    kept, held = [], []
    for number in range(devices):
        own = of_device(folder, number)
        x = scaled(folder, devices, own["x"])
        kept.append((x[~own["held"]], own["y"][~own["held"]]))
        held.append((x[own["held"]], own["y"][own["held"]]))
    held_x, held_y = (np.concatenate([pair[k] for pair in held]) for k in (0, 1))
    sizes = np.array([len(y) for _, y in kept], np.float32)
    best: dict[str, tuple[float, tuple[float, int, float]]] = {}
    for rate, epochs, mu in product(RATES, EPOCHS, (0.0, *MUS)):
        head: Head = [np.zeros((classes, held_x.shape[1]), np.float32), np.zeros(classes, np.float32)]
        for count in range(ROUNDS):
            heads = [trained(head, x, y, rate, epochs, mu, count) for x, y in kept]
            head = [np.tensordot(sizes / sizes.sum(), np.stack(parts), 1) for parts in zip(*heads, strict=True)]
        got = accuracy(head, held_x, held_y)
        name = "FedProx" if mu else "FedAvg"
        if name not in best or got > best[name][0]:
            best[name] = (got, (rate, epochs, mu))
    return {name: setting for name, (_, setting) in best.items()}


# in Flower


def head_app(folder: Path, devices: int) -> ClientApp:
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        number, config = int(context.node_config["partition-id"]), message.content["config"]
        own = of_device(folder, number)
        head = trained(message.content["arrays"].to_numpy_ndarrays(), scaled(folder, devices, own["x"]), own["y"],
                       float(config["rate"]), int(config["epochs"]), float(config.get("proximal-mu", 0.0)),
                       int(config["server-round"]))  # fmt: skip
        metrics = MetricRecord({"num-examples": len(own["y"])})
        return Message(RecordDict({"arrays": ArrayRecord(head), "metrics": metrics}), reply_to=message)

    return app


def federated(
    folder: Path, devices: int, classes: int, name: str, rate: float, epochs: int, mu: float
) -> tuple[list[float], int]:
    """Accuracy after each round, and the bytes that a device sent in all of them."""
    test = dict(np.load(folder / "test.npz"))
    x, curve, sent = scaled(folder, devices, test["x"]), [], []
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        everybody: dict[str, Any] = {"fraction_train": 1.0, "fraction_evaluate": 0.0, "min_train_nodes": devices,
                                     "min_available_nodes": devices}  # fmt: skip
        strategy = FedProx(proximal_mu=mu, **everybody) if name == "FedProx" else FedAvg(**everybody)
        start = ArrayRecord([np.zeros((classes, x.shape[1]), np.float32), np.zeros(classes, np.float32)])

        def judged(number: int, arrays: ArrayRecord) -> MetricRecord:
            if number:
                curve.append(accuracy(arrays.to_numpy_ndarrays(), x, test["y"]))
                sent.append(sum(len(array.data) for array in arrays.values()))
            return MetricRecord({"accuracy": curve[-1] if curve else 0.0})

        strategy.start(grid, start, ROUNDS, train_config=ConfigRecord({"rate": rate, "epochs": epochs}),
                       evaluate_fn=judged)  # fmt: skip

    simulate(app, head_app(folder, devices), devices)
    return curve, sum(sent)


def sums_app(folder: Path, n_components: int | None) -> ClientApp:
    def own(context: Context) -> Learner:
        number = int(context.node_config["partition-id"])
        learner = Learner.from_pretrained(MODEL, strategy="exact", n_components=n_components)
        begun(learner, f"node-{number}", 0)
        mine = of_device(folder, number)
        learner.learn_encoded(mine["x"], mine["y"])
        return learner

    return client_app(own, min_pictures=1)


def merged(folder: Path, devices: int, n_components: int | None) -> tuple[float, int, bool, str]:
    """Accuracy of the merged sums, bytes that a device sent, and whether a withdrawal left what it must, by hash."""
    test = dict(np.load(folder / "test.npz"))
    found: dict[str, Any] = {}
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        fleet = ExactFleet(Learner.from_pretrained(MODEL, strategy="exact", n_components=n_components), 1, 300.0)
        fleet.gather(grid)
        learner = fleet.merged()
        found["accuracy"] = 100 * learner.evaluate_encoded(test["x"], test["y"]).accuracy
        found["bytes"], found["hash"] = fleet.bytes_received // devices, learner.state_hash()
        fleet.withdraw("node-3")
        found["without"] = fleet.gathering.content().state.hash()

    simulate(app, sums_app(folder, n_components), devices)
    never = Learner.from_pretrained(MODEL, strategy="exact", n_components=n_components)
    for number in range(devices):
        if number != 3:
            own = of_device(folder, number)
            never.learn_encoded(own["x"], own["y"])
    return found["accuracy"], found["bytes"], found["without"] == never.state_hash(), found["hash"]


def simulate(server: ServerApp, client: ClientApp, devices: int) -> None:
    backend: Any = {"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": 2, "include_dashboard": False}}
    run_simulation(server, client, devices, backend_config=backend)


def main(data: str, features: str = "128,640") -> None:
    for n_components in (None if text == "640" else int(text) for text in features.split(",")):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            devices = make_devices(folder, data, n_components)
            own = [of_device(folder, number) for number in range(devices)]
            features, pictures = own[0]["x"].shape[1], sum(len(one["y"]) for one in own)
            classes = 1 + max(int(one["y"].max()) for one in own)
            got, sent, exact, state_hash = merged(folder, devices, n_components)
            start = (data, features, devices, pictures)
            row = (*start, "merged sums", "", "", "", 1, *[round(got, 1)] * len(SHOWN), sent,
                   "exact" if exact else "wrong", state_hash[:16])  # fmt: skip
            append(RESULTS / "fleet_fedavg.csv", HEADER, row)
            for name, (rate, epochs, mu) in chosen_settings(folder, devices, classes).items():
                curve, sent = federated(folder, devices, classes, name, rate, epochs, mu)
                shown = [round(curve[count - 1], 1) for count in SHOWN]
                row = (*start, name, rate, epochs, mu, ROUNDS, *shown, sent, "none", "")
                append(RESULTS / "fleet_fedavg.csv", HEADER, row)


if __name__ == "__main__":
    import fleet_fedavg  # Ray's workers find functions by the name of their module, and that on their path

    here = Path(__file__).resolve().parent
    os.environ["PYTHONPATH"] = os.pathsep.join([str(here), str(here.parent / "src")])
    fleet_fedavg.main(*sys.argv[1:3])
