"""Adapters and the server are read for examples where their libraries are installed; without one its module cannot be
imported.

With BITREPLAY_LIKE_MACOS the tests run without what Python has on Linux alone."""

import os
from importlib.util import find_spec

ON_LINUX_ALONE = (
    "sched_getaffinity", "sched_setaffinity", "sched_getscheduler", "sched_setscheduler", "posix_fadvise",
    "posix_fallocate", "memfd_create", "eventfd", "splice", "copy_file_range", "getrandom", "pipe2", "fdatasync",
)  # fmt: skip
if os.environ.get("BITREPLAY_LIKE_MACOS"):
    for name in ON_LINUX_ALONE:
        if hasattr(os, name):
            delattr(os, name)

collect_ignore = [
    f"src/bitreplay/adapters/{name}.py" for name in ("avalanche", "river", "sklearn") if find_spec(name) is None
]
if any(find_spec(name) is None for name in ("starlette", "uvicorn", "python_multipart")):
    collect_ignore.append("src/bitreplay/serve")
if find_spec("flwr") is None:
    collect_ignore.append("src/bitreplay/adapters/flower")
