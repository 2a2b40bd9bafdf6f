"""Predictions for many clients at once. Pictures wait in one queue; each of a few threads takes all that wait, up to
MAX_BATCH, and predicts them together from the view of that moment, so that they share the cost of a call.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.learner import Learner
from bitreplay.serve.limits import Limits, RequestError
from bitreplay.serve.view import View

MAX_BATCH = 16
TOP = 3


@dataclass(frozen=True)
class _Query:
    pixels: NDArray[np.uint8]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[dict[str, Any]]


class PredictionQueue:
    """`view` returns the present view. Of the learner only its frozen network is used, which no change touches."""

    def __init__(self, learner: Learner, view: Callable[[], View], limits: Limits, threads: int) -> None:
        self._learner, self._view, self._limits = learner, view, limits
        self._queue: deque[_Query] = deque()
        self._changed = Condition()
        self._closing = False
        self._threads = [Thread(target=self._work, name=f"predictions-{k}", daemon=True) for k in range(threads)]
        for thread in self._threads:
            thread.start()

    async def predict(self, pixels: NDArray[np.uint8]) -> dict[str, Any]:
        """The most likely classes of one picture (side, side, 3) and their probabilities."""
        if len(self._queue) >= self._limits.waiting:
            raise RequestError(429, f"{len(self._queue)} pictures are waiting already; try again later.")
        loop = asyncio.get_running_loop()
        query = _Query(pixels, loop, loop.create_future())
        with self._changed:
            if self._closing:
                raise RequestError(503, "The server is stopping; try again when it is back.")
            self._queue.append(query)
            self._changed.notify()
        return await query.future

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while queries := self._next_batch():
            try:
                results: list[dict[str, Any]] | Exception = self._predict(np.stack([one.pixels for one in queries]))
            except Exception as error:
                results = error
            for k, query in enumerate(queries):
                result = results if isinstance(results, Exception) else results[k]
                query.loop.call_soon_threadsafe(_deliver, query.future, result)

    def _next_batch(self) -> list[_Query]:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            return [self._queue.popleft() for _ in range(min(len(self._queue), MAX_BATCH))]

    def _predict(self, pixels: NDArray[np.uint8]) -> list[dict[str, Any]]:
        start, view = time.perf_counter(), self._view()
        labels = [str(label) for label in view.predictor.labels]
        if not labels:
            return [{"answers": [], "unknown": False, "ms": 0, "turn": view.turn}] * len(pixels)
        latents = self._learner.encode(pixels)
        shares = view.predictor.probabilities(latents)
        names = view.predictor.names(latents, view.unknown)
        best = np.argsort(-shares, axis=1, kind="stable")[:, :TOP]
        ms = round(1000 * (time.perf_counter() - start), 2)
        return [
            {
                "answers": [{"name": labels[k], "share": float(row[k])} for k in ranks],
                "unknown": name is None,
                "ms": ms,
                "turn": view.turn,
            }
            for row, ranks, name in zip(shares, best, names.tolist(), strict=True)
        ]


def _deliver(future: asyncio.Future[dict[str, Any]], result: dict[str, Any] | Exception) -> None:
    if future.done():  # the client has left
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
