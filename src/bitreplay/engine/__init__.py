"""Whole-number arithmetic: programs, their layers, and what runs them."""
