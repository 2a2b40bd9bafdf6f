"""Whether the sums of a state can be those of images: engine/possible.py, for parts.

need_possible(sums), need_factor(sums)     the second costs as much as a discriminant, so that it is for what comes
                                           from outside and for what something was taken out of
"""

from __future__ import annotations

from bitreplay.engine import native_sums
from bitreplay.engine.sums import Sums
from bitreplay.parts.part import need

NEVER = "These are not sums of images."


def need_possible(sums: Sums, otherwise: str = NEVER) -> None:
    """Raise ValueError(`otherwise`) for sums that no images have."""
    try:
        sums.check_types()
    except ValueError:
        raise ValueError(otherwise) from None
    need(native_sums.possible(sums), otherwise)


def need_factor(sums: Sums, otherwise: str = NEVER) -> None:
    """The same of the scatter within classes; of sums that are possible. What a forgotten class left may have none."""
    need(sums.forgot or native_sums.has_factor(sums), otherwise)
