"""The bytes of a learner, part by part."""

from __future__ import annotations

from bitreplay.learner import Learner


def footprint(learner: Learner) -> dict[str, int]:
    """Model file, working memory of backbone and tail, learned parameters, stored latents and what they may grow to."""
    sample = 8
    for length in learner.memory.sample_shape:
        sample *= length
    found = {} if learner.model is None else {"model_file": learner.model.path.stat().st_size}
    found["backbone_working_memory"] = learner.backbone.program.arena_bytes
    if (program := getattr(learner.tail, "program", None)) is not None:
        found["tail_working_memory"] = program.arena_bytes
    found["learned_parameters"] = sum(values.nbytes for values in learner.tail.tensors().values())
    found["one_latent"] = sample
    found["stored_latents"] = learner.memory.bytes
    found["stored_latents_when_full"] = sample * learner.settings.per_class * len(learner.labels)
    return found
