"""Continual learning on small devices with binary and 8-bit neural networks, in integer arithmetic.

learner = bitreplay.Learner.from_pretrained("efficientnet_lite0")
learner.learn(images, labels)          # one experience; learner.learn(*bitreplay.labelled("new-fruit")) of a folder
learner.predict(images)
learner.save(path); bitreplay.Learner.load(path)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bitreplay.data.labelled import labelled as labelled
    from bitreplay.data.pictures.picture import read as read
    from bitreplay.engine.bit_widths import Bits as Bits
    from bitreplay.learner import Learner as Learner
    from bitreplay.learning.progress import LearningStopped as LearningStopped
    from bitreplay.learning.progress import Progress as Progress
    from bitreplay.settings import Settings as Settings
    from bitreplay.statefile import StateFileError as StateFileError
    from bitreplay.statefile import StateInUse as StateInUse
    from bitreplay.streams.follow import History as History
    from bitreplay.streams.follow import follow as follow

__version__ = "0.3.0.dev0"

_NAMES = {
    "Bits": "bitreplay.engine.bit_widths",
    "History": "bitreplay.streams.follow",
    "Learner": "bitreplay.learner",
    "LearningStopped": "bitreplay.learning.progress",
    "Progress": "bitreplay.learning.progress",
    "Settings": "bitreplay.settings",
    "StateFileError": "bitreplay.statefile",
    "StateInUse": "bitreplay.statefile",
    "follow": "bitreplay.streams.follow",
    "labelled": "bitreplay.data.labelled",
    "read": "bitreplay.data.pictures.picture",
}
_MODULES = {
    "plots": "bitreplay.plots",
    "scenario": "bitreplay.streams.scenario",
    "statefile": "bitreplay.statefile",
    "writers": "bitreplay.writers",
}
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import bitreplay` alone is light."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _NAMES:
        raise AttributeError(f"module 'bitreplay' has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    """All public names, imported or not: shells complete them."""
    return sorted({*globals(), *_NAMES, *_MODULES})
