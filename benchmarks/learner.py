"""Milliseconds of what a learner's user waits for: `learn` of 20 pictures, `predict` of one and of 1,000, `evaluate`.

    python -m benchmarks.learner                    of this tree
    python -m benchmarks.learner ANOTHER_TREE       of both and their ratio, in turns: a checkout with its core built

The network is quicknet, the pictures are those of groceries. `answer` rows begin with features, so that the network's
time is not in them; `first` includes the discriminant. CPU time of all threads of the process, the best of several.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TURNS = 5


def seconds(act: Callable[[], object], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        act()
        best = min(best, time.process_time() - start)
    return best


def measured() -> dict[str, float]:
    from bitreplay import Learner
    from bitreplay.data.groceries import groceries

    data = groceries()
    learner = Learner.from_pretrained("quicknet")
    names = [data.class_names[label] for label in data.train_labels]
    tested = [data.class_names[label] for label in data.test_labels]
    images, many = data.test_images[:1], data.train_images[[k % len(names) for k in range(1000)]]
    learner.learn(data.train_images, names)
    features, state = learner.encode(many), learner.state()
    large = many[:20].repeat(6, axis=1).repeat(6, axis=2)

    def first(answer: Callable[[], object]) -> float:
        best = float("inf")
        for _ in range(5):
            learner.restore(state)
            best = min(best, seconds(answer, 1))
        return best

    return {
        "learn 20 pictures": seconds(lambda: learner.learn(many[:20], names[:20]), 5),
        "learn 20 large pictures": seconds(lambda: learner.learn(large, names[:20]), 5),
        "first answer": first(lambda: learner.predict_encoded(features[:1])),
        "first answer with probabilities": first(lambda: learner.predict_proba_encoded(features[:1])),
        "predict 1": seconds(lambda: learner.predict(images), 30),
        "predict 1,000": seconds(lambda: learner.predict(many), 3),
        "answer 1": seconds(lambda: learner.predict_encoded(features[:1]), 200),
        "answer 1 with probabilities": seconds(lambda: learner.predict_proba_encoded(features[:1]), 200),
        "answer 1 or unknown": seconds(lambda: learner.predict_encoded(features[:1], unknown=0.05), 100),
        "answer 1,000": seconds(lambda: learner.predict_encoded(features), 20),
        "answer 1,000 with probabilities": seconds(lambda: learner.predict_proba_encoded(features), 20),
        "answer 1,000 or unknown": seconds(lambda: learner.predict_encoded(features, unknown=0.05), 5),
        "evaluate": seconds(lambda: learner.evaluate(data.test_images, tested), 3),
    }


def measured_in(tree: Path) -> dict[str, float]:
    """In a process of its own, which imports the package of that tree, also where another one is installed in place."""
    start = f"""
import json, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path[:0] = [{str(tree / "src")!r}, {str(HERE)!r}]
import bitreplay
from benchmarks.learner import measured
assert bitreplay.__file__.startswith({str(tree)!r})
print(json.dumps(measured()))"""
    environment = dict(os.environ, BITREPLAY_THREADS="1")
    done = subprocess.run([sys.executable, "-c", start], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def main() -> None:
    trees = [HERE, *(Path(word).resolve() for word in sys.argv[1:])]
    turns = [[measured_in(tree) for tree in trees] for _ in range(TURNS)]
    for name in turns[0][0]:
        best = [1000 * min(turn[place][name] for turn in turns) for place in range(len(trees))]
        print(f"{name:32}", *(f"{value:10.3f}" for value in best), *(f"{best[0] / other:8.2f}" for other in best[1:]))


if __name__ == "__main__":
    main()
