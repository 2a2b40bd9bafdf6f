"""Adapters and the server are read for examples where their libraries are installed; without one its module cannot be
imported."""

from importlib.util import find_spec

collect_ignore = [
    f"src/bitreplay/adapters/{name}.py" for name in ("avalanche", "river", "sklearn") if find_spec(name) is None
]
if any(find_spec(name) is None for name in ("starlette", "uvicorn", "python_multipart")):
    collect_ignore.append("src/bitreplay/serve")
