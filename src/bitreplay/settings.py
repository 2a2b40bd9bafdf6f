"""How a learner is built and how it learns: every argument in one place, checked, with its default.

The defaults of rate, epochs and least steps were found by measuring, see docs/learner.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from typing import Any

from bitreplay.arguments import told, whole_number
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.sums import MOST_NUMBERS
from bitreplay.strategies import STRATEGIES

CODE_BITS = (1, 2, 4, 8, 16, 32)
FLOAT = "float"
USUAL = "usual"
OF_REPLAY = {
    "level",
    "code_bits",
    "per_class",
    "epochs",
    "least_steps",
    "new",
    "replayed",
    "rate",
    "augment",
    "micro",
}
OF_EXACT = {"numbers", "projection", "digests", "exact_forget"}
LARGEST_SIZE = 1 << 14  # of any model file
LONGEST_NUMBER = 1000
LONGEST_NUMBERS = 400
DIGEST = re.compile(r"[0-9a-f]{64}")
LONGEST_EXPONENT = 4  # of any float: 5e-324


@dataclass(frozen=True)
class Settings:
    """strategy      a name of STRATEGIES: "replay" (the paper's), "cwr" (BNN+CWR*: only the head learns, no replay),
                     "naive" (tail and head learn, no replay, no consolidation), "exact" (sums over all pictures).
                     Not named, it is "exact", or "replay" where a setting is given that exact lacks (OF_REPLAY)
    bits             bit widths as Bits, or as text "8/1/16", or "float" for a tail in floating point (needs torch)
    level            the layer where latents are taken; None is the model's last one
    code_bits        bits a latent element: 1, 2, 4, 8, 16 or 32
    per_class        stored samples a class
    epochs           passes over the new samples of an experience, and at least `least_steps` minibatches
    new, replayed    parts of a minibatch; 1 : 4 in the paper
    rate             learning rate at the start of an experience: a fraction, a decimal, or text such as "1/100"; None
                     fits it to the model and to the number of steps. It falls evenly to 0 (rates.py)
    micro            samples that pass the tail at once, None for a whole minibatch: the same bits in less memory and
                     twice the time (engine/minibatch_parts.py). Of this machine: states do not keep it
    augment          crop and flip new pictures anew in each epoch
    unknown          share of known pictures that may be called unknown; 0 never answers "unknown". By exact, from the
                     sums (engine/unseen.py); by replay, of the stored samples (prediction/novelty.py)
    seed             of everything random
    size             side of the squares that the network sees; None is the model's own. States name it where it is not
    numbers          for "exact", the numbers of a picture: layers joined by +, with /4 for means over quarters of the
                     map, such as "head+add_12+add_11/4"; None takes the model's usual ones (engine/features.py). A
                     number such as 128 projects these to so many, if the model has a projection (engine/projection.py)
    projection       for "exact" with such a number, the projection's digest; None takes the one that the model has
    digests          for "exact", keep 8 bytes of each picture, so that `unlearn` refuses what was never learned
    exact_forget     for "exact", keep the products of each class, so that `forget` ends in the state that never saw it

    >>> Settings(rate="0.01").changed(bits="8/1/32").rate
    Fraction(1, 100)
    """

    strategy: str = USUAL
    bits: Bits | str = Bits()
    level: str | None = None
    code_bits: int = 1
    per_class: int = 30
    epochs: int = 5
    least_steps: int = 40
    new: int = 32
    replayed: int = 128
    rate: Fraction | None = None
    augment: bool = False
    unknown: Fraction = Fraction(0)
    seed: int = 0
    numbers: str | None = None
    digests: bool = False
    projection: str | None = None
    exact_forget: bool = False
    size: int | None = None
    micro: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        rate, unknown = self.rate, self.unknown
        if self.strategy == USUAL:
            others = [each.name for each in fields(self) if getattr(self, each.name) != each.default]
            object.__setattr__(self, "strategy", _usual(others))
        object.__setattr__(self, "bits", _bits(self.bits))
        known = isinstance(self.strategy, str) and self.strategy in STRATEGIES
        _need(known, f"strategy must be one of {', '.join(STRATEGIES)}, got {told(self.strategy)}.")
        if self.rate is not None:
            object.__setattr__(self, "rate", _fraction("rate", rate))
            _need(0 < self.rate <= 1, f"rate must be above 0 and at most 1, got {told(rate)}.")
        object.__setattr__(self, "unknown", _fraction("unknown", unknown))
        for name in ("per_class", "epochs", "least_steps", "new", "replayed", "code_bits"):
            object.__setattr__(self, name, _whole(name, getattr(self, name), 1, 1 << 20))
        object.__setattr__(self, "seed", _whole("seed", self.seed, 0, (1 << 64) - 1))
        _need(self.code_bits in CODE_BITS, f"code_bits must be one of {CODE_BITS}, got {self.code_bits}.")
        _need(self.level is None or isinstance(self.level, str), f"level must be a name, got {told(self.level)}.")
        _need(isinstance(self.augment, bool), f"augment must be True or False, got {told(self.augment)}.")
        once = self.augment and not STRATEGIES[self.strategy].augments
        _need(not once, f"augment must be False with {self.strategy}, which sees a picture once, got True.")
        if whole_number(self.numbers) is not None:
            object.__setattr__(self, "numbers", str(_whole("numbers", self.numbers, 1, MOST_NUMBERS)))
        named = self.numbers is None or (isinstance(self.numbers, str) and len(self.numbers) <= LONGEST_NUMBERS)
        _need(named, f"numbers must be text of at most {LONGEST_NUMBERS} characters, got {told(self.numbers)}.")
        exact = self.projection is None or (isinstance(self.projection, str) and DIGEST.fullmatch(self.projection))
        _need(bool(exact), f"projection must be a digest of 64 hexadecimal digits, got {told(self.projection)}.")
        _need(isinstance(self.digests, bool), f"digests must be True or False, got {told(self.digests)}.")
        sums = not self.digests or STRATEGIES[self.strategy].unlearns
        _need(sums, f"digests must be False with {self.strategy}, which cannot unlearn pictures, got True.")
        _need(
            isinstance(self.exact_forget, bool), f"exact_forget must be True or False, got {told(self.exact_forget)}."
        )
        sums = not self.exact_forget or STRATEGIES[self.strategy].unlearns
        _need(sums, f"exact_forget must be False with {self.strategy}, whose weights do not forget, got True.")
        if self.size is not None:
            object.__setattr__(self, "size", _whole("size", self.size, 1, LARGEST_SIZE))
        if self.micro is not None:
            object.__setattr__(self, "micro", _whole("micro", self.micro, 1, 1 << 20))
            steps = STRATEGIES[self.strategy].augments and self.bits != FLOAT
            _need(steps, f"micro must be None with {self.strategy} and bits {self.bits}, got {self.micro}.")
        _need(0 <= self.unknown < 1, f"unknown must be at least 0 and below 1, got {told(unknown)}.")
        fits = not self.unknown or STRATEGIES[self.strategy].refuses
        _need(fits, f"unknown must be 0 with {self.strategy}, which has nothing to compare with, got {told(unknown)}.")

    @property
    def minibatch(self) -> int:
        return self.new + self.replayed

    @staticmethod
    def of(**arguments: Any) -> Settings:
        """Settings(**arguments) with a sentence for a name that does not exist."""
        known = [each.name for each in fields(Settings)]
        for name in arguments:
            _need(name in known, f"There is no setting {told(name)}; expected one of {', '.join(known)}.")
        return Settings(**({"strategy": _usual(arguments)} | arguments))

    def changed(self, **arguments: Any) -> Settings:
        """These settings with other values, checked anew."""
        return Settings.of(**(dict(vars(self)) | arguments))

    def to_json(self) -> dict[str, Any]:
        """What a state keeps."""
        plain = asdict(self)
        del plain["micro"]
        if self.size is None:  # states were without it
            del plain["size"]
        rate = None if self.rate is None else str(self.rate)
        return plain | {"bits": str(self.bits), "rate": rate, "unknown": str(self.unknown)}


def _usual(given: Iterable[str]) -> str:
    """The strategy where none is named."""
    return "replay" if OF_REPLAY & set(given) else "exact"


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


def _whole(name: str, value: object, least: int, most: int) -> int:
    number = whole_number(value)
    if number is None or not least <= number <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {told(value)}.")
    return number


def _fraction(name: str, value: Any) -> Fraction:
    """Decimals mean what they say: 0.01 is 1/100."""
    try:
        return Fraction(_short(str(value))).limit_denominator(1 << 30)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} must be a number or a fraction such as 1/100, got {told(value)}.") from None


def _short(text: str) -> str:
    """The text of a number. Fraction builds the power of any exponent, however long that takes."""
    exponent = text.strip().lower().partition("e")[2]
    _need(len(text) <= LONGEST_NUMBER and len(exponent) <= LONGEST_EXPONENT, "The number is too long.")
    return text


def _bits(value: Bits | str) -> Bits | str:
    if isinstance(value, str) and value == FLOAT:
        return value
    parts = str(value).split("/") if isinstance(value, str | Bits) else []
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
        raise ValueError(f"bits must be three widths such as 8/1/16, or float, got {told(value)}.")
    return Bits(*(int(part) for part in parts))
