"""Everything that needs PyTorch: binary layers, the models, pre-training. No other part imports torch."""
