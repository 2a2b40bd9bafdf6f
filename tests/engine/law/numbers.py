"""The law's arithmetic in plain Python integers and fractions: an oracle that shares no code with the engine.

Every function states its rule the slow way (a fraction, a search), so that it can be read beside docs/law.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

SIGNIFICANT = {8: 8, 16: 16, 32: 24}
NO_GRADIENT = -(2**20)


def nearest(x: Fraction | int) -> int:
    """The nearest integer; a tie goes away from zero."""
    whole, rest = divmod(abs(Fraction(x)), 1)
    rounded = int(whole) + (1 if rest >= Fraction(1, 2) else 0)
    return rounded if x >= 0 else -rounded


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def round_shift(x: int, shift: int) -> int:
    return nearest(x * power(-shift))


def stochastic_shift(x: int, shift: int, random: int) -> int:
    if shift > 62:
        x, shift = floor(x * power(62 - shift)), 62
    if shift <= 0:
        return int(x * power(-shift))
    return floor((x + floor(random * power(shift - 32))) * power(-shift))


def saturate(x: int, low: int, high: int) -> int:
    return low if x < low else high if x > high else x


def multiplier(value: Fraction) -> tuple[int, int]:
    """(mantissa, shift) with value ~ mantissa / 2^shift and 2^30 <= |mantissa| < 2^31; (0, 0) for 0."""
    if value == 0:
        return 0, 0
    shift = next(s for s in range(-150, 300) if abs(value) * power(s) >= 2**30)
    mantissa = nearest(value * power(shift))
    return (mantissa // 2, shift - 1) if abs(mantissa) == 2**31 else (mantissa, shift)


def pack(ones: Sequence[int | bool]) -> list[int]:
    """0/1 of one row -> 64-bit words, least significant bit first."""
    words = [0] * -(-len(ones) // 64)
    for channel, one in enumerate(ones):
        words[channel // 64] += int(one) * 2 ** (channel % 64)
    return words


def unpack(words: Sequence[int], channels: int) -> list[int]:
    return [words[c // 64] // 2 ** (c % 64) % 2 for c in range(channels)]


def mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x // 2**30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x // 2**27) * 0x94D049BB133111EB % 2**64
    return x ^ x // 2**31


def key(seed: int, step: int, tensor: int) -> int:
    return mix(mix(mix(seed % 2**64) ^ step % 2**64) ^ tensor)


def random_bits(key: int, element: int) -> int:
    x = (element * 0x9E3779B1 + key % 2**32) % 2**32
    x = (x ^ x // 2**16) * 0x85EBCA6B % 2**32
    x = x ^ x // 2**13 ^ key // 2**32
    x = x * 0xC2B2AE35 % 2**32
    return x ^ x // 2**16


def activation(low: Fraction, high: Fraction, bits: int) -> tuple[Fraction, int]:
    """(scale, zero) of a calibrated range."""
    low, high = min(low, Fraction(0)), max(high, Fraction(0))
    if low == high:
        high = Fraction(1)
    q = SIGNIFICANT[bits]
    scale = (high - low) / (2**q - 1)
    return scale, saturate(nearest(-low / scale) - 2 ** (q - 1), -(2 ** (q - 1)), 2 ** (q - 1) - 1)


def quantise(values: Sequence[int], exponent: int, bits: int) -> tuple[list[int], int]:
    """One sample's exact gradient values * 2^exponent, rounded to `bits` bits: (stored, new exponent)."""
    largest = max(abs(v) for v in values)
    if largest == 0:
        return [0] * len(values), NO_GRADIENT
    shift = 0
    while round_shift(largest, shift) >= 2 ** (SIGNIFICANT[bits] - 1):
        shift += 1
    return [round_shift(v, shift) for v in values], exponent + shift


Term = tuple[Sequence[int], int, int]


def align(terms: Sequence[Term]) -> tuple[list[list[int]], int]:
    """One sample's terms (values, exponent, bound) brought to one exponent: (values of each term, exponent)."""
    reaches = [exponent + bound for _, exponent, bound in terms if exponent > NO_GRADIENT]
    if not reaches:
        return [[0] * len(values) for values, _, _ in terms], NO_GRADIENT
    common = max(reaches) - 60
    aligned = []
    for values, exponent, _ in terms:
        live = exponent > NO_GRADIENT
        aligned.append([nearest(v * power(exponent - common)) if live else 0 for v in values])
    return aligned, common


def merge(sums: Sequence[Sequence[int]], exponents: Sequence[int], bound: int) -> tuple[list[int], int]:
    """Per-sample sums * 2^exponents added over the minibatch: (totals, exponent)."""
    if max(exponents) <= NO_GRADIENT:
        return [0] * len(sums[0]), NO_GRADIENT
    common = max(exponents) + bound + len(sums).bit_length() - 62
    total = [0] * len(sums[0])
    for row, exponent in zip(sums, exponents, strict=True):
        if exponent > NO_GRADIENT:
            total = [t + nearest(v * power(exponent - common)) for t, v in zip(total, row, strict=True)]
    return total, common


def to_31_bits(x: int) -> tuple[int, int]:
    """x as (value of at most 31 bits after rounding, shift): x ~ value 2^shift."""
    down = max(abs(x).bit_length() - 31, 0)
    return round_shift(x, down), down


def step_multiplier(mantissa: int, shift: int, rate: tuple[int, int], samples: int) -> tuple[int, int]:
    """constant * rate / samples as (mantissa, shift)."""
    value, down = to_31_bits(floor(Fraction(mantissa * rate[0], samples)))
    return value, shift + rate[1] - down


def descend(master: int, gradient: int, exponent: int, step: tuple[int, int], random: int) -> int:
    """The master after one step; `step` from step_multiplier."""
    largest = 2**31 - 1
    value, down = to_31_bits(gradient)
    product, total = value * step[0], step[1] - down - exponent
    if total < 0:
        product = saturate(product, -largest, largest)
    change = stochastic_shift(product, max(total, -31), random)
    return saturate(master - change, -largest, largest)


def latent_distances(start: int, most: int, scale: list[int]) -> list[int]:
    """Units from the other sign, a number for each output, in proportion to its scale."""
    whole = [max(each, 0) for each in scale]
    total = max(sum(whole), 1)
    return [saturate(nearest(Fraction(start * len(whole) * each, total)), 1, most) for each in whole]
