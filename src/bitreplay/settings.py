"""How a learner is built and how it learns: every setting in one place, checked, with its default.

The defaults of `learning_rate`, `epochs` and `min_steps` were measured: docs/learner.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from fractions import Fraction
from typing import Any

from bitreplay.arguments import as_integer, short_repr
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.sums import MAX_FEATURES
from bitreplay.parts.part import need
from bitreplay.strategies import DEFAULT_STRATEGY, STRATEGIES

LATENT_BITS = (1, 2, 4, 8, 16, 32)
FLOAT = "float"
DEFAULT = "default"
MAX_SIZE = 1 << 14  # of any model file
MAX_NUMBER_TEXT = 1000
MAX_FEATURE_LAYERS_TEXT = 400
MAX_EXPONENT_TEXT = 4  # of any float: 5e-324
DIGEST = re.compile(r"[0-9a-f]{64}")


class Unset(Enum):
    """The default of arguments for which None is a value."""

    UNSET = "unset"

    def __repr__(self) -> str:
        """As a signature shows it."""
        return "UNSET"


UNSET = Unset.UNSET


@dataclass(frozen=True)
class Settings:
    """How a learner is built and how it learns.

    Parameters
    ----------
    strategy : str
        "exact" (sums over all images), "replay" (the paper's BNN+LR+CWR*), "cwr" (BNN+CWR*: only the head learns,
        nothing is replayed) or "naive" (tail and head learn, no replay, no consolidation). By default "exact", or
        "replay" if a setting is given that "exact" does not have.
    bits : Bits or str
        Bit widths such as "8/1/16", or "float" for a tail in floating point (needs torch).
    replay_layer : str, optional
        The layer whose activations are stored as latents; by default the model's last one.
    latent_bits : int
        Bits per element of a latent: 1, 2, 4, 8, 16 or 32.
    memory_per_class : int
        Stored samples per class.
    epochs : int
        Passes over the new samples of an experience.
    min_steps : int
        Minibatches per experience at least; a small experience gets more epochs.
    batch_size, replay_batch_size : int
        New and replayed samples per minibatch; 1 : 4 in the paper.
    learning_rate : Fraction, float or str, optional
        At the start of an experience, such as "1/100"; it falls linearly to 0. By default it is fitted to the model
        and to the number of steps.
    augment : bool
        Crop and flip new images anew in each epoch.
    unknown : Fraction, float or str
        Share of images of known classes that may be answered "unknown"; 0 never answers "unknown".
    seed : int
        Seed of everything random.
    feature_layers : str, optional
        For "exact": the layers whose means are the features, joined by "+", with "/4" for means over quarters of the
        map, such as "head+add_12+add_11/4". By default those that were chosen for the model.
    n_components : int, optional
        For "exact": project the features to this many components, if the model has a projection. By default, unless
        `feature_layers` are named, as many as the projection says; most say nothing.
    digests : bool
        For "exact": keep 8 bytes of each image, so that `unlearn` refuses what was never learned.
    projection : str, optional
        For "exact" with `n_components`: the digest of the projection. By default that of the model's own.
    exact_forget : bool
        For "exact": keep the products of each class, so that `forget` ends in the state that never saw the class.
    size : int, optional
        Side of the square images that the network sees; by default the model's own.
    micro_batch_size : int, optional
        Samples that pass the tail at once: the same bits in less memory and twice the time. By default a whole
        minibatch. It belongs to the machine: states do not keep it.

    Raises
    ------
    ValueError
        If a value is out of range or does not fit the strategy.

    Examples
    --------
    >>> Settings(learning_rate="0.01").changed(bits="8/1/32").learning_rate
    Fraction(1, 100)
    """

    strategy: str = DEFAULT
    bits: Bits | str = Bits()
    replay_layer: str | None = None
    latent_bits: int = 1
    memory_per_class: int = 30
    epochs: int = 5
    min_steps: int = 40
    batch_size: int = 32
    replay_batch_size: int = 128
    learning_rate: Fraction | None = None
    augment: bool = False
    unknown: Fraction = Fraction(0)
    seed: int = 0
    feature_layers: str | None = None
    n_components: int | None = None
    digests: bool = False
    projection: str | None = None
    exact_forget: bool = False
    size: int | None = None
    micro_batch_size: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check all values, and bring them into one form."""
        if self.strategy == DEFAULT:
            changed = [setting.name for setting in fields(self) if getattr(self, setting.name) != setting.default]
            self._set("strategy", _default_strategy(changed))
        known = isinstance(self.strategy, str) and self.strategy in STRATEGIES
        need(known, f"strategy must be one of {', '.join(STRATEGIES)}, got {short_repr(self.strategy)}.")
        self._set("bits", _bits(self.bits))
        self._check_numbers()
        self._check_texts()
        self._check_flags()
        self._check_strategy()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_numbers(self) -> None:
        rate, unknown = self.learning_rate, self.unknown
        if rate is not None:
            self._set("learning_rate", _fraction("learning_rate", rate))
            need(
                self.learning_rate is not None and 0 < self.learning_rate <= 1,
                f"learning_rate must be above 0 and at most 1, got {short_repr(rate)}.",
            )
        self._set("unknown", _fraction("unknown", unknown))
        need(0 <= self.unknown < 1, f"unknown must be at least 0 and below 1, got {short_repr(unknown)}.")
        for name in ("memory_per_class", "epochs", "min_steps", "batch_size", "replay_batch_size", "latent_bits"):
            self._set(name, _integer(name, getattr(self, name), 1, 1 << 20))
        need(self.latent_bits in LATENT_BITS, f"latent_bits must be one of {LATENT_BITS}, got {self.latent_bits}.")
        self._set("seed", _integer("seed", self.seed, 0, (1 << 64) - 1))
        for name, highest in (("n_components", MAX_FEATURES), ("size", MAX_SIZE), ("micro_batch_size", 1 << 20)):
            if getattr(self, name) is not None:
                self._set(name, _integer(name, getattr(self, name), 1, highest))

    def _check_texts(self) -> None:
        layer, layers, digest = self.replay_layer, self.feature_layers, self.projection
        need(layer is None or isinstance(layer, str), f"replay_layer must be a name, got {short_repr(layer)}.")
        fits = layers is None or (isinstance(layers, str) and len(layers) <= MAX_FEATURE_LAYERS_TEXT)
        need(
            fits,
            f"feature_layers must be text of at most {MAX_FEATURE_LAYERS_TEXT} characters, got {short_repr(layers)}.",
        )
        fits = digest is None or (isinstance(digest, str) and DIGEST.fullmatch(digest) is not None)
        need(fits, f"projection must be a digest of 64 hexadecimal digits, got {short_repr(digest)}.")

    def _check_flags(self) -> None:
        for name in ("augment", "digests", "exact_forget"):
            value = getattr(self, name)
            need(isinstance(value, bool), f"{name} must be True or False, got {short_repr(value)}.")

    def _check_strategy(self) -> None:
        """Refuse what this strategy cannot do."""
        kind, name = STRATEGIES[self.strategy], self.strategy
        need(
            not self.augment or kind.augments,
            f"augment must be False with {name}, which sees each image once, got True.",
        )
        need(
            not self.digests or kind.unlearns,
            f"digests must be False with {name}, which cannot unlearn images, got True.",
        )
        need(
            not self.exact_forget or kind.unlearns,
            f"exact_forget must be False with {name}, whose weights do not forget, got True.",
        )
        steps = kind.augments and self.bits != FLOAT
        need(
            self.micro_batch_size is None or steps,
            f"micro_batch_size must be None with {name} and bits {self.bits}, got {self.micro_batch_size}.",
        )
        need(
            not self.unknown or kind.refuses,
            f"unknown must be 0 with {name}, which has nothing to compare with, got {self.unknown}.",
        )

    @property
    def minibatch_size(self) -> int:
        """New and replayed samples together."""
        return self.batch_size + self.replay_batch_size

    @staticmethod
    def names() -> list[str]:
        """Return the names of all settings.

        Returns
        -------
        list of str

        Examples
        --------
        >>> Settings.names()[:3]
        ['strategy', 'bits', 'replay_layer']
        """
        return [setting.name for setting in fields(Settings)]

    @staticmethod
    def of(**values: Any) -> Settings:
        """Make settings of values that may have wrong names, such as those of a file.

        Parameters
        ----------
        **values
            The settings that differ from their defaults.

        Returns
        -------
        Settings

        Raises
        ------
        ValueError
            If a name or a value is not one of a setting.

        Examples
        --------
        >>> Settings.of(n_components=128).strategy, Settings.of(epochs=3).strategy
        ('exact', 'replay')
        """
        for name in values:
            need(
                name in Settings.names(),
                f"There is no setting {short_repr(name)}; expected one of {', '.join(Settings.names())}.",
            )
        return Settings(**(values if "strategy" in values else {"strategy": _default_strategy(values)} | values))

    def changed(self, **values: Any) -> Settings:
        """Return these settings with other values, checked again.

        Parameters
        ----------
        **values
            The settings that change.

        Returns
        -------
        Settings

        Raises
        ------
        ValueError
            If a name or a value is not one of a setting.

        Examples
        --------
        >>> Settings().changed(seed=3).seed
        3
        """
        return Settings.of(**(dict(vars(self)) | values))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that states keep, as values for JSON.

        Returns
        -------
        dict
            `Settings.of(**settings.to_dict())` is equal to the settings.

        Examples
        --------
        >>> Settings(learning_rate="0.01").to_dict()["learning_rate"]
        '1/100'
        """
        rate = None if self.learning_rate is None else str(self.learning_rate)
        values = asdict(self) | {"bits": str(self.bits), "learning_rate": rate, "unknown": str(self.unknown)}
        del values["micro_batch_size"]
        return values


def _default_strategy(settings: Iterable[str]) -> str:
    """Return the first strategy that has one of these settings to itself."""
    names = set(settings)
    return next((name for name, kind in STRATEGIES.items() if names & kind.own_settings), DEFAULT_STRATEGY)


def _integer(name: str, value: object, lowest: int, highest: int) -> int:
    number = as_integer(value)
    if number is None or not lowest <= number <= highest:
        raise ValueError(f"{name} must be an integer from {lowest} to {highest}, got {short_repr(value)}.")
    return number


def _fraction(name: str, value: Any) -> Fraction:
    """Decimals mean what they say: 0.01 is 1/100."""
    try:
        return Fraction(_bounded(str(value))).limit_denominator(1 << 30)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} must be a number or a fraction such as 1/100, got {short_repr(value)}.") from None


def _bounded(text: str) -> str:
    """Return the text of a number if it is short: Fraction computes the power of any exponent, however long."""
    exponent = text.strip().lower().partition("e")[2]
    need(len(text) <= MAX_NUMBER_TEXT and len(exponent) <= MAX_EXPONENT_TEXT, "The number is too long.")
    return text


def _bits(value: Bits | str) -> Bits | str:
    if isinstance(value, str) and value == FLOAT:
        return value
    parts = str(value).split("/") if isinstance(value, str | Bits) else []
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
        raise ValueError(f"bits must be three widths such as 8/1/16, or float, got {short_repr(value)}.")
    return Bits(*(int(part) for part in parts))
