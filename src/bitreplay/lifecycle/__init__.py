"""A learner's life: built from a model, changed one step at a time, merged, saved and loaded."""
