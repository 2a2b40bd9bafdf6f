"""The bytes of a learner, part by part."""

from __future__ import annotations

from bitreplay.engine import native
from bitreplay.learner import Learner


def footprint(learner: Learner) -> dict[str, int]:
    """Model file, all that backbone and tail take to run, learned parameters, stored latents, also when full."""
    sample = 8
    for length in learner.memory.sample_shape:
        sample *= length
    found = {} if learner.model is None else {"model_file": learner.model.path.stat().st_size}
    found["backbone_working_memory"] = native.footprint(learner.backbone.program).total
    if (program := getattr(learner.tail, "program", None)) is not None:
        taken = native.footprint(program)
        found["tail_working_memory"] = taken.total - taken.parameters
    found["learned_parameters"] = sum(values.nbytes for values in learner.tail.tensors().values())
    found["one_latent"] = sample
    found["stored_latents"] = learner.memory.bytes
    found["stored_latents_when_full"] = sample * learner.settings.per_class * len(learner.labels)
    return found
