"""The same grid on a Ray cluster: a task a run, retried when a worker dies; rows are gathered here, once each.

Nodes need bitreplay[ray], this folder on their path and the data sets where BITREPLAY_DATA of
the one who asks says; codes are kept in
`cache_folder` on each node.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from grid import add, missing
from run import Run, row

from bitreplay.cluster import RETRIES, connect


def finish_on(
    address: str, runs: Iterable[Run], path: Path, cache_folder: Path, device: str = "cpu", data: str | None = None
) -> Iterator[dict[str, Any]]:
    """As grid.finish; `data` is BITREPLAY_DATA of the workers if it is not this process's."""
    ray = connect(address)
    remote_row = ray.remote(num_cpus=1, max_retries=RETRIES)(_row)
    data_folder = data or os.environ.get("BITREPLAY_DATA", "")
    waiting = [remote_row.remote(run, cache_folder.absolute(), device, data_folder) for run in missing(runs, path)]
    while waiting:
        (ready,), waiting = ray.wait(waiting)
        result = ray.get(ready)
        add(path, result)
        yield result


def _row(run: Run, cache_folder: Path, device: str, data: str) -> dict[str, Any]:
    if data:
        os.environ["BITREPLAY_DATA"] = data
    return row(run, cache_folder, device)
