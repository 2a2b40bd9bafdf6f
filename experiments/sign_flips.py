"""q_b^bin = 1: binary weights that learn with no more memory than their signs.

A latent weight of one bit has two values, 0 and -1, one unit from the other sign. A step that rounds at random to a
unit towards the other sign takes it, with the probability of the step's size; one that points away changes nothing:

    it flips with the probability min(1, |step|),   step = sum of g x * k 2^gain * rate / samples

Here it runs on 4-bit latent weights that are put back to 0 and -1 after each step, which is the same arithmetic.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bitreplay.parts.tail import Tail


class SignFlips(Tail):
    """A tail of q_b^bin 4 that forgets how far its weights were from the other sign."""

    def step(self, latents: NDArray[np.uint64], labels: NDArray[np.int32], rate: Fraction) -> NDArray[np.int32]:
        found = super().step(latents, labels, rate)
        self.settle()
        return found

    def settle(self) -> None:
        """Two weights a byte: 15 (-1) where the highest of four bits is set, else 0. Signs stay, and so does all that
        is derived from them."""
        for tensor in self.program.tensors:
            if tensor.name.endswith(".latent"):
                stored = self._machine.read(tensor.name)
                self._machine.write(tensor.name, ((stored >> 3) & np.uint8(0x11)) * np.uint8(15))


def sign_flips(tail: Tail) -> SignFlips:
    tail.__class__ = SignFlips
    assert isinstance(tail, SignFlips)
    tail.settle()
    return tail
