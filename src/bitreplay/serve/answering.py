"""Answers to many clients at once. Pictures wait in one line; each of a few threads takes all that wait, at most
AT_ONCE, and answers them together from the view of that moment, so that the cost of a call is shared.
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
from bitreplay.serve.limits import Limits, Refused
from bitreplay.serve.view import View

AT_ONCE = 16
FIRST = 3


@dataclass(frozen=True)
class _Asked:
    pixels: NDArray[np.uint8]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[dict[str, Any]]


class Answers:
    """`view` gives what is seen now; of the learner only what no change touches is used: its frozen network."""

    def __init__(self, learner: Learner, view: Callable[[], View], limits: Limits, threads: int) -> None:
        self._learner, self._view, self._limits = learner, view, limits
        self._line: deque[_Asked] = deque()
        self._some = Condition()
        self._ending = False
        self._threads = [Thread(target=self._serve, name=f"answers-{k}", daemon=True) for k in range(threads)]
        for thread in self._threads:
            thread.start()

    async def ask(self, pixels: NDArray[np.uint8]) -> dict[str, Any]:
        """The likeliest classes of one picture (side, side, 3) and their probabilities."""
        if len(self._line) >= self._limits.waiting:
            raise Refused(429, f"{len(self._line)} pictures are waiting already; try again later.")
        loop = asyncio.get_running_loop()
        asked = _Asked(pixels, loop, loop.create_future())
        with self._some:
            if self._ending:
                raise Refused(503, "The server is ending; try again when it is back.")
            self._line.append(asked)
            self._some.notify()
        return await asked.answer

    def close(self) -> None:
        with self._some:
            self._ending = True
            self._some.notify_all()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        while taken := self._next():
            try:
                found: list[dict[str, Any]] | Exception = self._answered(np.stack([one.pixels for one in taken]))
            except Exception as error:
                found = error
            for k, one in enumerate(taken):
                answer = found if isinstance(found, Exception) else found[k]
                one.loop.call_soon_threadsafe(_deliver, one.answer, answer)

    def _next(self) -> list[_Asked]:
        with self._some:
            while not self._line and not self._ending:
                self._some.wait()
            return [self._line.popleft() for _ in range(min(len(self._line), AT_ONCE))]

    def _answered(self, pixels: NDArray[np.uint8]) -> list[dict[str, Any]]:
        start, view = time.perf_counter(), self._view()
        labels = [str(label) for label in view.predictor.labels]
        if not labels:
            return [{"answers": [], "unknown": False, "ms": 0, "turn": view.turn}] * len(pixels)
        latents = self._learner.encode(pixels)
        shares = view.predictor.probabilities(latents)
        named = view.predictor.names(latents, view.unknown)
        first = np.argsort(-shares, axis=1, kind="stable")[:, :FIRST]
        ms = round(1000 * (time.perf_counter() - start), 2)
        return [
            {
                "answers": [{"name": labels[k], "share": float(row[k])} for k in best],
                "unknown": name is None,
                "ms": ms,
                "turn": view.turn,
            }
            for row, best, name in zip(shares, first, named.tolist(), strict=True)
        ]


def _deliver(answer: asyncio.Future[dict[str, Any]], found: dict[str, Any] | Exception) -> None:
    if answer.done():  # whoever asked has left
        return
    if isinstance(found, Exception):
        answer.set_exception(found)
    else:
        answer.set_result(found)
