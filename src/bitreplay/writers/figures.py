"""The numbers of a step by name."""

from __future__ import annotations

from bitreplay.streams.follow import Step


def figures(step: Step) -> dict[str, float]:
    """What is measured after an experience, and the accuracy of each class as class/NAME."""
    found = step.evaluation
    plain = {
        "accuracy": found.accuracy, "seen_accuracy": found.seen_accuracy, "pictures": step.pictures,
        "seconds": step.seconds,
    }  # fmt: skip
    return plain | {f"class/{name}": share for name, share in found.per_class.items()}
