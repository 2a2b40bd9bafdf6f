"""What learners and strategies share: classes and their numbers, samples, progress, reports."""
