"""Continual learning on small devices with binary neural networks, in whole numbers."""

__version__ = "0.1.0"
