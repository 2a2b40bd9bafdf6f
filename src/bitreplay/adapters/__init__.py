"""Learners with the interfaces of scikit-learn, river and Avalanche, each an extra."""
