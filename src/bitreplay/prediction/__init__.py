"""What answers: names, probabilities, and "unknown"."""
