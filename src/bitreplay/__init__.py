"""Continual learning on small devices with binary neural networks, in whole numbers.

learner = bitreplay.Learner.from_pretrained("quicknet")
learner.learn(images, labels)          # one experience; learner.learn(*bitreplay.labelled("new-fruit")) of a folder
learner.predict(images)
learner.save(path); bitreplay.Learner.load(path)
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bitreplay.data.labelled import labelled as labelled
    from bitreplay.data.pictures.picture import read as read
    from bitreplay.engine.bit_widths import Bits as Bits
    from bitreplay.follow import History as History
    from bitreplay.follow import follow as follow
    from bitreplay.learner import Learner as Learner
    from bitreplay.progress import LearningStopped as LearningStopped
    from bitreplay.progress import Progress as Progress
    from bitreplay.settings import Settings as Settings
    from bitreplay.statefile import StateFileError as StateFileError
    from bitreplay.statefile import StateInUse as StateInUse

__version__ = "0.3.0.dev0"

_PLACES = {
    "Bits": "bitreplay.engine.bit_widths",
    "History": "bitreplay.follow",
    "Learner": "bitreplay.learner",
    "LearningStopped": "bitreplay.progress",
    "Progress": "bitreplay.progress",
    "Settings": "bitreplay.settings",
    "StateFileError": "bitreplay.statefile",
    "StateInUse": "bitreplay.statefile",
    "follow": "bitreplay.follow",
    "labelled": "bitreplay.data.labelled",
    "read": "bitreplay.data.pictures.picture",
}
_MODULES = ("plots", "scenario", "statefile", "writers")
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first asked for, so that `import bitreplay` alone is light."""
    if name in _MODULES:
        return import_module(f"bitreplay.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'bitreplay' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """What a reader may ask for, also before it is imported: shells complete these names."""
    return sorted({*globals(), *_PLACES, *_MODULES})


class _Package(ModuleType):
    """`bitreplay.follow` is the function: importing the module of that name would else put the module in its place."""

    @property
    def follow(self) -> Any:
        return import_module("bitreplay.follow").follow

    @follow.setter
    def follow(self, module: ModuleType) -> None: ...


sys.modules[__name__].__class__ = _Package
