"""Pre-training without labels: a teacher that knows ImageNet judges views of any photographs, and a network learns to
answer alike."""
