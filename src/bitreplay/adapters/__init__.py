"""Learners with the interfaces of scikit-learn, river and Avalanche, and a fleet in Flower, each an extra."""
