"""Settings as files of formats 1 and 2 name them."""

from __future__ import annotations

import re
from typing import Any

from bitreplay.arguments import short_repr
from bitreplay.settings import Settings

NAMES = {
    "code_bits": "latent_bits",
    "least_steps": "min_steps",
    "level": "replay_layer",
    "new": "batch_size",
    "numbers": "feature_layers",
    "per_class": "memory_per_class",
    "rate": "learning_rate",
    "replayed": "replay_batch_size",
}
COMPONENTS = re.compile(r"(?P<count>[0-9]{1,5})( of (?P<layers>.+))?")


def settings_of(values: dict[str, Any]) -> Settings:
    """
    >>> settings_of({"numbers": "128 of head", "per_class": 20}).n_components
    128
    """
    for name in values:
        if name in NAMES.values() or name == "n_components":
            raise ValueError(f"There is no setting {short_repr(name)} in a file of this format.")
    named = {NAMES.get(key, key): value for key, value in values.items()}
    layers = named.get("feature_layers")
    components = COMPONENTS.fullmatch(layers) if isinstance(layers, str) else None
    if components is not None:
        named |= {"n_components": int(components["count"]), "feature_layers": components["layers"]}
    return Settings.of(**named)
