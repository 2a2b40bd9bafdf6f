"""Pre-training without labels: a network learns to give the outputs of a teacher that was trained on ImageNet."""
