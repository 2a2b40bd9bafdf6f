"""How well a learner does: figures of its answers."""
