"""The numbers of a step by name."""

from __future__ import annotations

from bitreplay.streams.follow import Step


def figures(step: Step) -> dict[str, float]:
    """The numbers of a step by name.

    Parameters
    ----------
    step : Step
        From `follow`.

    Returns
    -------
    dict of str to float
        `accuracy`, `seen_accuracy`, `pictures`, `seconds`, and the accuracy of each class as `class/NAME`.

    Examples
    --------
    >>> import numpy as np
    >>> from bitreplay import Learner, follow
    >>> images, labels = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)]), ["dark", "light"]
    >>> (step,) = follow(Learner.from_pretrained("react_tiny"), [(images, labels)], images, labels)
    >>> figures(step)["class/dark"]
    1.0
    """
    evaluation = step.evaluation
    totals = {
        "accuracy": evaluation.accuracy, "seen_accuracy": evaluation.seen_accuracy, "pictures": step.pictures,
        "seconds": step.seconds,
    }  # fmt: skip
    return totals | {f"class/{name}": accuracy for name, accuracy in evaluation.per_class.items()}
