"""Streams of experiences, and a learner along one."""
