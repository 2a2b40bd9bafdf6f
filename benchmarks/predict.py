"""CPU seconds of `bitreplay predict STATE PICTURE`, from start to end of the process, for every shipped network.

    python -m benchmarks.predict                     writes results/predict.csv

The state is that of the 732 training pictures of groceries, the picture one of its test pictures. User and system time
of all threads; the networks take turns, and the best of several counts. Modules are compiled beforehand, as an
installation does it. `numpy alone` is an interpreter that imports numpy and ends.
"""

from __future__ import annotations

import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from bitreplay import Learner, zoo
from bitreplay.data.groceries import groceries

RESULTS = Path(__file__).with_name("results") / "predict.csv"
TURNS = 7
COMPONENTS = 128


def seconds(words: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def states(folder: Path) -> dict[tuple[str, int], Path]:
    """State files by network and number of features or components."""
    data, files = groceries(), {}
    Image.fromarray(data.test_images[0]).save(folder / "picture.png")
    names = [data.class_names[label] for label in data.train_labels]
    for model in map(zoo.find, zoo.names()):
        for n_components in (None, COMPONENTS) if model.companion("projection").exists() else (None,):
            learner = Learner.from_pretrained(model, n_components=n_components)
            learner.learn(data.train_images, names)
            file = folder / f"{model.name}-{n_components}"
            learner.save(file)
            files[model.name, learner.strategy.latent_shape[0]] = file
    return files


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        commands: dict[tuple[str, int | str], list[str]] = {("numpy alone", ""): ["-c", "import numpy"]}
        for (network, n_features), state in states(folder).items():
            commands[network, n_features] = ["-m", "bitreplay", "predict", str(state), str(folder / "picture.png")]
        for words in commands.values():
            seconds(words, environment)
        turns = [{key: seconds(words, environment) for key, words in commands.items()} for _ in range(TURNS)]
    with open(RESULTS, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("network", "numbers of a picture", "CPU seconds"))
        for key in commands:
            table.writerow((*key, f"{min(turn[key] for turn in turns):.3f}"))
            print(*key, min(turn[key] for turn in turns))


if __name__ == "__main__":
    main()
