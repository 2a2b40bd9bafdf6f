"""The three bit widths of the paper."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bits:
    """Bit widths of activations and gradients.

    Parameters
    ----------
    forward : int
        q_f, of activations: 8, 16 or 32.
    backward_binary : int
        q_b^bin, of the gradients of binary weights: 4, 8, 16 or 32; with 1 binary weights stay frozen.
    backward_other : int
        q_b^non-bin, of all other gradients: 8, 16 or 32.

    Raises
    ------
    ValueError
        If a width is another number.

    Examples
    --------
    >>> str(Bits(backward_binary=8))
    '8/8/16'
    """

    forward: int = 8
    backward_binary: int = 1
    backward_other: int = 16

    def __post_init__(self) -> None:
        """Check the widths."""
        for name, allowed in (("forward", (8, 16, 32)), ("backward_binary", (1, 4, 8, 16, 32)),
                              ("backward_other", (8, 16, 32))):  # fmt: skip
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} bits must be one of {allowed}, got {getattr(self, name)}")

    def __str__(self) -> str:
        """Join the widths by slashes."""
        return f"{self.forward}/{self.backward_binary}/{self.backward_other}"
