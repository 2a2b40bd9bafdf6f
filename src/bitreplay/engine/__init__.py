"""Whole-number arithmetic: programs, their layers, and what runs them.

The layers come with the package: their files declare the operations that a program may contain.
"""

from bitreplay.engine import layers as layers
