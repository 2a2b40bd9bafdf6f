"""A learner in the manner of other libraries, each an extra: scikit-learn, river, Avalanche."""
