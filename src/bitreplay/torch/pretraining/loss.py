"""What pre-training minimises: cross entropy with the labels, and with what the teacher says of the same view."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def pretraining_loss(
    logits: Tensor,
    labels: Tensor,
    teacher_logits: Tensor | None,
    *,
    smoothing: float,
    distill: float,
    temperature: float,
    others: Tensor | None = None,
    share: Tensor | None = None,
) -> Tensor:
    """(1 - d) CE(labels smoothed) + d T^2 KL(teacher / T || model / T); without a teacher d is 0.

    Blended views have two labels: CE is (1 - share) CE(labels) + share CE(others) then.
    """
    logits = logits.float()
    if others is None or share is None:
        hard = F.cross_entropy(logits, labels, label_smoothing=smoothing)
    else:
        first, second = (
            F.cross_entropy(logits, wanted, label_smoothing=smoothing, reduction="none") for wanted in (labels, others)
        )
        hard = torch.lerp(first, second, share).mean()
    if teacher_logits is None:
        return hard
    soft = F.kl_div(
        F.log_softmax(logits / temperature, 1),
        F.log_softmax(teacher_logits.float() / temperature, 1),
        reduction="batchmean",
        log_target=True,
    )
    return (1 - distill) * hard + distill * temperature**2 * soft
