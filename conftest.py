"""Adapters are read for examples where their libraries are installed; without one its module cannot be imported."""

from importlib.util import find_spec

collect_ignore = [
    f"src/bitreplay/adapters/{name}.py" for name in ("avalanche", "river", "sklearn") if find_spec(name) is None
]
