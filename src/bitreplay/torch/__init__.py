"""Everything that needs PyTorch: binary layers, the five models, pre-training. No other part imports torch."""
